// The replay, and the pictures in it.

// One picture of a replay. The cells are an image of one pixel each, in which only what has changed is painted again;
// the browser enlarges it. Trail and marks are drawn over it.

const FRESH = 4; // moves for which a change is framed, as in the other pictures
const LAYERS = { fog: "fog", expanded: "expanded", learned: "learned h", trail: "trail", plan: "plan" };

function rgb([red, green, blue]) {
  return `rgb(${red},${green},${blue})`;
}

// Colours as the image stores them, by what a cell is. Expanded and changed cells have the same colours, tinted.
class Colours {
  constructor(palette) {
    this.palette = palette;
    const base = [...palette.ground, palette.wall, ...palette.fog];
    this.heats = palette.ground.length;
    this.wall = this.heats;
    this.fog = this.heats + 1;
    this.plain = base.map(packColour);
    this.expanded = base.map((colour) => packColour(mix(colour, palette.expanded, palette.expanded_blend)));
    this.changed = base.map((colour) => packColour(mix(colour, palette.changed, palette.changed_blend)));
  }
}

function mix(under, over, share) {
  return under.map((part, i) => Math.round(part + (over[i] - part) * share));
}

function packColour([red, green, blue]) {
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}

class Pane {
  constructor(colours, changeAgent) {
    this.colours = colours;
    this.canvas = make("canvas", { role: "img" });
    this.agent = choice("agent", [], "", (value) => changeAgent(Number(value)));
    this.bar = make("div", { class: "bar" }, make("div"));
    this.limit = make("span", { class: "limit" });
    this.facts = make("dl", { class: "facts" });
    this.story = make("p", { class: "story" });
    this.command = make("div", { class: "again" });
    this.element = make("figure", { class: "pane" }, this.agent, this.canvas,
      make("div", { class: "budget" }, this.limit, this.bar), this.facts, this.story, this.command);
    this.film = null;
  }

  show(film, layers) {
    const { width, height } = film.map;
    this.film = film;
    this.layers = layers;
    this.moment = -1;
    this.states = film.belief.first.slice();
    this.heat = film.learned.first.slice();
    this.lit = new Uint8Array(width * height);
    this.image = make("canvas", { width, height });
    this.pixels = this.image.getContext("2d").createImageData(width, height);
    this.words = new Uint32Array(this.pixels.data.buffer);
    this.first = Uint8Array.from(film.walls);
    this.command.replaceChildren(film.run.command ? command(film.run.command) : "");
    this.labelFacts();
    this.paintAll();
  }

  paintAll() {
    for (let cell = 0; cell < this.words.length; cell++) this.paint(cell);
    this.image.getContext("2d").putImageData(this.pixels, 0, 0);
  }

  paint(cell) {
    const { colours } = this;
    const seen = this.states[cell] !== UNSEEN || !this.layers.fog;
    const state = seen && this.states[cell] === UNSEEN ? this.first[cell] : this.states[cell];
    const table = this.lit[cell] && this.layers.expanded ? colours.expanded
      : state !== UNSEEN && state !== this.first[cell] ? colours.changed : colours.plain;
    this.words[cell] = table[this.tone(cell, state)];
  }

  tone(cell, state) {
    if (state === WALL) return this.colours.wall;
    if (state === UNSEEN && !this.heat[cell]) return this.colours.fog + (Math.imul(cell ^ (cell >>> 5), 0x9e3779b1) >>> 30);
    if (!this.layers.learned || !this.heat[cell]) return state === UNSEEN ? this.colours.fog : 0;
    const share = Math.sqrt(Math.min(1, this.heat[cell] / this.film.hottest));
    return Math.ceil(share * (this.colours.heats - 1));
  }

  // Go to a moment and paint what has changed on the way.
  seek(moment) {
    const { film } = this;
    if (moment === this.moment) return;
    const touched = [];
    const touch = (cell) => touched.push(cell);
    const light = (value) => (cell) => { this.lit[cell] = value; touched.push(cell); };
    film.belief.seek(this.states, this.moment, moment, touch);
    film.learned.seek(this.heat, this.moment, moment, touch);
    if (this.moment >= 0) film.eachExpanded(this.moment, light(0));
    film.eachExpanded(moment, light(1));
    this.moment = moment;
    this.repaint(touched);
  }

