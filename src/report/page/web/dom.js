// Elements and text. All text is inserted here, as text: characters that would not be visible or reorder others are escaped.

const UNSAFE = new RegExp(document.body.dataset.escaped, "gu");

// A text that is not too long to show: of a longer one, its beginning and its end, in which names differ.
function short(text, most) {
  if (text.length <= most) return text;
  const part = Math.floor(most / 2);
  return `${text.slice(0, part).toWellFormed()} … ${number(text.length - 2 * part)} characters … ${text.slice(-part).toWellFormed()}`;
}

const shown = (text) => short(String(text), 2000).replace(UNSAFE, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

// An element with attributes and children; a child is a node, a text, a list of children, or absent.
function el(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (value !== undefined && value !== null) element.setAttribute(name, shown(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }
  return element;
}

// A name of the model: its direction does not change that of the text around it.
const name = (text, attributes = {}) => el("bdi", { class: "mono", ...attributes }, short(String(text), 300));

// A path of a node or value: where it is, and its name, which may begin with a slash. If it is too long for its line, the middle is left out.
function placeOf(path) {
  const [, scope, rest] = /^((?:graph|function\/[^/]*)(?:\/|$))(.*)$/s.exec(path) ?? [null, "", path];
  const text = short(rest, 300);
  const [start, end] = [text.slice(0, -TAIL).toWellFormed(), text.slice(-TAIL).toWellFormed()];
  return el("bdi", { class: "mono path" }, el("span", { class: "head" }, el("span", { class: "faint" }, scope), start), el("span", {}, end));
}

// The characters at the end of a path that are always shown.
const TAIL = 24;
const fileOf = (path) => path.split(/[\\/]/).pop();

const NUMBERS = new Intl.NumberFormat("en-GB");
const number = (count) => NUMBERS.format(count);
const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

function bytes(count) {
  let [size, unit] = [count, "B"];
  for (const next of ["KiB", "MiB", "GiB", "TiB"]) {
    if (size < 1024) break;
    [size, unit] = [size / 1024, next];
  }
  return unit === "B" ? `${number(count)} B` : `${size.toFixed(1)} ${unit}`;
}

// A cell with a number; `of` says which number of the JSON it is.
const cell = (count, of, text = number(count)) => el("td", { class: "number", "data-of": of, "data-value": count, title: number(count) }, text);

// A table in a box that scrolls if it is too wide.
function table(attributes, heads, rows, foot = []) {
  const head = el("tr", {}, heads.map(([text, style]) => el("th", { scope: "col", class: style }, text)));
  return el("div", { class: "scroll" },
    el("table", attributes, el("thead", {}, head), el("tbody", {}, rows), foot.length ? el("tfoot", {}, foot) : null));
}

const section = (title, ...children) => el("section", {}, el("h2", {}, title), children);

// Text with code between backticks.
const inline = (text) => String(text).split("`").map((part, index) => (index % 2 ? el("code", {}, part) : part));

// The Markdown of the documentation of a rule: headings, paragraphs, lists, code.
function markdown(text) {
  const blocks = [];
  let [code, lines] = [null, []];
  const flush = () => {
    if (lines.length) blocks.push(el("p", {}, inline(lines.join(" ").replaceAll("**", ""))));
    lines = [];
  };
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) {
      flush();
      // A line break of a text would be escaped.
      if (code) blocks.push(el("pre", {}, code.map((text, index) => [index ? document.createTextNode("\n") : null, text])));
      code = code ? null : [];
    } else if (code) {
      code.push(line);
    } else if (line.startsWith("#")) {
      flush();
      blocks.push(el("h3", {}, line.replace(/^#+ */, "")));
    } else if (/^\s*([-*]|\d+\.) /.test(line) || line.startsWith("|")) {
      flush();
      lines.push(line);
    } else if (line.trim() === "") {
      flush();
    } else {
      lines.push(line.trim());
    }
  }
  flush();
  return blocks;
}

// What scrolls can be scrolled with the keyboard, and nothing else is a stop of the Tab key. Its label is the heading before it.
function focusable(page) {
  const labels = new Map();
  let heading = "";
  for (const box of page.querySelectorAll("h1, h2, h3, .scroll, .drawing, pre")) {
    if (box.tagName.startsWith("H")) {
      heading = box.textContent;
      continue;
    }
    const same = (labels.get(heading) ?? 0) + 1;
    labels.set(heading, same);
    const scrolls = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
    const attributes = { tabindex: "0", role: "region", "aria-label": same > 1 ? `${heading} (${same})` : heading };
    for (const [attribute, value] of Object.entries(attributes)) {
      if (scrolls) box.setAttribute(attribute, value);
      else box.removeAttribute(attribute);
    }
  }
}
