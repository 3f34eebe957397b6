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