  // Only the rectangle around the touched cells is handed to the browser.
  repaint(touched) {
    if (!touched.length) return;
    const { width, height } = this.film.map;
    let left = width, right = 0, top = height, bottom = 0;
    for (const cell of touched) {
      this.paint(cell);
      const y = Math.floor(cell / width), x = cell - y * width;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
    this.image.getContext("2d").putImageData(this.pixels, 0, 0, left, top, right - left + 1, bottom - top + 1);
  }

  // The part of the map that is in view: all of it, or so many cells around the agent.
  view(zoom) {
    const { width, height, left, top } = this.film.map;
    if (!zoom) return { x: 0, y: 0, width, height };
    const wide = Math.min(zoom, width), high = Math.min(zoom, height);
    const [x, y] = this.film.follow(this.moment);
    const clamp = (value, most) => Math.max(0, Math.min(value, most));
    return { x: clamp(x - left - wide / 2, width - wide), y: clamp(y - top - high / 2, height - high), width: wide, height: high };
  }

  draw(zoom) {
    const view = this.view(zoom), canvas = this.canvas;
    const ratio = window.devicePixelRatio || 1;
    const wide = Math.max(1, Math.round(this.wide * ratio));
    const high = Math.max(1, Math.round(wide * view.height / view.width));
    if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
    const pen = canvas.getContext("2d"), side = wide / view.width;
    pen.imageSmoothingEnabled = side < 1;
    pen.drawImage(this.image, view.x, view.y, view.width, view.height, 0, 0, wide, high);
    const left = this.film.map.left + view.x, top = this.film.map.top + view.y;
    this.place = (x, y) => [(x - left + 0.5) * side, (y - top + 0.5) * side];
    this.side = side;
    this.radius = Math.max(4.5 * ratio, Math.min(0.42 * side, 14 * ratio));
    if (this.layers.trail && !this.film.units) this.drawTrail(pen, ratio);
    this.drawFresh(pen);
    if (this.film.units) this.drawUnits(pen);
    else this.drawAgent(pen);
  }

  line(pen, from, to) {
    const { x, y } = this.film;
    pen.beginPath();
    pen.moveTo(...this.place(x[from], y[from]));
    for (let m = from + 1; m <= to; m++) pen.lineTo(...this.place(x[m], y[m]));
    pen.stroke();
  }

  drawTrail(pen, ratio) {
    pen.lineJoin = pen.lineCap = "round";
    pen.strokeStyle = rgb(this.colours.palette.trail);
    pen.lineWidth = Math.max(1.5 * ratio, Math.min(0.26 * this.side, 6 * ratio));
    this.line(pen, 0, this.moment);
  }

  drawFresh(pen) {
    pen.strokeStyle = rgb(this.colours.palette.changed);
    pen.lineWidth = 2;
    for (const [time, x, y] of this.film.problem.changes) {
      if (time > this.moment || this.moment - time >= FRESH) continue;
      const [middleX, middleY] = this.place(x, y), half = Math.max(this.side / 2, 4);
      pen.strokeRect(middleX - half, middleY - half, 2 * half, 2 * half);
    }
  }

  drawAgent(pen) {
    const { film, moment } = this, { palette } = this.colours, { start, goal } = film.problem;
    if (this.layers.plan) this.drawPlan(pen);
    this.mark(pen, disc, start, 0.8, palette.start, palette.start_edge);
    const subgoals = moment < film.columns.target.length ? [film.columns.pursued[moment], film.columns.target[moment]] : [];
    for (const cell of new Set(subgoals)) this.drawSubgoal(pen, cell);
    this.mark(pen, star, goal, 1.6, palette.goal, palette.goal_edge);
    const here = film.follow(moment), arrived = here[0] === goal[0] && here[1] === goal[1];
    this.mark(pen, disc, here, arrived ? 0.6 : 1, palette.agent, palette.agent_edge);
  }

  drawPlan(pen) {
    const end = this.film.planEnd(this.moment);
    if (end <= this.moment) return;
    pen.strokeStyle = rgb(this.colours.palette.subgoal);
    pen.lineWidth = Math.max(2, Math.min(0.2 * this.side, 8));
    pen.setLineDash([2 * pen.lineWidth, 1.5 * pen.lineWidth]);
    this.line(pen, this.moment, end);
    pen.setLineDash([]);
  }

  drawSubgoal(pen, cell) {
    const { map, problem } = this.film, { palette } = this.colours;
    const x = map.left + cell % map.width, y = map.top + Math.floor(cell / map.width);
    const isGoal = x === problem.goal[0] && y === problem.goal[1];
    if (cell >= 0 && !isGoal) this.mark(pen, diamond, [x, y], 1, palette.subgoal, palette.subgoal_edge);
  }

  drawUnits(pen) {
    const { film, moment } = this, { palette } = this.colours, own = this.radius;
    this.radius = Math.max(own * 0.75, 3);
    film.problem.units.forEach((goal, unit) => {
      const colour = palette.units[unit % palette.units.length];
      this.mark(pen, ring, goal, 1.2, colour, palette.unit_edge);
    });
    film.problem.units.forEach((goal, unit) => {
      const colour = palette.units[unit % palette.units.length], state = film.state(unit, moment);
      const shape = state === "standing" ? square : disc;
      this.mark(pen, shape, film.at(unit, moment), state === "arrived" ? 0.55 : 1, colour, palette.unit_edge);
    });
    this.radius = own;
  }

  mark(pen, shape, [x, y], size, inner, edge) {
    const [middleX, middleY] = this.place(x, y), radius = size * this.radius;
    pen.beginPath();
    shape(pen, middleX, middleY, radius);
    pen.fillStyle = rgb(inner);
    pen.strokeStyle = rgb(edge);
    pen.lineWidth = Math.max(1.5, 0.25 * this.radius);
    pen.stroke();
    pen.fill("evenodd");
  }

  // Say what is so at this moment. Only texts are replaced: sixty times a second, elements would be too slow.
  tell() {
    const { film, moment } = this, spent = film.spent(moment), limit = film.run.limit;
    this.limit.textContent = limit === null ? `${plural(spent, film.run.counted.slice(0, -1))}, no limit`
      : `${WHOLE.format(spent)} of ${WHOLE.format(limit)} ${film.run.counted}`;
    this.bar.firstChild.style.width = `${limit ? Math.min(100, 100 * spent / limit) : 0}%`;
    film.counts(moment).forEach(([, text], i) => (this.values[i].textContent = text));
    this.story.textContent = film.story(moment);
  }

  // The names of what is told, with room for the values.
  labelFacts() {
    this.bar.hidden = this.film.run.limit === null;
    this.values = this.film.counts(0).map(([name]) => make("dd", { "data-fact": name }));
    this.facts.replaceChildren(...this.film.counts(0).map(([name, , title], i) => make("div", { title }, make("dt", {}, name), this.values[i])));
    this.canvas.setAttribute("aria-label", `replay of ${this.film.run.label}; what happens is told below`);
  }

  // How wide the picture is on the page, which is asked only when that can have changed.
  measure() {
    this.wide = this.canvas.clientWidth;
  }
}

// The shapes of marks, which differ for those who do not see the colours.

function disc(pen, x, y, radius) {
  pen.arc(x, y, radius, 0, 2 * Math.PI);
}

function ring(pen, x, y, radius) {
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.moveTo(x + radius / 2, y);
  pen.arc(x, y, radius / 2, 0, 2 * Math.PI);
}

function square(pen, x, y, radius) {
  pen.rect(x - 0.9 * radius, y - 0.9 * radius, 1.8 * radius, 1.8 * radius);
}

function polygon(pen, x, y, radii) {
  radii.forEach((radius, i) => {
    const angle = 2 * Math.PI * i / radii.length;
    pen.lineTo(x + radius * Math.sin(angle), y - radius * Math.cos(angle));
  });
  pen.closePath();
}

function diamond(pen, x, y, radius) {
  polygon(pen, x, y, [radius, radius, radius, radius]);
}

function star(pen, x, y, radius) {
  polygon(pen, x, y, Array.from({ length: 10 }, (_, i) => (i % 2 ? radius / 2 : radius)));
}

// The replay: a problem, one or two runs on it side by side, and one slider for both.

const SPEEDS = [1, 4, 10, 30, 60, 240];
const KEPT = 8; // runs that stay unpacked
const KEYS = "Space plays and stops, arrows step (with Shift by ten), Home and End, n and p go to the next and the previous search, + and - change the speed.";

class Replay {
  constructor(data, palette) {
    Object.assign(this, data);
    this.layers = Object.fromEntries(Object.keys(LAYERS).map((name) => [name, true]));
    this.films = new Map();
    this.walls = new Map();
    this.moment = 0;
    this.speed = 10;
    this.zoom = 0;
    this.playing = false;
    this.latest = 0; // the last wish: what was asked for earlier and comes later is dropped
    const colours = new Colours(palette);
    this.panes = [0, 1].map((side) => new Pane(colours, (run) => this.choose(side, run)));
    this.chosen = [-1, -1];
    this.element = this.build(palette);
    addEventListener("resize", () => this.resize());
    addEventListener("hashchange", () => this.follow());
  }

