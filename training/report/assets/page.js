// The page: its numbers, its elements, its tables, and what is shown in which order. The last line builds it.

// The reverse of replays.py: base64, deflate, byte planes, zigzag differences. Nothing is unpacked before it is wanted,
// so that a page of many megabytes shows its first screen at once.

// The attachments come last in the file: the first screen does not wait for them.
const wholePage = new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve));

async function inflate(attachment) {
  await wholePage;
  const text = document.getElementById("attachment-" + attachment).textContent;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function joinPlanes(planes, begin, length) {
  const joined = new Uint32Array(length);
  for (let plane = 0; plane < 4; plane++) {
    const from = begin + plane * length;
    for (let i = 0; i < length; i++) joined[i] |= planes[from + i] << (8 * plane);
  }
  return joined;
}

function sumUp(codes) {
  const numbers = new Int32Array(codes.length);
  let sum = 0;
  for (let i = 0; i < codes.length; i++) {
    sum += (codes[i] >>> 1) ^ -(codes[i] & 1);
    numbers[i] = sum;
  }
  return numbers;
}

// Return the columns of an attachment by their names.
async function unpack(packed) {
  const planes = await inflate(packed.attachment);
  const columns = {};
  let begin = 0;
  for (const [name, kind, length] of packed.columns) {
    const codes = joinPlanes(planes, begin, length);
    columns[name] = kind === "f" ? new Float32Array(codes.buffer) : sumUp(codes);
    begin += 4 * length;
  }
  return columns;
}

// Elements of the page. Whatever is shown goes through here and becomes text: data is never read as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined).map(asNode));
  return element;
}

