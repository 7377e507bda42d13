// The matrix of how often two items were put together: a canvas, of which any part can be enlarged. Rows and columns are
// places, which clusters share out among themselves: an item's place is that in the order of the clusters shown.

const MARGIN = 14; // pixels without names
const MARK = 7; // pixels between names and the clusters' colours, for the marks of items that are lit up
const STRIP = 7; // pixels of the clusters' colours along the edge
const LEAST_NAMED = 7.5; // pixels of a cell next to which its name has room
const LEAST_NUMBERED = 18; // pixels of a cell in which a number has room

class MatrixView {
  constructor(state, panel) {
    this.state = state;
    this.panel = panel;
    this.holder = panel.querySelector(".canvas-holder");
    this.canvas = add(this.holder, "canvas", "", {
      ...{ tabindex: 0, role: "application", "aria-roledescription": "matrix" },
      "aria-label": `Matrix of ${state.n} ${state.data.readers.items}: arrow keys move from cell to cell, Enter says who put the two together`,
    });
    this.window = { row: 0, column: 0, cells: state.n };
    this.cell = null;
    this.shown = null;
    this.tiles = new Map();
    this.arrange();
    const files = { svg: () => svgText(this.drawing()), csv: () => this.saveCells() };
    addFiles(panel.querySelector(".save"), "matrix", "matrix", files);
    addZoom(panel, (step) => this.zoom(step));
    this.listen();
    this.drawLegend();
    whenResized(this.holder, () => this.draw());
    DARK.addEventListener("change", () => this.draw());
    state.when("clusters", () => {
      this.arrange();
      this.draw();
    });
    state.when("lit", () => this.show([...state.lit][0]));
  }

  /** Put the items in the order of the clusters; the cursor stays on its items. */
  arrange() {
    const before = this.order ?? this.state.order;
    this.order = this.state.order;
    this.places = new Map(this.order.map((item, place) => [item, place]));
    if (before.some((item, place) => item !== this.order[place])) this.tiles.clear();
    if (this.cell) this.cell = { row: this.places.get(before[this.cell.row]), column: this.places.get(before[this.cell.column]) };
  }

  share(row, column) {
    return this.state.share(this.order[row], this.order[column]);
  }

  labelAt(place) {
    return this.state.labels[this.order[place]];
  }

  /** Names of the items of some places. */
  named(first, cells) {
    return this.order.slice(first, first + cells).map((item) => this.state.data.items[item]);
  }

  /** Where the cells are on a drawing of some width: names fit beside them only if cells are large. */
  layout(width) {
    const { row, column, cells } = this.window;
    const names = [...this.named(row, cells), ...this.named(column, cells)];
    const letters = (cell) => Math.min(12, Math.max(8, 0.9 * cell));
    let size = letters((0.75 * width) / cells);
    const longest = Math.max(...names.map((name) => widthOf(name, size)));
    let margin = Math.min(longest + MARK + 3, 0.22 * width);
    const named = (width - margin - STRIP) / cells >= LEAST_NAMED;
    if (!named) margin = MARGIN;
    const cell = (width - margin - STRIP - 1) / cells;
    size = letters(cell);
    return { margin, named, cell, size, from: margin + STRIP, width };
  }

  draw() {
    const width = this.holder.clientWidth;
    if (!width) return;
    const ratio = devicePixelRatio || 1;
    set(this.canvas, { width: Math.round(width * ratio), height: Math.round(width * ratio) });
    this.canvas.style.height = `${width}px`;
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    this.shown = this.layout(width);
    this.drawCells(pen);
    this.drawNumbers(pen);
    this.drawStrips(pen);
    this.drawFrames(pen);
    if (this.shown.named) this.drawNames(pen);
    this.drawLit(pen);
    if (this.cell) this.drawCursor(pen);
  }