  build(palette) {
    const button = (text, title, act) => make("button", { type: "button", title, "aria-label": title, onclick: act }, text);
    this.problem = choice("problem", this.problems.map((one, i) => [i, one.name]), 0, (value) => this.open(Number(value)));
    this.slider = make("input", { type: "range", min: 0, value: 0, "aria-label": "move", oninput: () => this.seek(Number(this.slider.value)) });
    this.number = make("input", { type: "number", min: 0, value: 0, "aria-label": "move number", onchange: () => this.seek(Number(this.number.value)) });
    this.length = make("span", { class: "length" });
    this.play = button("play", "play or stop (space)", () => this.toggle());
    this.tempo = choice("speed", SPEEDS.map((speed) => [speed, `${speed} per second`]), this.speed, (value) => (this.speed = Number(value)));
    const zoom = choice("view", [[0, "whole map"], [128, "128 cells"], [64, "64 cells"], [32, "32 cells"]], 0, (value) => this.look(Number(value)));
    this.ticks = new Map(Object.entries(LAYERS).map(([name, text]) => [name, tick(text, true, (on) => this.setLayer(name, on))]));
    this.link = make("button", { type: "button", title: "copy the address of this moment", onclick: () => copy(new URL(this.address(), location.href).href, this.link) }, "link");
    this.controls = make("div", { class: "controls" },
      button("|\u25c0", "to the start (Home)", () => this.seek(0)),
      button("\u25c0 1", "one move back (left)", () => this.step(-1)),
      this.play,
      button("1 \u25b6", "one move on (right)", () => this.step(1)),
      button("\u25b6|", "to the end (End)", () => this.seek(this.end)),
      button("\u2190 search", "to the previous search (p)", () => this.jump(-1)),
      button("search \u2192", "to the next search (n)", () => this.jump(1)),
      this.tempo);
    this.legend = make("ul", { class: "legend" });
    this.palette = palette;
    const element = make("div", { class: "replay", tabindex: 0, onkeydown: (event) => this.press(event) },
      make("div", { class: "settings" }, this.problems.length > 1 ? labelled("problem", this.problem) : this.problems[0].name, labelled("view", zoom), make("span", { class: "ticks" }, [...this.ticks.values()]), this.link),
      make("div", { class: "time" }, this.slider, make("span", { class: "moment" }, "move ", this.number, this.length)),
      this.controls,
      make("div", { class: "panes" }, this.panes.map((pane) => pane.element)),
      this.legend,
      make("p", { class: "keys" }, KEYS));
    return element;
  }

