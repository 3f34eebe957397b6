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
