// The map of the items, and what the map and the matrix share: zooming and dragging.

const ZOOM_KEYS = { "+": 1, "=": 1, "-": -1, "0": 0 };
const MAP_NAME = 11; // pixels of the letters of a name
const LARGEST_ZOOM = 40;
const MOST_LED = 30; // items up to which names without room beside their points stand at the end of a line
const LED = [22, 34, 48, 64, 82, 102]; // pixels from a point to such a name
const N_TURNS = 24; // directions of the line

/** Let the buttons of a panel zoom. */
function addZoom(panel, zoom) {
  for (const button of panel.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => zoom(Number(button.dataset.zoom)));
  }
}

/**
 * Tell drags from clicks, and turn the wheel with Ctrl into zooming; without Ctrl the page scrolls as usual.
 * `start` returns what `move` needs, with the distance in pixels; `click` and `wheel` get the event.
 */
function listenToDrags(element, { start, move, click, wheel }) {
  let drag = null;
  element.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    drag = { x: event.clientX, y: event.clientY, from: start(), far: false };
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    drag.far ||= Math.hypot(x, y) > 4;
    if (drag.far) move(drag.from, x, y);
  });
  const end = (event) => {
    if (drag && !drag.far && event.type === "pointerup") click(event);
    drag = null;
  };
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
  const turn = (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    wheel(Math.sign(-event.deltaY), event);
  };
  element.addEventListener("wheel", turn, { passive: false });
}

class MapView {
  constructor(state, panel) {
    this.state = state;
    this.panel = panel;
    this.holder = panel.querySelector(".map-holder");
    this.zoomed = { scale: 1, x: 0, y: 0 };
    const files = { svg: () => svgText(this.drawing()), csv: () => this.savePoints() };
    addFiles(panel.querySelector(".save"), "map", "map", files);
    addZoom(panel, (step) => this.zoom(step));
    this.layers = new MapLayers(state, panel, () => this.place());
    this.outlined = this.layers.shown.outlines; // as the figure of the page
    this.build();
    this.listen();
    whenResized(this.holder, () => this.place());
    state.when("clusters", () => {
      this.paint();
      if (this.layers.shown.outlines) this.light(); // whose names are those of the clusters
    });
    state.when("lit", () => this.show());
  }

  build() {
    const { data, n } = this.state;
    const { items } = data.readers;
    this.svg = draw(this.holder, "svg", {
      ...{ tabindex: 0, role: "application", "aria-roledescription": "map" },
      "aria-label": `Map of ${n} ${items}: plus and minus zoom, arrow keys move; the table of all ${items} has them in words`,
    });
    this.radius = Math.min(Math.max(7 - 0.8 * Math.log2(Math.max(n, 30) / 30), 3.2), 6);
    this.axes = data.axes.map((_, axis) =>
      draw(this.svg, "text", { "font-size": 10, fill: "var(--soft, #3d3d3d)", "text-anchor": axis ? "end" : "start" }),
    );
    this.layers.build(this.svg);
    this.rings = draw(this.svg, "g");
    this.lines = draw(this.svg, "g", { stroke: "var(--faint, #767676)", "stroke-width": 0.8 }); // to names
    this.points = data.items.map((_, item) =>
      draw(this.svg, "path", { "data-item": item }),
    );
    this.images = data.items.map((_, item) => {
      const href = pictureOf(data, item);
      return href ? draw(this.svg, "image", { href, width: THUMBNAIL, height: THUMBNAIL, "data-picture": item }) : null;
    });
    this.names = data.items.map((_, item) => {
      const text = draw(this.svg, "text", { "font-size": MAP_NAME, fill: "var(--ink, #1b1b1b)" });
      text.textContent = this.state.fitting(item, MAP_NAME, 190);
      return text;
    });
    this.widths = this.names.map((text) => widthOf(text.textContent, MAP_NAME));
  }

  /** Place of each item on the screen. */
  place() {
    this.width = this.holder.clientWidth;
    if (!this.width) return;
    this.height = Math.round(Math.max(0.8 * this.width, 300));
    const bounds = this.layers.axes.map((axis) => this.layers.bounds(axis));
    const [wide, tall] = bounds.map(([low, high]) => high - low || 1);
    this.unit = Math.min((this.width - 90) / wide, (this.height - 60) / tall);
    this.middle = bounds.map(([low, high]) => (low + high) / 2);
    set(this.svg, { viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height });
    const [across, up] = this.layers.axes;
    this.axes[0].textContent = `→ ${this.state.data.axes[across]}`;
    this.axes[1].textContent = `↑ ${this.state.data.axes[up]}`;
    set(this.axes[0], { x: this.width - 4, y: this.height - 5, "text-anchor": "end" });
    set(this.axes[1], { x: 4, y: 12, "text-anchor": "start" });
    this.move();
  }