  // Runs on the problem that is open, by their numbers among all runs.
  runsOn(problem) {
    return this.runs.flatMap((run, i) => (run.problem === problem ? [i] : []));
  }

  async open(problem, sides, moment) {
    this.problem.value = problem;
    const runs = this.runsOn(problem);
    const known = (run, otherwise) => (runs.includes(run) ? run : otherwise);
    // Another problem keeps the agents, where they ran on it, too.
    const same = (side) => runs.find((i) => this.isSame(this.runs[i], this.runs[this.chosen[side]]));
    const first = known(sides ? sides[0] : same(0), runs[0]);
    const second = known(sides ? sides[1] : same(1), this.rivalOf(first, runs));
    this.moment = moment ?? 0;
    await this.choose(0, first, second);
  }

  // Who is shown beside a run if nobody is named: another agent, under the same budget if there is one.
  rivalOf(first, runs) {
    const rivals = runs.filter((i) => this.runs[i].label !== this.runs[first].label);
    return rivals.find((i) => this.runs[i].budget === this.runs[first].budget) ?? rivals[0] ?? runs.find((i) => i !== first) ?? first;
  }

  isSame(one, other) {
    return other !== undefined && one.label === other.label && one.budget === other.budget;
  }

  // Show a run on one side; with a third argument another one on the other side, too.
  async choose(side, run, other = null) {
    const wish = ++this.latest;
    this.chosen[side] = run;
    if (other !== null) this.chosen[1 - side] = other;
    const films = await Promise.all(this.chosen.map((number) => this.film(number)));
    if (wish !== this.latest) return;
    const runs = this.runsOn(this.runs[this.chosen[0]].problem);
    this.end = Math.max(...films.map((film) => film.moves));
    this.shown = runs.length > 1 ? films : films.slice(0, 1);
    this.panes[1].element.hidden = runs.length < 2;
    this.element.classList.toggle("alone", runs.length < 2);
    this.shown.forEach((film, i) => {
      setOptions(this.panes[i].agent, runs.map((n) => [n, this.nameOf(this.runs[n])]), this.chosen[i]);
      this.panes[i].agent.disabled = runs.length < 2;
      this.panes[i].show(film, this.layers);
      this.panes[i].measure();
    });
    this.slider.max = this.number.max = this.end;
    this.length.textContent = ` of ${WHOLE.format(this.end)}`;
    this.explain(this.shown);
    this.seek(Math.min(this.moment, this.end));
    this.element.dataset.ready = "yes";
  }

