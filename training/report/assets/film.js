"use strict";
// A run, unpacked: where the agent or the units are after every move, what was believed of the map, what was learned.
// Moment m is the one after m moves: the agent has decided on the next one and not made it yet.

const FREE = 0, WALL = 1, UNSEEN = 2;

// What happens to the cells of a map, move by move. Each event keeps what it replaces, so that time runs both ways.
class Timeline {
  constructor(first) {
    this.first = first;
    this.now = first.slice(); // the values after all that was entered
    this.begin = [0];
    this.cell = [];
    this.before = [];
    this.after = [];
  }

  enter(cell, value) {
    if (this.now[cell] === value) return;
    this.cell.push(cell);
    this.before.push(this.now[cell]);
    this.after.push(value);
    this.now[cell] = value;
  }

  endMoment() {
    this.begin.push(this.cell.length);
  }

  // Bring values from the end of one moment to that of another; touch is told of every cell that changes. The moment
  // before the first is -1, when nothing has happened yet.
  seek(values, from, to, touch) {
    for (let i = this.begin[from + 1]; i < this.begin[to + 1]; i++) {
      values[this.cell[i]] = this.after[i];
      touch(this.cell[i]);
    }
    for (let i = this.begin[from + 1] - 1; i >= this.begin[to + 1]; i--) {
      values[this.cell[i]] = this.before[i];
      touch(this.cell[i]);
    }
  }
}

// What is known of the map at every moment. The rules are those of rt_gym.truth and rt_gym.belief: changes that are due
// happen, one under an agent when it has left; then all cells within the radius are seen, and walls hide nothing.
function believe(map, walls, problem, moments, positionsAt) {
  const truth = Uint8Array.from(walls);
  const belief = new Timeline(problem.vision === null ? truth : new Uint8Array(truth.length).fill(UNSEEN));
  const changes = problem.changes.filter(([, x, y]) => inside(map, x, y)).sort((a, b) => a[0] - b[0]);
  Object.assign(belief, { seen: 0, seenAt: [] }); // how many cells were seen, up to now and up to every moment
  const waiting = new Set(); // cells that close when they are left
  let due = 0;
  const edit = (cell, value) => {
    truth[cell] = value;
    if (problem.vision === null) belief.enter(cell, value);
  };
  for (let moment = 0; moment < moments; moment++) {
    const positions = positionsAt(moment);
    const occupied = new Set(changes.length ? positions.map(([x, y]) => cellOf(map, x, y)) : []);
    for (const cell of [...waiting]) if (!occupied.has(cell)) waiting.delete(cell), edit(cell, WALL);
    for (; due < changes.length && changes[due][0] <= moment; due++) {
      const [, x, y, free] = changes[due], cell = cellOf(map, x, y);
      if (!occupied.has(cell)) edit(cell, free ? FREE : WALL);
      else if (free) waiting.delete(cell);
      else waiting.add(cell);
    }
    if (problem.vision !== null) for (const [x, y] of positions) look(map, problem.vision, x, y, truth, belief);
    belief.endMoment();
    belief.seenAt.push(belief.seen);
  }
  return belief;
}

function look(map, vision, x, y, truth, belief) {
  const top = Math.max(y - vision, map.top), bottom = Math.min(y + vision, map.top + map.height - 1);
  for (let row = top; row <= bottom; row++) {
    const reach = map.connectivity === 8 ? vision : vision - Math.abs(row - y);
    const first = Math.max(x - reach, map.left), last = Math.min(x + reach, map.left + map.width - 1);
    for (let column = first; column <= last; column++) {
      const cell = cellOf(map, column, row);
      if (belief.now[cell] === UNSEEN) belief.seen++;
      belief.enter(cell, truth[cell]);
    }
  }
}

function inside(map, x, y) {
  return x >= map.left && y >= map.top && x < map.left + map.width && y < map.top + map.height;
}

function cellOf(map, x, y) {
  return (y - map.top) * map.width + x - map.left;
}

function sums(numbers) {
  const totals = new Float64Array(numbers.length + 1);
  for (let i = 0; i < numbers.length; i++) totals[i + 1] = totals[i] + numbers[i];
  return totals;
}

