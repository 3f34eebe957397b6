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