  nameOf(run) {
    return run.limit === null ? run.label : `${run.label}, ${run.budget}`;
  }

  async film(number) {
    if (!this.films.has(number)) {
      const run = this.runs[number], problem = this.problems[run.problem], map = this.maps[problem.map];
      const [walls, columns] = await Promise.all([this.cells(problem.map), unpack(run.data)]);
      const film = new (problem.units ? SquadFilm : Film)(map, walls, problem, run, columns);
      this.films.set(number, film);
      if (this.films.size > KEPT) this.films.delete(this.films.keys().next().value); // the oldest: on large maps they are large
    }
    return this.films.get(number);
  }

  async cells(map) {
    if (!this.walls.has(map)) this.walls.set(map, (await unpack(this.maps[map].cells)).walls);
    return this.walls.get(map);
  }

  // The legend, and what can be switched off: what the runs of either side have.
  explain(films) {
    const p = this.palette, { units, changes } = films[0].problem;
    const any = (layer) => films.some((film) => film.has(layer));
    for (const [layer, label] of this.ticks) label.hidden = !any(layer);
    const solo = () => [["agent", p.agent, "disc"], ["start", p.start, "disc"], ["goal", p.goal, "star"],
      any("subgoal") && ["subgoal or target", p.subgoal, "diamond"], ["trail", p.trail, "line"], any("plan") && ["plan", p.subgoal, "dashes"],
      any("expanded") && ["expanded for this move", p.expanded],
      ...(any("learned") ? [["learned h, little", p.ground[4]], ["much", p.ground[p.ground.length - 1]]] : [])];
    const squad = () => [["unit", p.units[1], "disc"], ["stands still", p.units[1], "square"], ["its goal", p.units[1], "ring"]];
    const all = [...(units ? squad() : solo()), ["wall", p.wall], any("fog") && ["not seen", p.fog[0]], changes.length && ["changed", p.changed]];
    this.legend.replaceChildren(...all.filter(Boolean).map(([text, colour, shape]) => {
      const sample = make("i", { class: `sample ${shape || "tile"}` });
      sample.style.setProperty("--own", rgb(colour));
      return make("li", {}, sample, text);
    }));
  }

