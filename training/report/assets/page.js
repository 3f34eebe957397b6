// The page: what is shown in which order. A page with runs alone has nothing but the replay.

const data = JSON.parse(document.getElementById("data").textContent);

function section(id, title, ...children) {
  return make("section", { id }, make("h2", {}, title), children);
}

function buildReplay() {
  const { runs, missing } = data.replay;
  const notes = missing.map((text) => make("p", { class: "soft" }, text));
  if (!runs.length) return section("replay", "Replay", make("p", {}, "No run was recorded to be replayed."), notes);
  const replay = new Replay(data.replay, data.palette);
  window.replay = replay; // for the console, and for what steps through a page by a program
  return section("replay", "Replay", replay.element, notes);
}

function build() {
  document.title = data.title;
  const page = document.getElementById("page");
  page.append(make("h1", {}, data.title));
  const parts = [];
  for (const one of data.comparisons) parts.push(...new Comparison(one, data).sections());
  if (data.replay) parts.push(buildReplay());
  page.append(...parts);
  if (window.replay && !window.replay.follow()) window.replay.open(0);
}

build();