// One agent. Of entry m of a column, which is the decision at moment m, there may be one more than moves: the run then
// ended in the middle of it.
class Film {
  constructor(map, walls, problem, run, columns) {
    Object.assign(this, { map, walls, problem, run, columns });
    this.moves = columns.step.length;
    this.walk(map.cost === "unit" ? 1 : Math.SQRT2);
    this.expanded = sums(columns.expansions);
    this.scanned = sums(columns.scans);
    this.spanBegin = sums(columns.spans);
    this.belief = believe(map, walls, problem, this.moves + 1, (m) => [[this.x[m], this.y[m]]]);
    this.learned = this.learn();
    this.hottest = Math.max(64, this.learned.after.reduce((most, heat) => Math.max(most, heat), 0));
  }

  walk(diagonal) {
    const step = this.columns.step;
    this.x = new Int32Array(this.moves + 1).fill(this.problem.start[0]);
    this.y = new Int32Array(this.moves + 1).fill(this.problem.start[1]);
    this.cost = new Float64Array(this.moves + 1);
    for (let m = 0; m < this.moves; m++) {
      const dx = (step[m] % 3) - 1, dy = Math.floor(step[m] / 3) - 1;
      this.x[m + 1] = this.x[m] + dx;
      this.y[m + 1] = this.y[m] + dy;
      this.cost[m + 1] = this.cost[m] + (dx && dy ? diagonal : 1); // standing still costs a straight step
    }
  }

  // Values belong to the goal that is pursued: when it becomes another one, those of the former are put away.
  learn() {
    const { pursued, rises, rise_cell, rise_heat } = this.columns;
    const learned = new Timeline(new Int32Array(this.map.width * this.map.height));
    const shelf = new Map();
    let own = new Map(), goal = null, next = 0;
    for (let m = 0; m <= this.moves; m++) {
      if (m < pursued.length && pursued[m] !== goal) {
        for (const cell of own.keys()) learned.enter(cell, 0);
        goal = pursued[m];
        if (!shelf.has(goal)) shelf.set(goal, new Map());
        own = shelf.get(goal);
        for (const [cell, heat] of own) learned.enter(cell, heat);
      }
      for (const end = next + (rises[m] || 0); next < end; next++) {
        own.set(rise_cell[next], Math.max(0, rise_heat[next]));
        learned.enter(rise_cell[next], Math.max(0, rise_heat[next]));
      }
      learned.endMoment();
    }
    return learned;
  }

  eachExpanded(m, visit) {
    const { span_cell, span_length, spans } = this.columns;
    for (let i = this.spanBegin[m]; m < spans.length && i < this.spanBegin[m + 1]; i++) {
      for (let k = 0; k < span_length[i]; k++) visit(span_cell[i] + k);
    }
  }

  isSearch(m) {
    return m < this.columns.expansions.length && this.columns.expansions[m] > 0;
  }

  // Up to which moment the plan was followed: to its end, or until the agent planned anew because the map was not as it
  // had believed. Where the plan would have gone from there is not known.
  planEnd(m) {
    if (m >= this.moves || this.run.policy) return m;
    const { committed, reason } = this.columns, last = Math.min(this.moves, m + 1 + committed[m]);
    let end = m + 1;
    while (end < last && reason[end] !== 0) end++;
    return end;
  }

  // Whether there is anything of a layer, so that it can be switched off and is explained.
  has(layer) {
    const { span_cell, rise_cell, target, pursued } = this.columns;
    const goal = cellOf(this.map, ...this.problem.goal);
    const shows = { fog: () => this.problem.vision !== null, trail: () => true, plan: () => !this.run.policy,
      expanded: () => span_cell.length > 0, learned: () => rise_cell.length > 0,
      subgoal: () => [target, pursued].some((cells) => cells.some((cell) => cell >= 0 && cell !== goal)) };
    return shows[layer]();
  }

  spent(m) {
    const column = this.run.counted === "scans" ? this.columns.scans : this.columns.expansions;
    return m < column.length ? column[m] : 0;
  }

  follow(m) {
    return [this.x[m], this.y[m]];
  }

  // What is said beside the picture: names, texts, and what the names mean.
  counts(m) {
    const decided = Math.min(m + 1, this.columns.expansions.length);
    const rows = [
      ["position", `${this.x[m]}, ${this.y[m]}`, "Where it stands, x and y"],
      ["cost", digits(this.cost[m]), "Of the moves made; standing still costs a straight step"],
      ["expansions", WHOLE.format(m < this.columns.expansions.length ? this.columns.expansions[m] : 0), "For the next move"],
      ["in all", WHOLE.format(this.expanded[decided]), "Expansions up to now"],
      ["per move", digits(this.expanded[decided] / Math.max(1, decided)), "Expansions per move up to now"],
      ["scans", WHOLE.format(this.scanned[decided]), "Neighbourhoods read up to now"],
    ];
    return [...rows, ...seenRow(this, m)];
  }

