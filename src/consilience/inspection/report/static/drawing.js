// Parts of drawings: elements of SVG, the colours and shapes of clusters, names that fit.

const LETTERS = '"DejaVu Sans", Verdana, "Noto Sans", "Segoe UI", sans-serif';
const DARK = matchMedia("(prefers-color-scheme: dark)");
const ruler = document.createElement("canvas").getContext("2d");

/** Set attributes of an element. */
function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** Set an attribute, unless it has the value already: while the cut moves, most colours stay. */
function keep(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Add an element of SVG. */
function draw(parent, tag, attributes = {}) {
  return parent.appendChild(set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes));
}

/** Add an element of HTML with a text. */
function add(parent, tag, text = "", attributes = {}) {
  const element = parent.appendChild(set(document.createElement(tag), attributes));
  element.textContent = text;
  return element;
}

/** A name of any script as an element that keeps its direction to itself. */
function nameOf(text) {
  const element = document.createElement("bdi");
  element.textContent = text;
  return element;
}

/** Colour of a cluster; black is a variable of the style sheet, white on dark screens. Items of none are grey. */
function colourOf(look, label) {
  if (label < 0) return "#8c8c8c";
  return look.colours[label % look.colours.length];
}

/** Outline of a cluster's shape in a box from -1 to 1, and its size relative to a circle. */
function shapeOf(look, label) {
  return look.shapes[Math.max(label, 0) % look.shapes.length];
}

/** The marker of a cluster as in the tables. */
function swatch(look, label) {
  const box = { class: "swatch", viewBox: "-1.2 -1.2 2.4 2.4", "aria-hidden": "true" };
  const svg = draw(document.createDocumentFragment(), "svg", box);
  draw(svg, "path", { d: shapeOf(look, label)[0], fill: colourOf(look, label) });
  return svg;
}

/** Value of a variable of the style sheet. */
function variable(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** A colour for a canvas or a file, which know no variables: that of light paper, unless the screen's is wanted. */
function plain(colour, onScreen = false) {
  return colour.replace(/var\(--([\w-]+), ([^()]*)\)/g, (_, name, light) => (onScreen && variable(name)) || light);
}

/** Width of a text in pixels. */
function widthOf(text, size) {
  ruler.font = `${size}px ${LETTERS}`;
  return ruler.measureText(text).width;
}

/** A text cut to a width, with an ellipsis for what is left out; of its end, so many letters stay, but at most half. */
function fitting(text, size, most, ofEnd = 0) {
  if (widthOf(text, size) <= most) return text;
  const letters = [...text];
  const cut = (kept) => {
    const tail = Math.min(ofEnd, Math.floor(kept / 2));
    const end = tail ? letters.slice(-tail).join("").trimStart() : "";
    return `${letters.slice(0, kept - tail).join("").trimEnd()}…${end}`;
  };
  let [low, high] = [0, letters.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (widthOf(cut(middle), size) <= most) low = middle;
    else high = middle - 1;
  }
  return cut(low);
}

/** The end of a text from the first word on in which it is unlike another; empty if the other goes on with more. */
function endUnlike(text, other) {
  let shared = 0;
  while (shared < text.length && text[shared] === other[shared]) shared++;
  const isWithin = text.slice(shared, shared + 1).trim() !== "";
  return text.slice(isWithin ? text.slice(0, shared).lastIndexOf(" ") + 1 : shared).trim();
}

/** Call a function when the width of an element changes, and now. */
function whenResized(element, listener) {
  let width = 0;
  new ResizeObserver(() => {
    const found = element.clientWidth;
    if (found && found !== width) {
      width = found;
      listener(width);
    }
  }).observe(element);
}
