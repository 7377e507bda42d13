// The tree of the items, with the leaves at the left, and the line that cuts it.

const LEAF = 16; // pixels from leaf to leaf, next to which names have room
const TALL = 860; // pixels of the whole tree, if it has many leaves
const LEAST_LEAF = 9; // pixels from leaf to leaf below which names have no room
const MOST_NAMED = 150; // leaves of a tree that shows all names when it is opened, and scrolls if that takes more room
const MOST_OF_NAMES = 0.38; // of the width

class TreeView {
  constructor(state, panel) {
    this.state = state;
    this.holder = panel.querySelector(".tree-scroll");
    this.axis = panel.querySelector(".axis");
    this.differs = panel.querySelector("#cut-differs");
    this.slider = panel.querySelector("#cut");
    this.slider.max = state.data.cuts[0][2];
    this.slider.addEventListener("input", () => state.cutAt(Number(this.slider.value)));
    this.slider.addEventListener("keydown", (event) => this.press(event));
    this.whole = Math.min(LEAF, TALL / state.n);
    this.leaf = state.n <= MOST_NAMED ? Math.max(this.whole, LEAST_LEAF) : this.whole;
    addZoom(panel, (step) => this.zoom(step));
    this.holder.addEventListener("keydown", (event) => this.zoomByKey(event));
    const turn = (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(Math.sign(-event.deltaY), event.clientY);
    };
    this.holder.addEventListener("wheel", turn, { passive: false });
    addFiles(panel.querySelector(".save"), "tree", "tree", { svg: () => svgText(this.drawing()), csv: () => this.saveRows() });
    whenResized(this.holder, () => this.build());
    state.when("clusters", () => this.paint());
    state.when("lit", () => this.light(true));
  }

  /** Keys go from cut to cut, of which many lie close together; the slider alone would step by equal heights. */
  press(event) {
    const { place } = this.state;
    const last = this.state.data.cuts.length - 1;
    const places = { ArrowLeft: place + 1, ArrowDown: place + 1, ArrowRight: place - 1, ArrowUp: place - 1 };
    Object.assign(places, { PageDown: place + 5, PageUp: place - 5, Home: last, End: 0 });
    if (!(event.key in places)) return;
    event.preventDefault();
    this.state.goTo(places[event.key]);
  }

  x(height) {
    return this.left + (height / this.slider.max) * (this.width - this.left - this.right);
  }

  y(leaf) {
    return (leaf + 0.5) * this.leaf;
  }