  /** The colours of all cells as a picture of one pixel each, on light or dark paper. */
  tile(dark) {
    if (this.tiles.has(dark)) return this.tiles.get(dark);
    const { n, data } = this.state;
    const tile = set(document.createElement("canvas"), { width: n, height: n });
    const pen = tile.getContext("2d");
    const pixels = pen.createImageData(n, n);
    const colours = shades(data.look.heat[Number(dark)]);
    const unknown = rgb(data.look.unknown[Number(dark)]);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        const share = this.share(i, j);
        const colour = Number.isNaN(share) ? unknown : colours[Math.round(100 * share)];
        pixels.data.set([...colour, 255], 4 * (i * n + j));
      }
    }
    pen.putImageData(pixels, 0, 0);
    this.tiles.set(dark, tile);
    return tile;
  }

  drawCells(pen) {
    const { from, cell } = this.shown;
    const { row, column, cells } = this.window;
    pen.imageSmoothingEnabled = cell * (devicePixelRatio || 1) < 1;
    pen.drawImage(this.tile(DARK.matches), column, row, cells, cells, from, from, cells * cell, cells * cell);
  }

  /** The percentages that have room in their cells, each with its place and the colour of its letters. */
  numbers(dark) {
    const { from, cell } = this.shown;
    const { row, column, cells } = this.window;
    if (cell < LEAST_NUMBERED) return [];
    const colours = shades(this.state.data.look.heat[Number(dark)]);
    const places = [...Array(cells * cells).keys()].map((place) => [Math.floor(place / cells), place % cells]);
    return places.flatMap(([i, j]) => {
      const share = this.share(row + i, column + j);
      if (row + i === column + j || Number.isNaN(share)) return [];
      const [x, y] = [from + (j + 0.5) * cell, from + (i + 0.5) * cell];
      const text = percentText(share).replace("%", "");
      return [{ x, y, text, colour: isLight(colours[Math.round(100 * share)]) ? "#1b1b1b" : "#ffffff" }];
    });
  }

  get numberSize() {
    return Math.min(0.44 * this.shown.cell, 12);
  }

  drawNumbers(pen) {
    Object.assign(pen, { font: `${this.numberSize}px ${LETTERS}`, textAlign: "center", textBaseline: "middle" });
    for (const { x, y, text, colour } of this.numbers(DARK.matches)) {
      pen.fillStyle = colour;
      pen.fillText(text, x, y + 0.5);
    }
  }

  drawStrips(pen) {
    const { from, cell } = this.shown;
    const { data } = this.state;
    const { row, column, cells } = this.window;
    const colours = data.look.colours.map((colour) => plain(colour, true));
    for (let k = 0; k < cells; k++) {
      pen.fillStyle = colourOf({ colours }, this.labelAt(row + k));
      pen.fillRect(from - STRIP, from + k * cell, STRIP - 2, Math.ceil(cell));
      pen.fillStyle = colourOf({ colours }, this.labelAt(column + k));
      pen.fillRect(from + k * cell, from - STRIP, Math.ceil(cell), STRIP - 2);
    }
  }

  drawFrames(pen) {
    pen.save();
    this.clipToCells(pen);
    pen.strokeStyle = variable("ink");
    pen.lineWidth = 1.5;
    for (const { x, y, side } of this.frames()) pen.strokeRect(x, y, side, side);
    pen.restore();
  }

  /** Squares of the clusters of several items. */
  frames() {
    const labels = this.order.map((item) => this.state.labels[item]);
    const { from, cell } = this.shown;
    const { row, column } = this.window;
    const found = [];
    for (let first = 0, end = 1; end <= labels.length; end++) {
      if (end < labels.length && labels[end] === labels[first]) continue;
      if (end - first > 1 && labels[first] >= 0) {
        found.push({ x: from + (first - column) * cell, y: from + (first - row) * cell, side: (end - first) * cell });
      }
      first = end;
    }
    return found;
  }

  clipToCells(pen) {
    const { from, cell } = this.shown;
    const side = this.window.cells * cell;
    pen.beginPath();
    pen.rect(from - 1, from - 1, side + 2, side + 2);
    pen.clip();
  }

  /** The names with their places: of the rows, then of the columns, which stand upright. */
  namePlaces() {
    const { from, cell, margin, size } = this.shown;
    const { row, column, cells } = this.window;
    const place = (item, k, upright) => ({
      item,
      upright,
      text: this.state.fitting(item, size, margin - MARK - 1),
      along: from + (k + 0.5) * cell,
    });
    const places = [...Array(cells).keys()];
    return [false, true].flatMap((upright) => places.map((k) => place(this.order[(upright ? column : row) + k], k, upright)));
  }

  drawNames(pen) {
    const { margin, size } = this.shown;
    pen.direction = "ltr";
    pen.textBaseline = "middle";
    pen.fillStyle = variable("ink");
    for (const { item, text, along, upright } of this.namePlaces()) {
      pen.font = `${this.state.lit.has(item) ? "bold " : ""}${size}px ${LETTERS}`;
      pen.textAlign = upright ? "left" : "right";
      pen.save();
      if (upright) {
        pen.translate(along, margin - MARK);
        pen.rotate(-Math.PI / 2);
      } else {
        pen.translate(margin - MARK, along);
      }
      pen.fillText(text, 0, 0);
      pen.restore();
    }
  }

  /** Outline the rows and columns of the items that are lit up, and point at them from the edge. */
  drawLit(pen) {
    const { from, cell } = this.shown;
    const { row, column, cells } = this.window;
    const side = cells * cell;
    pen.strokeStyle = pen.fillStyle = DARK.matches ? "#ffd84d" : "#b3261e";
    pen.lineWidth = 1.5;
    for (const place of [...this.state.lit].map((item) => this.places.get(item))) {
      const [down, across] = [from + (place - row) * cell, from + (place - column) * cell];
      if (place >= row && place < row + cells) {
        pen.strokeRect(from, down, side, cell);
        pen.fillRect(from - STRIP - 5, down, 4, Math.max(cell, 2));
      }
      if (place >= column && place < column + cells) {
        pen.strokeRect(across, from, cell, side);
        pen.fillRect(across, from - STRIP - 5, Math.max(cell, 2), 4);
      }
    }
  }

  drawCursor(pen) {
    const { from, cell } = this.shown;
    const x = from + (this.cell.column - this.window.column) * cell;
    const y = from + (this.cell.row - this.window.row) * cell;
    const side = Math.max(cell, 5);
    for (const [width, colour] of [[4, variable("paper")], [2, variable("accent")]]) {
      pen.lineWidth = width;
      pen.strokeStyle = colour;
      pen.strokeRect(x + (cell - side) / 2, y + (cell - side) / 2, side, side);
    }
  }

  drawLegend() {
    const { heat, unknown } = this.state.data.look;
    const legend = this.panel.querySelector(".legend");
    const paint = () => {
      legend.replaceChildren();
      add(legend, "span", "never together");
      const svg = draw(legend, "svg", { viewBox: "0 0 101 8", preserveAspectRatio: "none" });
      shades(heat[Number(DARK.matches)]).forEach((colour, x) => {
        draw(svg, "rect", { x, y: 0, width: 1.2, height: 8, fill: `rgb(${colour.join(" ")})` });
      });
      add(legend, "span", "always together");
      if (!this.state.presented.includes(0)) return;
      const never = add(legend, "span", "never shown together");
      const box = draw(document.createDocumentFragment(), "svg", { viewBox: "0 0 8 8", class: "swatch" });
      draw(box, "rect", { width: 8, height: 8, fill: unknown[Number(DARK.matches)] });
      never.prepend(box);
    };
    paint();
    DARK.addEventListener("change", paint);
  }

  /** What a cell says, as texts and elements. */
  reading(cell) {
    const { items } = this.state.data;
    const [one, other] = this.pairAt(cell);
    if (one === other) return [nameOf(items[one]), `: ${this.state.noun} ${this.state.nameOf(this.state.labels[one])}`];
    const names = [nameOf(items[one]), " and ", nameOf(items[other])];
    const { together, presented } = this.state.pair(one, other);
    if (!presented) return [...names, ": never shown together"];
    return [...names, `: together ${together} of ${presented} times (${percentText(together / presented)})`];
  }

  /** What a cell says, with the pictures of its items. */
  tip(cell) {
    return [...this.reading(cell), ...picturesFor(this.state.data, this.pairAt(cell))];
  }

  /** The two items of a cell. */
  pairAt({ row, column }) {
    return [this.order[row], this.order[column]];
  }

  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const { from, cell } = this.shown;
    const across = Math.floor((event.clientX - box.left - from) / cell);
    const down = Math.floor((event.clientY - box.top - from) / cell);
    const { cells, row, column } = this.window;
    if (Math.min(across, down) < 0 || Math.max(across, down) >= cells) return null;
    return { row: row + down, column: column + across };
  }

  listen() {
    listenToDrags(this.canvas, {
      start: () => ({ ...this.window }),
      move: (from, x, y) => this.moveTo(from.row - Math.round(y / this.shown.cell), from.column - Math.round(x / this.shown.cell)),
      click: (event) => this.ask(this.cellAt(event), event),
      wheel: (step, event) => this.zoom(step, this.cellAt(event)),
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const cell = this.cellAt(event);
      if (cell) showTip(this.tip(cell), event.clientX, event.clientY);
      else hideTip();
    });
    hideTipAfter(this.canvas);
    this.canvas.addEventListener("focus", () => this.cell || this.goTo({ row: this.window.row, column: this.window.column }));
    this.canvas.addEventListener("keydown", (event) => this.press(event));
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { row, column } = this.cell ?? this.window;
    const last = this.state.n - 1;
    const cells = {
      ArrowUp: { row: row - 1, column },
      ArrowDown: { row: row + 1, column },
      ArrowLeft: { row, column: column - 1 },
      ArrowRight: { row, column: column + 1 },
      Home: { row, column: 0 },
      End: { row, column: last },
      PageUp: { row: row - 10, column },
      PageDown: { row: row + 10, column },
    };
    const step = ZOOM_KEYS[event.key];
    if (event.key === "Enter" && this.cell) this.state.askWho?.(...this.pairAt(this.cell));
    if (!(event.key in cells) && step === undefined) return;
    event.preventDefault();
    if (step !== undefined) this.zoom(step, this.cell);
    else this.goTo(cells[event.key]);
  }

  /** Put the cursor on a cell, and tell who put its items together. */
  ask(cell, event) {
    this.goTo(cell, event);
    if (cell) this.state.askWho?.(...this.pairAt(cell));
  }

  /** Put the cursor on a cell, and read it out. */
  goTo(cell, event) {
    if (!cell) return;
    const within = (place) => Math.min(Math.max(place, 0), this.state.n - 1);
    this.cell = { row: within(cell.row), column: within(cell.column) };
    this.reveal(this.cell);
    speak(...this.reading(this.cell));
    if (event) showTip(this.tip(this.cell), event.clientX, event.clientY);
  }

  /** Move the window so that a cell is in it. */
  reveal({ row, column }) {
    const { cells } = this.window;
    const into = (first, place) => Math.min(Math.max(first, place - cells + 1), place);
    this.moveTo(into(this.window.row, row), into(this.window.column, column));
  }

  show(item) {
    if (item === undefined) this.draw();
    else this.reveal({ row: this.places.get(item), column: this.places.get(item) });
  }

  moveTo(row, column) {
    const most = this.state.n - this.window.cells;
    this.window.row = Math.min(Math.max(row, 0), most);
    this.window.column = Math.min(Math.max(column, 0), most);
    this.draw();
  }

  /** Enlarge or reduce around a cell, or the middle; 0 shows all. */
  zoom(step, around) {
    const { row, column, cells } = this.window;
    const wanted = step ? Math.round(cells * (step > 0 ? 0.66 : 1.5)) : this.state.n;
    const found = Math.min(Math.max(wanted, Math.min(4, this.state.n)), this.state.n);
    const middle = around ?? { row: row + cells / 2, column: column + cells / 2 };
    const kept = (first, place) => Math.round(place - ((place - first) * found) / cells);
    this.window.cells = found;
    this.canvas.style.touchAction = found < this.state.n ? "none" : "pan-y";
    this.moveTo(kept(row, middle.row), kept(column, middle.column));
  }

  saveCells() {
    const { row, column, cells } = this.window;
    const rounded = (share) => (Number.isNaN(share) ? NaN : Math.round(1e4 * share) / 1e4);
    const places = [...Array(cells).keys()];
    const names = this.named(row, cells);
    const rows = places.map((i) => [names[i], ...places.map((j) => rounded(this.share(row + i, column + j)))]);
    saveCsv("matrix.csv", [[this.state.data.readers.item, ...this.named(column, cells)], ...rows]);
  }

  /** The part that is shown as an SVG on white paper: the cells as a picture, then names, strips, frames and the key. */
  drawing() {
    const { row, column, cells } = this.window;
    const { from, cell, width, margin, size, named } = this.shown;
    const { data } = this.state;
    const part = set(document.createElement("canvas"), { width: cells, height: cells });
    part.getContext("2d").drawImage(this.tile(false), column, row, cells, cells, 0, 0, cells, cells);
    const svg = draw(document.createDocumentFragment(), "svg", { viewBox: `0 0 ${width} ${width}` });
    const side = cells * cell;
    const box = { x: from, y: from, width: side, height: side };
    draw(svg, "image", { ...box, href: part.toDataURL(), preserveAspectRatio: "none", "image-rendering": "pixelated" });
    for (let k = 0; k < cells; k++) {
      const [across, along] = [from - STRIP, from + k * cell];
      const [thin, long] = [STRIP - 2, cell];
      draw(svg, "rect", { x: across, y: along, width: thin, height: long, fill: colourOf(data.look, this.labelAt(row + k)) });
      draw(svg, "rect", { x: along, y: across, width: long, height: thin, fill: colourOf(data.look, this.labelAt(column + k)) });
    }
    for (const { x, y, text, colour } of this.numbers(false)) {
      const style = { "font-size": this.numberSize, "text-anchor": "middle", "dominant-baseline": "central", fill: colour };
      draw(svg, "text", { x, y, ...style }).textContent = text;
    }
    draw(draw(svg, "clipPath", { id: "cells" }), "rect", box);
    const frames = draw(svg, "g", { "clip-path": "url(#cells)", fill: "none", stroke: "#1b1b1b", "stroke-width": 1.5 });
    for (const frame of this.frames()) {
      draw(frames, "rect", { x: frame.x, y: frame.y, width: frame.side, height: frame.side });
    }
    for (const { text, along, upright } of named ? this.namePlaces() : []) {
      const turn = upright ? `translate(${along} ${margin - MARK}) rotate(-90)` : `translate(${margin - MARK} ${along})`;
      const style = { "font-size": size, "text-anchor": upright ? "start" : "end", "dominant-baseline": "central", fill: "#1b1b1b" };
      draw(svg, "text", { transform: turn, class: "name", ...style }).textContent = text;
    }
    const title = `How often two ${data.readers.items} were put together, of the times both were shown; frames: ${this.state.inWords()}`;
    return withKey(svg, this.state, title, [[28, (group) => this.drawScale(group)]]);
  }

  /** The colours of the cells from never to always together, and that of pairs that were never shown together. */
  drawScale(group) {
    const { heat, unknown } = this.state.data.look;
    const text = { "font-size": KEY_NAME, fill: "#1b1b1b", y: 12 };
    shades(heat[0]).forEach((colour, x) => {
      draw(group, "rect", { x: 34 + x, y: 3, width: 1.2, height: 10, fill: `rgb(${colour.join(" ")})` });
    });
    draw(group, "text", { ...text, x: 30, "text-anchor": "end" }).textContent = "0%";
    draw(group, "text", { ...text, x: 140 }).textContent = "100%";
    if (!this.state.presented.includes(0)) return;
    draw(group, "rect", { x: 185, y: 3, width: 10, height: 10, fill: unknown[0] });
    draw(group, "text", { ...text, x: 199 }).textContent = "never shown together";
  }

  onPaper() {
    if (this.state.ofReport || !this.shown) return null;
    const caption = `The matrix as it was on the page; frames: ${this.state.inWords()}.`;
    return { keys: ["co-occurrence"], svg: this.drawing(), caption };
  }
}

/** Red, green and blue of a colour such as #f1f1ee. */
function rgb(colour) {
  return [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16));
}

/** Whether black letters stand out on a colour more than white ones, by its relative luminance. */
function isLight(colour) {
  const [red, green, blue] = colour.map((part) => (part / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18;
}

/** The colours of 0 to 100 per cent, between some given ones. */
function shades(stops) {
  const given = stops.map(rgb);
  return [...Array(101).keys()].map((percent) => {
    const place = (percent / 100) * (given.length - 1);
    const below = Math.min(Math.floor(place), given.length - 2);
    return given[below].map((value, part) => Math.round(value + (place - below) * (given[below + 1][part] - value)));
  });
}