  move() {
    this.places = this.state.data.points.map((point) => this.onScreen(point));
    this.paint();
    this.light();
  }

  /** Place of a point of all axes on the screen. */
  onScreen(point) {
    const { scale, x, y } = this.zoomed;
    const size = this.unit * scale;
    const [across, up] = this.layers.axes.map((axis) => point[axis]);
    return [
      this.width / 2 + (across - this.middle[0]) * size + x,
      this.height / 2 - (up - this.middle[1]) * size + y,
    ];
  }

  /** Whether the plane shown has too little of the item's distance from the centre to tell it from others. */
  isHardlyShown(item) {
    const { cos2, hardly } = this.state.data;
    return this.layers.axes.reduce((sum, axis) => sum + cos2[item][axis], 0) < hardly;
  }

  paint() {
    if (!this.places) return;
    const { data, labels } = this.state;
    this.points.forEach((point, item) => {
      const [d, scale] = shapeOf(data.look, labels[item]);
      const [x, y] = this.places[item];
      keep(point, "d", d);
      keep(point, "transform", `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${(this.radius * scale).toFixed(2)})`);
      const [colour, paper] = [colourOf(data.look, labels[item]), "var(--paper, #ffffff)"];
      const [fill, stroke, width] = this.isHardlyShown(item) ? [paper, colour, 0.4] : [colour, paper, 0.1];
      keep(point, "fill", fill);
      keep(point, "stroke", stroke);
      keep(point, "stroke-width", width);
    });
    this.layers.paintOutlines(this.places);
    this.layers.paintEllipses((point) => this.onScreen(point), this.unit * this.zoomed.scale);
  }

  light() {
    if (!this.places) return;
    this.rings.replaceChildren();
    for (const item of this.state.lit) {
      const [cx, cy] = this.places[item];
      const ring = { cx, cy, r: this.radius + 4, fill: "var(--lit, #ffe98a)", stroke: "var(--ink, #1b1b1b)" };
      draw(this.rings, "circle", { ...ring, "stroke-width": 1.5 });
    }
    this.name();
  }

  /** Show the pictures and write the names that have room, those of items that are lit up first. */
  name() {
    const taken = this.places.map(([x, y]) => {
      const reach = this.radius + 1;
      return [x - reach, y - reach, x + reach, y + reach];
    });
    const isFree = (box, own) =>
      box[0] > 0 && box[1] > 14 && box[2] < this.width && box[3] < this.height - 14 &&
      taken.every((other, item) => item === own || box[0] >= other[2] || box[2] <= other[0] || box[1] >= other[3] || box[3] <= other[1]);
    taken.push(...this.layers.nameOutlines((box) => isFree(box, null), [this.width, this.height]));
    taken.push(...this.layers.writeWords((point) => this.onScreen(point), (box) => isFree(box, null)));
    const rest = [...this.names.keys()].filter((item) => !this.state.lit.has(item));
    const order = [...this.state.lit, ...rest];
    order.forEach((item) => this.placePicture(item, isFree, taken));
    this.lines.replaceChildren();
    const left = order.filter((item) => !this.placeName(item, isFree, taken));
    if (this.state.n <= MOST_LED) left.forEach((item) => this.leadName(item, isFree, taken));
  }

  /** Show the picture of an item above or below its point, or beside it, if there is room. */
  placePicture(item, isFree, taken) {
    const image = this.images[item];
    if (!image) return;
    const [x, y] = this.places[item];
    const room = this.radius + (this.state.lit.has(item) ? 7 : 3);
    const [half, side] = [THUMBNAIL / 2, THUMBNAIL];
    const corners = [[x - half, y - room - side], [x - half, y + room], [x + room, y - half], [x - room - side, y - half]];
    const box = corners.map(([left, top]) => [left, top, left + side, top + side]).find((found) => isFree(found, item));
    image.setAttribute("visibility", box ? "visible" : "hidden");
    if (!box) return;
    set(image, { x: box[0].toFixed(1), y: box[1].toFixed(1) });
    taken.push(box);
  }

