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