function asNode(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

function make(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// A select with a label. Options are pairs of a value and a text.
function choice(label, options, value, change) {
  const select = make("select", { "aria-label": label, onchange: () => change(select.value) });
  setOptions(select, options, value);
  return select;
}

function setOptions(select, options, value) {
  select.replaceChildren(...options.map(([key, text]) => make("option", { value: key }, text)));
  select.value = value;
}

function tick(label, checked, change) {
  const box = make("input", { type: "checkbox", onchange: () => change(box.checked) });
  box.checked = checked;
  return make("label", { class: "tick" }, box, label);
}

function labelled(text, control) {
  return make("label", { class: "labelled" }, make("span", {}, text), control);
}

function copyButton(text) {
  return make("button", { type: "button", class: "copy", onclick: (event) => copy(text, event.currentTarget) }, "copy");
}

// Pages that are opened from a disk may not have the clipboard: the text is then selected, to be copied by hand.
async function copy(text, button) {
  const name = (button.dataset.name ??= button.textContent);
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", {}, text);
    button.after(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "copied";
  setTimeout(() => (button.textContent = name), 1500);
}

function command(text) {
  return make("span", { class: "command" }, make("code", {}, text), copyButton(text));
}

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

// Numbers as in the tables of the command: about four digits.
function digits(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "-";
  const size = Math.abs(value);
  return size < 10 ? value.toFixed(3) : size < 1000 ? value.toFixed(1) : WHOLE.format(value);
}

function withInterval(estimate) {
  if (!estimate) return "-";
  const [value, low, high] = estimate;
  return digits(value) + (low === null ? "" : ` [${digits(low)}, ${digits(high)}]`);
}

function plural(count, what) {
  return `${WHOLE.format(count)} ${what}${count === 1 ? "" : "s"}`;
}

// Tables that can be sorted and filtered. Rows stay under the heading of their budget.

// The number that a cell is sorted by: the first one in it. What has none comes last.
function sortKey(text) {
  const found = text.replaceAll(",", "").match(/-?\d+(\.\d+)?(e[+-]?\d+)?/i);
  return found ? Number(found[0]) : null;
}

class SortedTable {
  constructor(table) {
    this.table = table;
    this.column = null;
    this.down = false;
    this.words = "";
    this.body = make("tbody");
    this.heads = table.columns.map((name, i) => make("th", { scope: "col" },
      make("button", { type: "button", onclick: () => this.sort(i) }, name)));
    const filter = make("input", { type: "search", placeholder: "filter, e.g. lrta 100", "aria-label": `filter ${table.title}`,
      oninput: () => { this.words = filter.value.toLowerCase(); this.fill(); } });
    this.count = make("span", { class: "count" });
    this.element = make("div", { class: "table" }, make("h3", {}, table.title), make("div", { class: "settings" }, filter, this.count),
      make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": table.title },
        make("table", {}, make("thead", {}, make("tr", {}, this.heads)), this.body)));
    this.fill();
  }

  sort(column) {
    this.down = this.column === column ? !this.down : false;
    this.column = column;
    this.heads.forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.fill();
  }

  compare(one, other) {
    const [a, b] = [one, other].map((row) => row.cells[this.column] ?? "");
    if (this.column === 0) return (this.down ? -1 : 1) * a.localeCompare(b, "en", { numeric: true });
    const [x, y] = [a, b].map(sortKey);
    if (x === null || y === null) return (x === null) - (y === null) || a.localeCompare(b);
    return this.down ? y - x : x - y;
  }

  fill() {
    const wanted = this.words.split(/\s+/).filter(Boolean);
    const rows = this.table.rows.filter((row) => wanted.every((word) => `${row.cells.join(" ")} ${row.group}`.toLowerCase().includes(word)));
    const groups = new Map();
    for (const row of rows) groups.set(row.group, [...(groups.get(row.group) || []), row]);
    const lines = [];
    for (const [group, own] of groups) {
      if (group) lines.push(make("tr", { class: "group" }, make("th", { colspan: this.heads.length, scope: "rowgroup" }, group)));
      if (this.column !== null) own.sort((one, other) => this.compare(one, other));
      for (const row of own) lines.push(this.line(row));
    }
    this.body.replaceChildren(...lines);
    this.count.textContent = rows.length === this.table.rows.length ? plural(rows.length, "row") : `${rows.length} of ${plural(this.table.rows.length, "row")}`;
  }

  line(row) {
    return make("tr", {}, row.cells.map((text, i) =>
      make(i ? "td" : "th", { class: row.alarms.includes(i) ? "alarm" : null, scope: i ? null : "row" }, text)));
  }
}

// The page: what is shown in which order. A page with runs alone has nothing but the replay.

const data = JSON.parse(document.getElementById("data").textContent);

function section(id, title, ...children) {
  return make("section", { id }, make("h2", {}, title), children);
}

// The replay, if there is one: without it the name of the window is that of its empty section.
function player() {
  return window.replay instanceof Replay ? window.replay : null;
}

function buildReplay() {
  const { runs, missing } = data.replay;
  const notes = missing.map((text) => make("p", { class: "soft" }, text));
  if (!runs.length) return section("replay", "Replay", make("p", {}, "No run was recorded to be replayed."), notes);
  window.replay = new Replay(data.replay, data.palette); // also for the console
  const title = data.comparisons.length ? make("h2", {}, "Replay") : null; // alone, it is what the page is called
  return make("section", { id: "replay" }, title, window.replay.element, notes);
}

function buildSettings(settings) {
  const told = [["seed", settings.seed], ["trials", settings.trials], ["move cap", settings.max_moves], ["repeats", settings.repeats],
    ["units", settings.units], ["ms per tick", settings.tick_ms], ["squads per agent", settings.squads],
    ["processor", settings.processor], ["commit", settings.commit?.slice(0, 12)], ...Object.entries(settings.versions || {})];
  const rows = told.filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  return section("settings", "Settings", settings.command ? make("p", {}, "Run it again: ", command(settings.command)) : null,
    make("dl", { class: "facts wide" }, rows),
    make("details", {}, make("summary", {}, "all settings"), make("pre", {}, JSON.stringify(settings, null, 1))));
}

// Several comparisons take turns in the same place: one row of buttons chooses.
class Report {
  constructor(comparisons) {
    this.all = comparisons.map((one, i) => new Comparison(one, i, data.palette));
    this.place = make("div");
    this.end = make("div");
    this.buttons = this.all.map((one, i) => make("button", { type: "button", onclick: () => this.show(i) }, one.title));
    this.tabs = make("div", { class: "settings tabs", hidden: this.all.length < 2 }, this.buttons);
    addEventListener("resize", () => this.all[this.now].redraw());
  }

  show(number) {
    this.now = number;
    hideHint(true);
    this.buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === number)));
    this.place.replaceChildren(...this.all[number].sections());
    this.end.replaceChildren(buildSettings(this.all[number].settings));
    this.all[number].fill();
  }
}

function buildNav() {
  const names = { best: "Whom to take", tables: "Tables", tradeoff: "Trade-off", problems: "Problem by problem", wins: "Wins", replay: "Replay", settings: "Settings" };
  return make("nav", { "aria-label": "sections" }, Object.entries(names).map(([id, text]) =>
    // Not by the address: that belongs to the replay.
    make("a", { href: "#", onclick: (event) => { event.preventDefault(); document.getElementById(id)?.scrollIntoView(); } }, text)));
}

function build() {
  document.title = data.title;
  const page = document.getElementById("page");
  page.append(make("h1", {}, data.title), ...(data.intro || []).map((text) => make("p", { class: "soft" }, text)));
  if (data.warning) page.append(make("p", { class: "warning", role: "alert" }, data.warning));
  const report = data.comparisons.length ? (window.report = new Report(data.comparisons)) : null;
  const replay = data.replay ? buildReplay() : null;
  if (report) page.append(buildNav());
  page.append(...(data.tables || []).map((table) => new SortedTable(table).element));
  if (report) page.append(report.tabs, report.place);
  if (replay) page.append(replay);
  if (report) page.append(report.end);
  if (data.settings) page.append(buildSettings(data.settings));
  if (report) report.show(0);
  if (player() && !player().follow()) player().open(0);
}

build();