  /** Write the name of an item next to its point if there is room; of one that is lit up, even without; say if so. */
  placeName(item, isFree, taken) {
    const [x, y] = this.places[item];
    const isLit = this.state.lit.has(item);
    const wide = this.widths[item] * (isLit ? 1.12 : 1);
    const room = this.radius + (isLit ? 7 : 3); // beyond the ring
    const sides = [[x + room, y - 6], [x - room - wide, y - 6], [x - wide / 2, y - room - 12], [x - wide / 2, y + room]];
    const boxes = sides.map(([left, top]) => [left, top, left + wide, top + 12]);
    const own = (found) => apart(found, this.places[item]);
    const isFew = this.state.n <= MOST_LED; // all of few are named, so that none seems to be another's name
    const isNearest = (found) => isFew || this.places.every((place, other) => other === item || apart(found, place) >= own(found));
    const box = boxes.find((found) => isFree(found, item) && isNearest(found)) ?? (isLit ? boxes[0] : null);
    const text = this.names[item];
    text.setAttribute("visibility", box ? "visible" : "hidden");
    text.setAttribute("font-weight", isLit ? 700 : 400);
    if (!box) return false;
    set(text, { x: box[0].toFixed(1), y: (box[1] + 10).toFixed(1) });
    taken.push(box);
    return true;
  }

  /** Write the name of an item further off, at the end of a line that leads away from points beside, and crosses none. */
  leadName(item, isFree, taken) {
    const [x, y] = this.places[item];
    if (x < 0 || y < 0 || x > this.width || y > this.height) return;
    const wide = this.widths[item];
    const leads = LED.flatMap((far) => Array.from({ length: N_TURNS }, (_, turn) => [far, (2 * Math.PI * turn) / N_TURNS]));
    const offsets = this.places.map(([left, top]) => [left - x, top - y]);
    const beside = offsets.filter(([across, down], other) => other !== item && Math.hypot(across, down) < 2.5 * this.radius);
    for (const [far, angle] of leads) {
      const [across, down] = [Math.cos(angle), -Math.sin(angle)];
      const [left, top] = [x + far * across - (wide * (1 - across)) / 2, y + far * down - 6 * (1 - down)];
      const box = [left, top, left + wide, top + 12];
      const end = [Math.min(Math.max(x, left), left + wide), Math.min(Math.max(y, top), top + 12)];
      const along = (step) => [x + (end[0] - x) * step, y + (end[1] - y) * step];
      const points = Array.from({ length: far }, (_, step) => along(step / far)).slice(Math.ceil(1.5 * this.radius));
      const line = points.map(([at, level]) => [at - 1.5, level - 1.5, at + 1.5, level + 1.5]);
      const leadsAway = beside.every(([left, top]) => left * across + top * down <= 0);
      if (!leadsAway || !isFree(box, null) || !line.every((one) => isFree(one, item))) continue;
      set(this.names[item], { x: left.toFixed(1), y: (top + 10).toFixed(1), visibility: "visible" });
      draw(this.lines, "line", { x1: x, y1: y, x2: end[0].toFixed(1), y2: end[1].toFixed(1) });
      taken.push(box, ...line);
      return;
    }
  }

  /** Light up what was found, and bring the first into view. */
  show() {
    const [first] = this.state.lit;
    if (first === undefined || !this.places) {
      this.light();
      return;
    }
    const [x, y] = this.places[first];
    if (x < 0 || y < 0 || x > this.width || y > this.height) {
      this.zoomed.x += this.width / 2 - x;
      this.zoomed.y += this.height / 2 - y;
    }
    this.move();
  }

  itemAt(event) {
    const box = this.svg.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const distances = this.places.map(([left, top]) => Math.hypot(left - x, top - y));
    const nearest = distances.indexOf(Math.min(...distances));
    return distances[nearest] < this.radius + 8 ? nearest : null;
  }

  listen() {
    listenToDrags(this.svg, {
      start: () => ({ ...this.zoomed }),
      move: (from, x, y) => this.pan(from.x + x, from.y + y),
      click: (event) => this.pickAt(event),
      wheel: (step, event) => this.zoom(step, event),
    });
    this.svg.addEventListener("pointermove", (event) => {
      const item = this.itemAt(event);
      if (item === null) hideTip();
      else showTip(this.tip(item), event.clientX, event.clientY);
    });
    hideTipAfter(this.svg);
    this.svg.addEventListener("keydown", (event) => this.press(event));
  }

  pickAt(event) {
    const item = this.itemAt(event);
    if (item === null) return;
    this.state.pick(item);
    showTip(this.tip(item), event.clientX, event.clientY);
  }