  seek(moment) {
    if (!this.shown) return;
    this.moment = Math.max(0, Math.min(Math.round(moment) || 0, this.end));
    this.slider.value = this.number.value = this.moment;
    this.draw();
    if (!this.playing) this.note();
  }

  draw() {
    if (!this.shown) return;
    this.shown.forEach((film, i) => {
      this.panes[i].seek(Math.min(this.moment, film.moves));
      this.panes[i].draw(this.zoom);
      this.panes[i].tell();
    });
  }

  resize() {
    if (!this.shown) return;
    this.shown.forEach((_, i) => this.panes[i].measure());
    this.draw();
  }

  step(moves) {
    this.stop();
    this.seek(this.moment + moves);
  }

  // Go to the nearest moment at which one of the agents searches.
  jump(direction) {
    this.stop();
    for (let m = this.moment + direction; m >= 0 && m <= this.end; m += direction) {
      if (this.shown.some((film) => m <= film.moves && film.isSearch(m))) return this.seek(m);
    }
  }

  toggle() {
    if (this.playing) return this.stop();
    if (this.moment >= this.end) this.seek(0);
    this.playing = true;
    this.play.textContent = "stop";
    let last = performance.now(), owed = 0;
    const frame = (now) => {
      owed += (now - last) / 1000 * this.speed;
      last = now;
      if (owed >= 1) {
        this.seek(this.moment + Math.floor(owed));
        owed %= 1;
      }
      if (this.moment >= this.end) this.stop();
      else this.nextFrame = requestAnimationFrame(frame);
    };
    this.nextFrame = requestAnimationFrame(frame);
  }

  stop() {
    if (!this.playing) return;
    cancelAnimationFrame(this.nextFrame); // another start must not find it under way
    this.playing = false;
    this.play.textContent = "play";
    this.note();
  }

  look(zoom) {
    this.zoom = zoom;
    this.draw();
  }

  setLayer(name, on) {
    this.layers[name] = on;
    this.shown?.forEach((_, i) => this.panes[i].paintAll());
    this.draw();
  }

  faster(direction) {
    const next = SPEEDS.indexOf(this.speed) + direction;
    if (next in SPEEDS) this.tempo.value = this.speed = SPEEDS[next];
  }

  press(event) {
    // In a field, keys belong to the field; a button takes the space bar for itself.
    const inField = ["SELECT", "INPUT"].includes(event.target.tagName) && event.target !== this.slider;
    if (inField || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    const many = event.shiftKey ? 10 : 1;
    const acts = {
      " ": () => this.toggle(), ArrowLeft: () => this.step(-many), ArrowRight: () => this.step(many),
      Home: () => this.step(-this.end), End: () => this.step(this.end), n: () => this.jump(1), p: () => this.jump(-1),
      "+": () => this.faster(1), "-": () => this.faster(-1),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }

  // The address of the page names the moment, so that it can be sent to somebody.
  address() {
    const [a, b] = this.chosen;
    return `#problem=${this.problem.value}&a=${a}&b=${b}&move=${this.moment}`;
  }

  // Put it up when things have come to rest: browsers refuse an address that changes too often.
  note() {
    clearTimeout(this.noting);
    this.noting = setTimeout(() => history.replaceState(null, "", this.address()), 200);
  }

  // Go where the address says, as far as there is such a place; null if it says nothing.
  follow() {
    const said = new URLSearchParams(location.hash.slice(1));
    if (!said.has("problem")) return null;
    const problem = Number(said.get("problem"));
    const runs = ["a", "b"].map((name) => Number(said.get(name) ?? -1));
    return this.open(problem in this.problems ? problem : 0, runs, Number(said.get("move")));
  }
}
