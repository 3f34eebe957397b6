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