  reading(item) {
    const { data, labels, noun } = this.state;
    const hardly = this.isHardlyShown(item) ? ", hardly shown by this plane" : "";
    return [nameOf(data.items[item]), `: ${noun} ${this.state.nameOf(labels[item])}${hardly}`];
  }

  /** What an item says, with its picture. */
  tip(item) {
    return [...this.reading(item), ...picturesFor(this.state.data, [item])];
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { x, y } = this.zoomed;
    const moves = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
    const step = ZOOM_KEYS[event.key];
    if (!(event.key in moves) && step === undefined) return;
    event.preventDefault();
    if (step !== undefined) this.zoom(step);
    else this.pan(x + moves[event.key][0], y + moves[event.key][1]);
  }

  pan(x, y) {
    Object.assign(this.zoomed, { x, y });
    this.move();
  }

  /** Middle of the items that are lit up, from the middle of the map; items far out of view do not count. */
  middleOfLit() {
    const half = [this.width / 2, this.height / 2];
    const shown = [...this.state.lit]
      .map((item) => this.places[item].map((at, axis) => at - half[axis]))
      .filter((place) => place.every((at, axis) => Math.abs(at) <= half[axis]));
    return half.map((_, axis) => (shown.length ? shown.reduce((sum, place) => sum + place[axis], 0) / shown.length : 0));
  }

  /** Enlarge or reduce around the pointer, else around the items that are lit up, else the middle; 0 shows all. */
  zoom(step, event) {
    const { scale, x, y } = this.zoomed;
    const found = step ? Math.min(Math.max(scale * (step > 0 ? 1.5 : 1 / 1.5), 1), LARGEST_ZOOM) : 1;
    const box = this.svg.getBoundingClientRect();
    const [across, down] = event
      ? [event.clientX - box.left - this.width / 2, event.clientY - box.top - this.height / 2]
      : this.middleOfLit();
    const kept = (at, place) => (found === 1 ? 0 : place - ((place - at) * found) / scale);
    this.zoomed = { scale: found, x: kept(x, across), y: kept(y, down) };
    this.svg.style.touchAction = found > 1 ? "none" : "pan-y";
    this.move();
  }

  /** What is shown besides the items, in words. */
  inWords() {
    const { outlines, ellipses, words } = this.layers.shown;
    const [across, up] = this.layers.axes.map((axis) => axis + 1);
    const shown = [...(outlines ? ["outlines"] : []), ...(ellipses ? ["ellipses"] : []), ...(words ? ["words of groups"] : [])];
    const more = shown.length ? `, with ${new Intl.ListFormat("en").format(shown)}` : "";
    return `axes ${across} and ${up}${more}; colours: ${this.state.inWords()}`;
  }

  /** The map with a title, the names of its axes, and its key. */
  drawing() {
    return withKey(this.svg, this.state, `Map of the ${this.state.data.readers.items}: ${this.inWords()}`);
  }

  onPaper() {
    const { axes, shown } = this.layers;
    const changed = !this.state.ofReport || shown.outlines !== this.outlined || shown.ellipses || shown.words || axes.join() !== "0,1" || this.zoomed.scale > 1;
    if (!changed || !this.places) return null;
    const about = [...this.panel.querySelectorAll("[data-about]")].filter((text) => shown[text.dataset.about]);
    const caption = [`The map as it was on the page: ${this.inWords()}.`, ...about.map((text) => text.textContent.trim())];
    const ofPlane = axes.join() === "0,2" ? ["map-1-3"] : ["map"];
    const keys = this.state.ofReport ? ofPlane : ["map", "map-1-3"]; // which have the colours of the report's clusters
    return { keys, svg: this.drawing(), caption: caption.join(" ") };
  }

  /** The items in view, with the columns that the map of the page has without scripts, and what else is shown. */
  savePoints() {
    const { data, labels, ofReport, ofCut } = this.state;
    const isShown = (item) => {
      const [x, y] = this.places[item];
      return x >= 0 && y >= 0 && x <= this.width && y <= this.height;
    };
    const more = (value) => (ofReport ? [] : [value]);
    const called = (label) => (ofCut ? label : this.state.nameOf(label));
    const { columns, rows, order } = data.file;
    saveCsv("map.csv", [
      [...columns, ...(ofReport ? [] : [this.state.columnName()])],
      ...order.filter(isShown).map((item) => [data.items[item], ...rows[item], ...more(called(labels[item]))]),
    ]);
  }
}
