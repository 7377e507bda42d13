// Figures of the explorer as they leave the page, for files and for paper: with a title, their axes and their key.

const LINE = 16; // pixels from line to line of a key
const KEY_NAME = 11; // pixels of the letters of a key

/**
 * A drawing with a title above it, and below it further drawings and the clusters with their colours and shapes.
 * `below` are pairs of a drawing's height and a function that draws it into an element, given its width.
 */
function withKey(svg, state, title, below = []) {
  const [, , width, height] = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number);
  const whole = draw(document.createDocumentFragment(), "svg", { role: "img", "aria-label": title });
  const text = { "font-size": KEY_NAME, fill: "var(--ink, #1b1b1b)" };
  const lines = wrapped(title, width - 8);
  lines.forEach((line, place) => (draw(whole, "text", { ...text, x: 4, y: 12 + place * LINE }).textContent = line));
  let top = lines.length * LINE + 6;
  const copy = whole.appendChild(svg.cloneNode(true));
  for (const name of ["tabindex", "role", "aria-label", "aria-roledescription", "style"]) copy.removeAttribute(name);
  set(copy, { x: 0, y: top, width, height });
  top += height + 8;
  for (const [tall, drawInto] of below) {
    drawInto(draw(whole, "g", { transform: `translate(0 ${top})` }), width);
    top += tall;
  }
  top = drawClusters(draw(whole, "g"), state, width, top);
  return set(whole, { viewBox: `0 0 ${width} ${top}`, width, height: top });
}

/** Write the clusters that are shown, with how many items each has, in as many lines as they need; return the end. */
function drawClusters(group, state, width, top) {
  const { look } = state.data;
  const text = { "font-size": KEY_NAME, fill: "var(--ink, #1b1b1b)" };
  let [x, y] = [4, top];
  for (const [label, items] of state.parts()) {
    const words = fitting(`${state.titleOf(label)}: ${items.length}`, KEY_NAME, width - 30);
    const wide = widthOf(words, KEY_NAME) + 30;
    if (x > 4 && x + wide > width) [x, y] = [4, y + LINE];
    const [d, scale] = shapeOf(look, label);
    const transform = `translate(${x + 5} ${y + 8}) scale(${4.5 * scale})`;
    draw(group, "path", { d, transform, fill: colourOf(look, label) });
    draw(group, "text", { ...text, x: x + 14, y: y + 12 }).textContent = words;
    x += wide;
  }
  return y + LINE + 4;
}

/** Break a text into lines of a width. */
function wrapped(text, width) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (lines.at(-1) && widthOf(longer, KEY_NAME) > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** On paper, figures that were changed on the page take the place of those that the report has without scripts. */
class Paper {
  /** `views` have a function `onPaper`, which returns nothing, or a figure: `keys` of the still ones, `svg`, `caption`. */
  constructor(state, views) {
    Object.assign(this, { state, views, added: [] });
    addEventListener("beforeprint", () => this.show());
    addEventListener("afterprint", () => this.hide());
  }

  show() {
    this.hide();
    document.body.classList.toggle("cut-printed", this.state.ofCut);
    for (const { keys, svg, caption } of this.views.map((view) => view.onPaper()).filter(Boolean)) {
      const stills = keys.map((key) => document.getElementById(`${key}-figure`)).filter(Boolean);
      if (!stills.length) continue;
      const figure = set(document.createElement("figure"), { class: "block printed" });
      figure.append(svg);
      add(figure, "figcaption", caption);
      stills[0].before(figure);
      stills.forEach((still) => still.classList.add("replaced"));
      this.added.push([figure, stills]);
    }
  }

  hide() {
    document.body.classList.remove("cut-printed");
    for (const [figure, stills] of this.added) {
      figure.remove();
      stills.forEach((still) => still.classList.remove("replaced"));
    }
    this.added = [];
  }
}