  story(m) {
    if (m === this.moves) {
      if (this.moves < this.run.moves) return `Recorded to here: ${WHOLE.format(this.run.moves)} moves in all.`;
      const quality = this.problem.optimal ? `, ${(this.run.cost / this.problem.optimal).toFixed(3)} times the optimum` : "";
      return this.run.outcome === "goal" ? `Goal reached at a cost of ${digits(this.run.cost)}${quality}.` : ENDS[this.run.outcome];
    }
    if (this.columns.reason[m] === 2) return "It lost this move to its budget.";
    if (this.x[m] === this.x[m + 1] && this.y[m] === this.y[m + 1]) return this.run.policy && this.isSearch(m) ? "It thinks." : "It stands still.";
    if (this.run.policy) return "It moves.";
    const left = this.columns.committed[m];
    const rest = left ? `, ${plural(left, "move")} of the plan to come` : "";
    return (this.columns.reason[m] === 0 ? "It has planned" : "It follows its plan") + rest + ".";
  }
}

function seenRow(film, m) {
  return film.problem.vision === null ? [] : [["seen", WHOLE.format(film.belief.seenAt[m]), "Cells that have been seen up to now"]];
}

const ENDS = {
  "out of moves": "Not at the goal: no moves left.",
  "no path": "Not at the goal: no way is known.",
  overrun: "Not at the goal: the budget is too small for a move.",
  cut: "Not at the goal: the episode was cut.",
};

// A squad: a moment is a tick, and what is spent was spent in the tick that led to it.
class SquadFilm {
  constructor(map, walls, problem, run, columns) {
    Object.assign(this, { map, walls, problem, run, columns });
    this.units = problem.units.length;
    this.moments = columns.work.length;
    this.moves = this.moments - 1;
    this.expanded = sums(columns.work);
    this.belief = believe(map, walls, problem, this.moments, (m) => this.positions(m));
    this.learned = new Timeline(new Int32Array(map.width * map.height));
    for (let m = 0; m < this.moments; m++) this.learned.endMoment();
    this.hottest = 1;
  }

  // Columns are stored unit by unit, because a unit moves little from tick to tick.
  at(unit, m) {
    const i = unit * this.moments + m;
    return [this.columns.x[i], this.columns.y[i]];
  }

  positions(m) {
    return Array.from({ length: this.units }, (_, unit) => this.at(unit, m));
  }

  state(unit, m) {
    const [x, y] = this.at(unit, m), [goalX, goalY] = this.problem.units[unit];
    if (x === goalX && y === goalY) return "arrived";
    const [lastX, lastY] = this.at(unit, Math.max(0, m - 1));
    return m > 0 && x === lastX && y === lastY ? "standing" : "moving";
  }

  eachExpanded() {}

  has(layer) {
    return layer === "fog" && this.problem.vision !== null;
  }

  isSearch(m) {
    return m > 0 && this.columns.work[m] > 0;
  }

  spent(m) {
    return this.columns.work[m];
  }

  follow(m) {
    return this.at(0, m);
  }

  counts(m) {
    const states = Array.from({ length: this.units }, (_, unit) => this.state(unit, m));
    const number = (state) => states.filter((one) => one === state).length;
    return [
      ["arrived", `${number("arrived")} of ${this.units}`, "Units on their goals"],
      ["stand still", WHOLE.format(number("standing")), "Units under way that did not move in the last tick"],
      ["no share", WHOLE.format(this.columns.unserved[m]), "Units that had to plan and were given nothing"],
      ["expansions", WHOLE.format(this.columns.work[m]), "Of all units in the last tick"],
      ["in all", WHOLE.format(this.expanded[m + 1]), "Expansions up to now"],
      ...seenRow(this, m),
    ];
  }

  story(m) {
    if (m < this.moves) return "";
    return this.run.outcome === "goal" ? `All arrived, at a cost of ${digits(this.run.cost)} together.` : "Not all have arrived.";
  }
}
