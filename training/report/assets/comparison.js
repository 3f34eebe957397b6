// A comparison, and the plots in it.

// Plots as SVG: points with intervals on linear or logarithmic axes, and a hint that a pointer or the keyboard calls.

const SHAPES = [
  (r) => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
  (r) => `M${-r},${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  (r) => `M0,${-1.2 * r}L${1.15 * r},${0.9 * r}H${-1.15 * r}z`,
  (r) => `M0,${-1.3 * r}L${1.3 * r},0L0,${1.3 * r}L${-1.3 * r},0z`,
  (r) => `M0,${1.2 * r}L${1.15 * r},${-0.9 * r}H${-1.15 * r}z`,
  (r) => `M${-r / 2.5},${-r}h${r / 1.25}v${r / 1.6}h${r / 1.6}v${r / 1.25}h${-r / 1.6}v${r / 1.6}h${-r / 1.25}v${-r / 1.6}h${-r / 1.6}v${-r / 1.25}h${r / 1.6}z`,
];

// A colour and a shape that only every 42nd series shares.
function seriesStyle(number, palette) {
  const colours = palette.units;
  return { colour: rgb(colours[(number * 4 + 4) % colours.length]), shape: SHAPES[number % SHAPES.length] };
}

class Axis {
  constructor(values, log, from, to) {
    const finite = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
    let [low, high] = finite.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
    if (!finite.length) [low, high] = [1, 10];
    if (low === high) [low, high] = log ? [low / 1.5, high * 1.5] : [low - 1, high + 1];
    Object.assign(this, { log, from, to });
    [this.low, this.high] = [this.scale(low), this.scale(high)];
    const margin = 0.05 * (this.high - this.low);
    this.low -= margin;
    this.high += margin;
  }

  scale(value) {
    return this.log ? Math.log10(value) : value;
  }

  // What has no logarithm stands at the edge.
  place(value) {
    const scaled = this.log && value <= 0 ? this.low : Math.min(Math.max(this.scale(value), this.low), this.high);
    return this.from + (scaled - this.low) / (this.high - this.low) * (this.to - this.from);
  }

  ticks() {
    return this.log ? this.powers() : this.even(this.low, this.high);
  }

  powers() {
    if (this.high - this.low < 0.7) return this.even(10 ** this.low, 10 ** this.high);
    const found = [];
    const factors = this.high - this.low > 3 ? [1] : this.high - this.low > 1.6 ? [1, 3] : [1, 2, 5];
    for (let power = Math.floor(this.low); power <= this.high; power++) {
      for (const factor of factors) found.push(factor * 10 ** power);
    }
    return found.filter((value) => Math.log10(value) >= this.low && Math.log10(value) <= this.high);
  }

  even(low, high) {
    const rough = (high - low) / 6, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
    const found = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(Number((k * step).toPrecision(12)));
    return found;
  }
}

function tickText(value) {
  return Math.abs(value) >= 1e5 ? value.toExponential(0) : String(Number(value.toPrecision(4)));
}

// Points are {x, y, xEnds, yEnds, colour, shape, size, front, name, text, hint, act}; hint makes what is told of a point.
function drawPlot(holder, points, options) {
  const width = Math.max(300, holder.clientWidth || 600), height = Math.min(460, Math.max(320, 0.62 * width));
  const left = 58, right = 14, top = 12, bottom = 46;
  const ends = (name) => points.flatMap((point) => [point[name], ...(point[name + "Ends"] || [])]);
  const shared = options.diagonal ? [...ends("x"), ...ends("y")] : null;
  const x = new Axis(shared || ends("x"), options.logX, left, width - right);
  const y = new Axis(shared || ends("y"), options.logY, height - bottom, top);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": options.title });
  drawAxes(svg, x, y, { width, height, left, right, top, bottom }, options);
  if (options.diagonal) svg.append(draw("line", { class: "diagonal", x1: left, y1: height - bottom, x2: width - right, y2: top }));
  if (options.front) drawFront(svg, points, x, y);
  for (const line of options.lines || []) {
    svg.append(draw("polyline", { class: "series", stroke: line[0].colour, points: line.map((p) => `${x.place(p.x)},${y.place(p.y)}`).join(" ") }));
  }
  for (const point of points) drawPoint(svg, point, x, y);
  nameMarks(svg, points, x, y, { left, right: width - right, top, bottom: height - bottom });
  holder.replaceChildren(svg);
}

function drawAxes(svg, x, y, box, options) {
  for (const value of x.ticks()) {
    const at = x.place(value);
    svg.append(draw("line", { class: "grid", x1: at, x2: at, y1: box.top, y2: box.height - box.bottom }),
      draw("text", { x: at, y: box.height - box.bottom + 16, "text-anchor": "middle" }, tickText(value)));
  }
  for (const value of y.ticks()) {
    const at = y.place(value);
    svg.append(draw("line", { class: "grid", x1: box.left, x2: box.width - box.right, y1: at, y2: at }),
      draw("text", { x: box.left - 6, y: at + 4, "text-anchor": "end" }, tickText(value)));
  }
  const middle = (box.height - box.bottom + box.top) / 2;
  svg.append(draw("text", { class: "axis", x: (box.left + box.width - box.right) / 2, y: box.height - 8, "text-anchor": "middle" }, options.xLabel),
    draw("text", { class: "axis", x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }, options.yLabel));
}

function drawFront(svg, points, x, y) {
  const best = points.filter((point) => point.front).sort((a, b) => a.x - b.x);
  svg.append(draw("polyline", { class: "front", points: best.map((p) => `${x.place(p.x)},${y.place(p.y)}`).join(" ") }));
}

// Write names beside points where there is room, those of the front first; the hint tells the others.
function nameMarks(svg, points, x, y, frame) {
  const marks = points.map((point) => ({ point, at: [x.place(point.x), y.place(point.y)] }));
  const taken = marks.map(({ point, at }) => boxAround(...at, point.size, point.size));
  const free = (box) => box.left > frame.left && box.right < frame.right && box.top > frame.top && box.bottom < frame.bottom
    && !taken.some((other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom);
  const named = new Set(); // a line of several budgets is named once
  for (const { point, at } of marks.sort((a, b) => Boolean(b.point.front) - Boolean(a.point.front))) {
    if (!point.name || named.has(point.name)) continue;
    const wide = 2.9 * point.name.length, far = wide + point.size + 4, places = [[far, 0], [-far, 0], [0, -17], [0, 17], [far, -13], [far, 13], [-far, -13], [-far, 13]];
    const box = places.map(([dx, dy]) => boxAround(at[0] + dx, at[1] + dy, wide, 6)).find(free);
    if (!box) continue;
    named.add(point.name);
    taken.push(box);
    svg.append(draw("text", { class: "name", x: (box.left + box.right) / 2, y: box.bottom - 2, "text-anchor": "middle" }, point.name));
  }
}

function boxAround(x, y, wide, high) {
  return { left: x - wide, right: x + wide, top: y - high, bottom: y + high };
}

function drawPoint(svg, point, x, y) {
  const [middleX, middleY] = [x.place(point.x), y.place(point.y)];
  const group = draw("g", { class: point.front ? "point best" : "point" });
  const bar = (x1, x2, y1, y2) => group.append(draw("line", { class: "interval", stroke: point.colour, x1, x2, y1, y2 }));
  if (point.xEnds) bar(...point.xEnds.map((value) => x.place(value)), middleY, middleY);
  if (point.yEnds) bar(middleX, middleX, ...point.yEnds.map((value) => y.place(value)));
  const mark = draw("path", { d: point.shape(point.size || 6), transform: `translate(${middleX} ${middleY})`, fill: point.colour,
    tabindex: point.quiet ? null : 0, role: point.quiet ? null : "button", "aria-label": point.text });
  const act = () => (point.act ? point.act() : showHint(mark, point.hint(), true));
  for (const name of ["pointerenter", "focus"]) mark.addEventListener(name, () => showHint(mark, point.hint(), false));
  for (const name of ["pointerleave", "blur"]) mark.addEventListener(name, () => hideHint());
  mark.addEventListener("click", act);
  mark.addEventListener("keydown", (event) => { if ([" ", "Enter"].includes(event.key)) event.preventDefault(), act(); });
  group.append(mark);
  svg.append(group);
}

// One hint for all plots. A click keeps it, so that what it says can be copied; its button or Escape lets it go.
let keptHint = false;

function showHint(mark, content, keep) {
  if (keptHint && !keep) return;
  keptHint = keep;
  const hint = document.getElementById("hint");
  hint.replaceChildren(...content, keep ? make("button", { type: "button", class: "close", "aria-label": "close", onclick: () => hideHint(true) }, "\u00d7") : "");
  hint.classList.toggle("kept", keep);
  hint.hidden = false;
  const box = mark.getBoundingClientRect(), own = hint.getBoundingClientRect();
  const wide = document.documentElement.clientWidth;
  const left = Math.max(8, Math.min(box.left + box.width / 2 - own.width / 2, wide - own.width - 8));
  const above = box.top - own.height - 10;
  hint.style.left = `${left + scrollX}px`;
  hint.style.top = `${(above > 0 ? above : box.bottom + 10) + scrollY}px`;
}

function hideHint(even) {
  if (keptHint && !even) return;
  keptHint = false;
  document.getElementById("hint").hidden = true;
}

addEventListener("keydown", (event) => { if (event.key === "Escape") hideHint(true); });

// One comparison: whom to take, tables, the trade-off, two agents problem by problem, and who wins how often.

const READINGS = { mean: "expansions per move, mean over problems", pooled: "all expansions / all moves" };
const VALUES = { quality: "", work: "expansions per move", moves: "moves", worst: "worst move" };

const MANY = 12; // agents from which on a legend is cut into families
const MOST_POINTS = 4000; // a point is an element of the page

class Comparison {
  constructor(data, number, palette) {
    Object.assign(this, data, { number });
    this.families = new Map(this.entries.map((entry) => [entry.agent, entry.family])); // policies have none
    this.agents = [...this.families.keys()];
    this.budgets = [...new Set(this.entries.map((entry) => entry.budget))];
    this.styles = new Map(this.agents.map((agent, i) => [agent, seriesStyle(i, palette)]));
    const log = !this.linear;
    this.tradeoff = { reading: "mean", map: "all", budget: "all", logX: log, logY: log, hidden: new Set() };
    const best = this.cards[0].picks.flatMap((pick) => pick.ranked.map((one) => one.entry)).filter((i) => i !== this.featured);
    this.pair = { a: best[0] ?? 0, b: this.featured ?? best[1] ?? (this.entries.length > 1 ? 1 - (best[0] ?? 0 ? 1 : 0) : 0), value: "quality", log };
    this.contest = this.budgets[0];
    this.numbers = null;
  }

  sections() {
    return [
      section("best", "Whom to take", this.buildBest()),
      section("tables", "Tables", this.tables.map((table) => new SortedTable(table).element), make("p", { class: "soft notes" }, this.notes)),
      section("tradeoff", "Trade-off", this.buildTradeoff()),
      section("problems", "Two agents, problem by problem", this.buildPair()),
      section("wins", "Who wins how often", this.buildWins()),
    ];
  }

  // Plots ask how wide they may be, so they are drawn when they are on the page; numbers are unpacked meanwhile.
  async fill() {
    this.drawTradeoff();
    this.numbers ??= await unpack(this.values);
    this.drawPair();
    this.fillWins();
  }

  redraw() {
    this.drawTradeoff();
    if (this.numbers) this.drawPair();
  }

  // Whom to take

  buildBest() {
    return [make("div", { class: "cards" }, this.cards.map((card) => make("article", { class: "card" }, make("h3", {}, card.heading),
      card.picks.map((pick) => this.buildPick(pick))))), this.remarks.map((text) => make("p", { class: "soft" }, text))];
  }

  buildPick(pick) {
    const title = pick.title ? make("h4", {}, pick.title) : null;
    if (!pick.ranked.length) return [title, make("p", { class: "why" }, `${capital(pick.text)}.`)];
    const [first, ...others] = pick.ranked;
    const listed = others.map((one, i) => make("li", {}, this.entries[one.entry].label, " ",
      make("span", {}, one.value, i < pick.alike ? ", no clear difference" : "")));
    return [title, make("div", { class: "first" }, this.entries[first.entry].label), make("div", {}, first.value),
      make("p", { class: "why" }, `${capital(pick.why)}.`), commandOf(this.entries[first.entry]),
      others.length ? make("ol", { start: 2 }, listed) : null];
  }

  // The trade-off

  buildTradeoff() {
    const set = (name) => (value) => { this.tradeoff[name] = value; this.drawTradeoff(); };
    const maps = [["all", `all ${plural(this.problems.names.length, "map")}`], ...this.maps.map((map, i) => [i, map.name])];
    this.plot = make("div", { class: "plot" });
    this.without = make("p", { class: "soft" });
    this.legend = make("ul", { class: "legend" }, this.legendGroups(), make("li", {}, draw("svg", { viewBox: "0 0 16 16" }, draw("line", { class: "front", x1: 3, x2: 13, y1: 8, y2: 8 })), "Pareto front"));
    return [make("div", { class: "settings" },
      labelled("work", choice("work", Object.keys(READINGS).map((name) => [name, name]), "mean", set("reading"))),
      this.maps.length ? labelled("map", choice("map", maps, "all", set("map"))) : null,
      this.budgets.length > 1 ? labelled("budget", choice("budget", [["all", "all"], ...this.budgets.map((name) => [name, name])], "all", set("budget"))) : null,
      tick("log work", this.tradeoff.logX, set("logX")), tick(`log ${this.measure}`, this.tradeoff.logY, set("logY"))),
    this.plot, this.legend, this.without,
    make("p", { class: "soft" }, `Left and down is better. Lines through the points are 95 % intervals. A click on a point keeps its hint${this.entries.some(commandOf) ? ", with the command that runs the agent" : ""}.`)];
  }

  // Many agents are listed by their families, each on a line of its own.
  legendGroups() {
    const item = (agent) => make("li", {}, this.legendButton(agent));
    if (this.agents.length < MANY) return this.agents.map(item);
    const families = [...new Set(this.families.values())];
    return families.map((family) => [make("li", { class: "family" }, family ?? ""),
      this.agents.filter((agent) => this.families.get(agent) === family).map(item)]);
  }

  legendButton(agent) {
    const { colour, shape } = this.styles.get(agent);
    const button = make("button", { type: "button", "aria-pressed": "true", title: "show or hide", onclick: () => {
      const { hidden } = this.tradeoff;
      if (!hidden.delete(agent)) hidden.add(agent);
      button.setAttribute("aria-pressed", String(!hidden.has(agent)));
      this.drawTradeoff();
    } }, draw("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" }, draw("path", { d: shape(5), fill: colour })),
    agent + (this.entries.some((entry) => entry.agent === agent && entry.prepares) ? ", prepares" : ""));
    return button;
  }

  drawTradeoff() {
    const { reading, map, budget, logX, logY, hidden } = this.tradeoff;
    const scores = map === "all" ? this.entries : this.maps[map].scores;
    const wanted = this.entries.flatMap((entry, i) => (hidden.has(entry.agent) || (budget !== "all" && entry.budget !== budget) ? [] : [i]));
    const points = wanted.filter((i) => scores[i].quality).map((i) => this.point(i, scores[i], reading));
    markFront(points);
    const lines = this.agents.map((agent) => points.filter((point) => point.agent === agent)).filter((line) => line.length > 1);
    drawPlot(this.plot, points, { title: "trade-off of work and quality", xLabel: READINGS[reading], yLabel: `${this.measure}, mean`, logX, logY, front: true, lines });
    const lost = wanted.filter((i) => !scores[i].quality).map((i) => `${this.entries[i].label} (${this.entries[i].failed || "failed on this map"}${this.budgets.length > 1 ? `, ${this.entries[i].budget}` : ""})`);
    this.without.textContent = lost.length ? `Not in the plot, because without a mean: ${lost.join("; ")}.` : "";
  }

  point(i, score, reading) {
    const entry = this.entries[i], { colour, shape } = this.styles.get(entry.agent);
    const [x, ...xEnds] = score[reading], [y, ...yEnds] = score.quality;
    const size = 4.5 + 3 * (this.budgets.indexOf(entry.budget) + 1) / this.budgets.length;
    return { x, y, xEnds: xEnds[0] === null ? null : xEnds, yEnds: yEnds[0] === null ? null : yEnds, colour, shape, size, agent: entry.agent, name: entry.agent,
      text: `${entry.label}, ${entry.budget}: ${this.measure} ${digits(y)}, ${digits(x)} expansions per move`, hint: () => this.hint(entry, score, reading) };
  }

  hint(entry, score, reading) {
    return [make("p", {}, make("b", {}, entry.label), `, ${entry.budget}`),
      make("p", {}, `${this.measure} ${withInterval(score.quality)}`),
      make("p", {}, `expansions per move ${withInterval(score[reading])}`),
      make("p", {}, entry.counted ? `worst move ${WHOLE.format(entry.worst)} ${entry.counted}, ` : "", `solved ${entry.solved}`),
      commandOf(entry)];
  }

  // Two agents, problem by problem

  buildPair() {
    const options = this.entries.map((entry, i) => [i, this.nameOf(entry)]);
    const set = (name, number) => (value) => { this.pair[name] = number ? Number(value) : value; this.drawPair(); };
    const known = new Set(this.values.columns.map(([name]) => name));
    const values = Object.entries(VALUES).filter(([name]) => known.has(name)).map(([name, text]) => [name, text || this.measure]);
    this.scatter = make("div", { class: "plot" });
    this.verdict = make("p", { class: "verdict" });
    return [make("div", { class: "settings" }, labelled("across", choice("agent across", options, this.pair.a, set("a", true))),
      labelled("up", choice("agent up", options, this.pair.b, set("b", true))), labelled("value", choice("value", values, "quality", set("value"))),
      tick("log", this.pair.log, set("log"))),
    this.verdict, this.scatter, this.shortNote()];
  }

  shortNote() {
    const { all, kept } = this.problems;
    const some = kept.length < all ? ` The page holds ${WHOLE.format(kept.length)} of ${WHOLE.format(all)} problems, evenly chosen.` : "";
    return make("p", { class: "soft" }, `A point is a problem; below the line the agent that goes up is better.${player() ? " A click replays it, where both were recorded." : ""}${some}`);
  }

  nameOf(entry) {
    return this.budgets.length > 1 ? `${entry.label}, ${entry.budget}` : entry.label;
  }

  value(name, entry, problem) {
    return this.numbers[name][entry * this.problems.kept.length + problem];
  }

  problemName(i) {
    const p = this.problems;
    return `${p.names[p.map[i]]}, problem ${p.number[i] + 1}: (${p.start_x[i]}, ${p.start_y[i]}) to (${p.goal_x[i]}, ${p.goal_y[i]})`;
  }

  drawPair() {
    const { a, b, value, log } = this.pair, one = this.entries[a], other = this.entries[b];
    const found = this.problems.kept.map((_, i) => [this.value(value, a, i), this.value(value, b, i)]);
    const both = found.map(([x, y], i) => ({ x, y, i })).filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
    const every = Math.ceil(both.length / MOST_POINTS), drawn = both.filter((_, n) => n % every === 0);
    const points = drawn.map(({ x, y, i }) => ({ x, y, colour: rgb(data.palette.units[4]), shape: SHAPES[0], size: 4, quiet: drawn.length > 400,
      text: `${this.problemName(i)}: ${digits(x)} and ${digits(y)}`, hint: () => this.pairHint(i, x, y), act: () => this.replay(i) }));
    const what = VALUES[value] || this.measure;
    drawPlot(this.scatter, points, { title: "two agents, problem by problem", xLabel: `${what}, ${one.label}`, yLabel: `${what}, ${other.label}`, logX: log, logY: log, diagonal: true });
    const wins = tally(found), lost = found.length - both.length;
    this.verdict.textContent = `${this.nameOf(other)} has less on ${wins.second}, ${this.nameOf(one)} on ${wins.first} of ${plural(found.length, "problem")}; equal on ${wins.equal}.`
      + (lost ? ` ${lost} have no point, because a run failed.` : "") + (every > 1 ? ` Of the others one in ${every} is drawn.` : "");
  }

  pairHint(i, x, y) {
    const { a, b } = this.pair;
    return [make("p", {}, make("b", {}, this.problemName(i))), make("p", {}, `${this.nameOf(this.entries[a])}: ${digits(x)}`),
      make("p", {}, `${this.nameOf(this.entries[b])}: ${digits(y)}`),
      make("p", { class: "soft" }, this.recorded(i) ? "Click to replay." : "Not recorded.")];
  }

  // The runs of the two agents on a problem among those that were recorded, none where one is missing.
  recorded(i) {
    if (!player()) return null;
    const { problems, runs } = player(), number = this.problems.kept[i];
    const problem = problems.findIndex((one) => one.comparison === this.number && one.number === number);
    const numbers = [this.pair.a, this.pair.b].map((k) => runs.findIndex((run) =>
      run.problem === problem && run.label === this.entries[k].label && run.budget === this.entries[k].budget));
    return problem < 0 || numbers.includes(-1) ? null : [problem, numbers];
  }

  replay(i) {
    const found = this.recorded(i);
    if (!found) return;
    hideHint(true);
    window.replay.open(...found);
    document.getElementById("replay").scrollIntoView();
    window.replay.element.focus({ preventScroll: true });
  }

  // Who wins how often

  buildWins() {
    this.matrix = make("div", { class: "scroll matrix", tabindex: 0, role: "region", "aria-label": "pairwise wins" });
    const budgets = this.budgets.map((name) => [name, name]);
    return [this.budgets.length > 1 ? make("div", { class: "settings" }, labelled("budget", choice("budget of wins", budgets, this.contest, (value) => { this.contest = value; this.fillWins(); }))) : null,
      this.matrix, make("p", { class: "soft" }, `On how many problems, of 100, the agent of the row has a better ${this.measure} than that of the column; a failed run is worse than any other. The best mean comes first.`)];
  }

  fillWins() {
    const own = this.entries.flatMap((entry, i) => (entry.budget === this.contest ? [i] : []));
    const mean = (i) => this.entries[i].quality?.[0] ?? Infinity;
    own.sort((i, k) => mean(i) - mean(k) || i - k);
    const head = make("tr", {}, make("th", {}), own.map((_, n) => make("th", { scope: "col" }, n + 1)));
    const rows = own.map((i, n) => make("tr", {}, make("th", { scope: "row" }, `${n + 1}  ${this.entries[i].label}`), own.map((k) => this.winCell(i, k))));
    this.matrix.replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, rows)));
  }

  winCell(i, k) {
    if (i === k) return make("td", {}, "");
    const wins = tally(this.problems.kept.map((_, n) => [this.value("quality", i, n), this.value("quality", k, n)]));
    const all = wins.first + wins.second + wins.equal, share = wins.first / all, lead = (wins.first - wins.second) / all;
    const title = `${this.entries[i].label} is better on ${wins.first}, ${this.entries[k].label} on ${wins.second}, equal on ${wins.equal} of ${all}`;
    const cell = make("td", { title }, Math.round(100 * share));
    cell.style.background = `rgba(var(${lead > 0 ? "--win" : "--lose"}), ${0.55 * Math.abs(lead)})`;
    return cell;
  }
}

// Policies of an environment have no command.
function commandOf(entry) {
  return entry.command ? command(entry.command) : "";
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// Less is better in all that is compared; two infinite numbers are equal.
function tally(pairs) {
  const wins = { first: 0, second: 0, equal: 0 };
  for (const [x, y] of pairs) wins[x < y ? "first" : y < x ? "second" : "equal"]++;
  return wins;
}

function markFront(points) {
  const beats = (one, other) => one.x <= other.x && one.y <= other.y && (one.x < other.x || one.y < other.y);
  for (const point of points) point.front = !points.some((other) => beats(other, point));
}
