// What the map can show besides the items: two of its axes, outlines of clusters, ellipses around items, and words.

const WORD_SIZES = [10, 17]; // pixels of the letters of the rarest and the most frequent word

class MapLayers {
  /** `changed` is called when other axes or layers are shown. */
  constructor(state, panel, changed) {
    this.state = state;
    this.axes = [0, 1];
    this.shown = { outlines: false, ellipses: false, words: false };
    const planes = [...panel.querySelectorAll("[data-axes]")];
    for (const button of planes) {
      button.addEventListener("click", () => {
        this.axes = button.dataset.axes.split(" ").map((axis) => Number(axis) - 1);
        planes.forEach((other) => other.setAttribute("aria-pressed", other === button));
        changed();
      });
    }
    for (const button of panel.querySelectorAll("[data-show]")) {
      const name = button.dataset.show;
      this.shown[name] = button.getAttribute("aria-pressed") === "true";
      button.addEventListener("click", () => {
        this.shown[name] = !this.shown[name];
        button.setAttribute("aria-pressed", this.shown[name]);
        changed();
      });
    }
  }

  /** Least and largest coordinate of what is shown, on an axis. */
  bounds(axis) {
    const { points, ellipses, axes } = this.state.data;
    const values = points.map((point) => point[axis]);
    const reach = (row) => Math.sqrt(Math.max(row[this.formPlace(axes.length, axis, axis)], 0));
    const rims = this.shown.ellipses ? ellipses.flatMap((row) => [row[axis] - reach(row), row[axis] + reach(row)]) : [];
    return [Math.min(...values, ...rims), Math.max(...values, ...rims)];
  }

  /** Place of an entry (i ≤ j) of the upper triangle in the row of an ellipse, after the centre. */
  formPlace(n, i, j) {
    return n + i * n - (i * (i - 1)) / 2 + (j - i);
  }

  build(svg) {
    const { ellipses, words } = this.state.data;
    const outline = { "fill-opacity": 0.1, "stroke-opacity": 0.6, "stroke-width": 1 };
    this.outlines = draw(svg, "g", { ...outline, "stroke-width": 1.5, "stroke-linejoin": "round" });
    this.ellipses = ellipses.map((_, item) => draw(svg, "ellipse", { ...outline, "data-ellipse": item }));
    const counts = words.map(([, count]) => count);
    const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
    const [small, large] = WORD_SIZES;
    this.words = words.map(([text, count]) => {
      const size = small + ((large - small) * (count - fewest)) / Math.max(most - fewest, 1);
      const style = { "font-size": size.toFixed(1), "font-style": "italic", fill: "var(--accent, #00548c)" };
      const element = draw(svg, "text", { ...style, class: "word" });
      element.textContent = fitting(text, size, 160);
      return { element, size, width: widthOf(element.textContent, size) };
    });
  }

  /** Centre, half lengths and angle (anticlockwise, in radians) of an ellipse on the axes shown. */
  ellipse(item) {
    const row = this.state.data.ellipses[item];
    const n = this.state.data.axes.length;
    const form = (i, j) => row[this.formPlace(n, i, j)];
    const [first, second] = this.axes; // first < second
    const [xx, xy, yy] = [form(first, first), form(first, second), form(second, second)];
    const [middle, reach] = [(xx + yy) / 2, Math.hypot((xx - yy) / 2, xy)];
    const half = [middle + reach, middle - reach].map((value) => Math.sqrt(Math.max(value, 0)));
    return { centre: row.slice(0, n), half, angle: 0.5 * Math.atan2(2 * xy, xx - yy) };
  }

  /** Draw the least convex outline around the places of each cluster that is shown. */
  paintOutlines(places) {
    this.outlines.replaceChildren();
    if (!this.shown.outlines) return;
    for (const [label, items] of this.state.parts().filter(([part]) => part >= 0)) {
      const corners = outlineOf(items.map((item) => places[item]));
      const d = `M${corners.map((corner) => corner.map((at) => at.toFixed(1)).join(" ")).join("L")}Z`;
      const colour = colourOf(this.state.data.look, label);
      draw(this.outlines, "path", { d, fill: colour, stroke: colour });
    }
  }

  paintEllipses(onScreen, unit) {
    const { data, labels } = this.state;
    this.ellipses.forEach((element, item) => {
      keep(element, "visibility", this.shown.ellipses ? "visible" : "hidden");
      if (!this.shown.ellipses) return;
      const { centre, half, angle } = this.ellipse(item);
      const [cx, cy] = onScreen(centre).map((value) => value.toFixed(1));
      const [rx, ry] = half.map((value) => (value * unit).toFixed(2));
      const colour = colourOf(data.look, labels[item]);
      const transform = `rotate(${((-angle * 180) / Math.PI).toFixed(2)} ${cx} ${cy})`;
      set(element, { cx, cy, rx, ry, transform, fill: colour, stroke: colour });
    });
  }

  /** Write the words that have room, the most frequent first; return the boxes that they take. */
  writeWords(onScreen, isFree) {
    const boxes = [];
    const overlaps = (box, other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1];
    this.words.forEach(({ element, size, width }, place) => {
      const [x, y] = onScreen(this.state.data.words[place].slice(2));
      const box = [0, -1, 1, -2, 2]
        .map((lines) => [x - width / 2, y + (lines - 0.5) * size, x + width / 2, y + (lines + 0.5) * size])
        .find((found) => isFree(found) && !boxes.some((other) => overlaps(found, other)));
      const isShown = this.shown.words && box;
      element.setAttribute("visibility", isShown ? "visible" : "hidden");
      if (!isShown) return;
      set(element, { x: box[0].toFixed(1), y: (box[3] - 0.2 * size).toFixed(1) });
      boxes.push(box);
    });
    return boxes;
  }
}

/** Corners of the least convex outline around points, by the monotone chain of Andrew. */
function outlineOf(points) {
  const sorted = [...points].sort(([a, b], [c, d]) => a - c || b - d);
  const turns = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0;
  const half = (ordered) => {
    const chain = [];
    for (const point of ordered) {
      while (chain.length > 1 && !turns(chain.at(-2), chain.at(-1), point)) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return sorted.length < 2 ? sorted : [...half(sorted), ...half(sorted.reverse())];
}