  zoomByKey(event) {
    const step = ZOOM_KEYS[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.zoom(step);
  }

  /** Enlarge or reduce around a place on the screen, or the middle; 0 shows all. */
  zoom(step, place) {
    const before = this.leaf;
    const top = this.holder.getBoundingClientRect().top;
    const at = place === undefined ? this.holder.clientHeight / 2 : place - top;
    const wanted = step ? before * (step > 0 ? 1.6 : 1 / 1.6) : this.whole;
    this.leaf = Math.min(Math.max(wanted, this.whole), 1.5 * LEAF);
    const scrolled = ((this.holder.scrollTop + at) * this.leaf) / before - at;
    this.build();
    this.holder.scrollTop = scrolled;
  }

  build() {
    const { data, n } = this.state;
    this.width = this.holder.clientWidth;
    this.size = Math.min(11, 0.8 * this.leaf);
    this.mark = Math.min(4, 0.6 * this.leaf);
    this.named = this.leaf >= LEAST_LEAF;
    const longest = Math.max(...data.items.map((name) => widthOf(name, 11)));
    this.left = Math.min(longest + 22, MOST_OF_NAMES * this.width);
    this.right = 12;
    const height = n * this.leaf;
    this.svg = draw(document.createDocumentFragment(), "svg", {
      ...{ viewBox: `0 0 ${this.width} ${height}`, width: this.width, height, role: "img" },
    });
    this.bands = draw(this.svg, "g");
    this.branches = data.nodes.map(([at, one, other, first, second]) => {
      const d = `M${this.x(one)} ${this.y(first)}H${this.x(at)}V${this.y(second)}H${this.x(other)}`;
      return draw(this.svg, "path", { d, fill: "none", "stroke-width": this.named ? 1.4 : 0.8 });
    });
    this.marks = data.items.map((_, leaf) => draw(this.svg, "path", { stroke: "none", "data-leaf": leaf }));
    this.names = data.items.map((name, leaf) => this.nameLeaf(name, leaf));
    this.line = draw(this.svg, "line", { y1: 0, y2: height, stroke: "var(--accent, #00548c)", "stroke-width": 2 });
    this.holder.replaceChildren(this.svg);
    this.drawAxis();
    this.listen();
    this.paint();
    this.light(false);
  }

  nameLeaf(name, leaf) {
    const place = { x: this.left - 14, y: this.y(leaf) + 4, "text-anchor": "end", "font-size": this.named ? this.size : 11 };
    const text = draw(this.svg, "text", { ...place, fill: "var(--ink, #1b1b1b)", "data-leaf": leaf });
    text.textContent = this.state.fitting(leaf, 11, this.left - 20);
    if (text.textContent !== name) draw(text, "title").textContent = name;
    return text;
  }

  drawAxis() {
    this.axis.replaceChildren();
    set(this.axis, { viewBox: `0 0 ${this.width} 18`, width: this.width });
    this.axis.style.width = `${this.width}px`;
    const step = (this.width - this.left) / this.slider.max > 180 ? 0.2 : 0.5;
    for (let at = 0; at <= this.slider.max; at += step) {
      const place = { x: this.x(at), y: 12, "text-anchor": "middle", "font-size": 10, fill: "var(--soft, #3d3d3d)" };
      draw(this.axis, "text", place).textContent = at ? at.toFixed(1) : "0";
    }
    this.slider.style.marginLeft = `${this.left - 8}px`; // the middle of its handle, of 16 pixels, reaches both ends
    this.slider.style.width = `${this.width - this.left - this.right + 16}px`;
  }

  listen() {
    const height = (event) => {
      const across = event.clientX - this.svg.getBoundingClientRect().left - this.left;
      return (across / (this.width - this.left - this.right)) * this.slider.max;
    };
    this.svg.addEventListener("pointerdown", (event) => {
      const leaf = event.target.dataset?.leaf;
      if (leaf !== undefined) {
        this.state.pick(Number(leaf));
        return;
      }
      if (height(event) < 0 || event.button) return;
      this.svg.setPointerCapture(event.pointerId);
      this.state.cutAt(height(event));
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (this.svg.hasPointerCapture(event.pointerId)) this.state.cutAt(height(event));
    });
  }

  /** Colour the branches whose items are all in one cluster, and move the line. */
  paint() {
    if (!this.svg) return;
    const { data, labels, cut, height, ofCut } = this.state;
    const changes = [0];
    for (let leaf = 1; leaf < labels.length; leaf++) {
      changes.push(changes[leaf - 1] + (labels[leaf] !== labels[leaf - 1]));
    }
    this.branches.forEach((branch, node) => {
      const [first, end] = data.nodes[node].slice(5, 7);
      const isOne = changes[first] === changes[end - 1];
      keep(branch, "stroke", isOne ? colourOf(data.look, labels[first]) : "var(--faint, #767676)");
    });
    this.marks.forEach((mark, leaf) => {
      const [d, scale] = shapeOf(data.look, labels[leaf]);
      keep(mark, "d", d);
      keep(mark, "transform", `translate(${this.left - 6} ${this.y(leaf)}) scale(${this.mark * scale})`);
      keep(mark, "fill", colourOf(data.look, labels[leaf]));
    });
    const x = this.x(height);
    set(this.line, { x1: x, x2: x, "stroke-dasharray": ofCut ? "none" : "5 4" });
    this.svg.setAttribute("aria-label", `Tree of ${this.state.n} ${data.readers.items}; colours: ${this.state.inWords()}`);
    this.sayWhatDiffers();
    this.slider.value = height;
    const text = `${cut.n} ${counted(cut.n, data.noun)}, cut at ${height.toFixed(2)}`;
    this.slider.setAttribute("aria-valuetext", text);
  }

  /** Say of the cut into as many clusters as the report has that it gives other ones, and how many rows change colour. */
  sayWhatDiffers() {
    const { data, place, cut } = this.state;
    const { item, items } = data.readers;
    const n = this.state.labelsOfCut().filter((label, leaf) => label !== data.clusters[leaf]).length;
    const many = n === 1 ? `1 ${item} has` : `${n} ${items} have`;
    this.differs.hidden = !n || place !== data.like || cut.n !== data.report[0];
    this.differs.textContent = `This line gives other ${data.nouns} than the report's: ${many} another colour.`;
  }

  light(scroll) {
    if (!this.svg) return;
    this.bands.replaceChildren();
    for (const leaf of this.state.lit) {
      const height = Math.max(this.leaf, 3);
      const band = { x: 0, y: this.y(leaf) - height / 2, width: this.width, height, fill: "var(--lit, #ffe98a)" };
      draw(this.bands, "rect", band);
    }
    this.nameLeaves();
    const [first] = this.state.lit;
    if (scroll && first !== undefined) this.holder.scrollTop = this.y(first) - this.holder.clientHeight / 2;
  }

  /** Show all names if there is room, else those of items that are lit up, as far as they do not overlap. */
  nameLeaves() {
    let free = -Infinity;
    this.names.forEach((name, leaf) => {
      const isLit = this.state.lit.has(leaf);
      const isShown = this.named || (isLit && this.y(leaf) > free);
      if (isShown) free = this.y(leaf) + 12;
      set(name, { visibility: isShown ? "visible" : "hidden", "font-weight": isLit ? 700 : 400 });
    });
  }

  /** The tree with its axis and its key. */
  drawing() {
    const { state } = this;
    const axis = (group) => {
      for (const tick of this.axis.querySelectorAll("text")) group.append(tick.cloneNode(true));
      const style = { x: this.width - this.right, y: 30, "text-anchor": "end", "font-size": 10, fill: "var(--soft, #3d3d3d)" };
      draw(group, "text", style).textContent = "share of times not together (0: always together)";
    };
    return withKey(this.svg, state, `Tree of the ${state.data.readers.items}; colours: ${state.inWords()}`, [[40, axis]]);
  }

  onPaper() {
    if (this.state.ofReport || !this.svg) return null;
    const caption = `The tree as it was on the page; colours: ${this.state.inWords()}.`;
    return { keys: ["dendrogram"], svg: this.drawing(), caption };
  }

  /** The merges, from the lowest up, with the items below each. */
  saveRows() {
    const { data, n } = this.state;
    const branch = (node) => (node < n ? data.items[node] : `merge ${node - n + 1}`);
    const rows = data.nodes.map(([height, , , , , first, end, one, other], node) => [
      ...[node + 1, height, end - first, branch(one), branch(other)],
      data.items.slice(first, end).join("; "),
    ]);
    saveCsv("tree.csv", [["merge", "height", "n_items", "branch_1", "branch_2", "members"], ...rows]);
  }
}

/** The word for one or several clusters. */
function counted(number, noun) {
  return number === 1 ? noun : `${noun}${noun.endsWith("s") ? "es" : "s"}`;
}
