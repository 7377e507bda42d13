// What the map can show besides the items: two of its axes, outlines of clusters, ellipses around items, and words.

const WORD_SIZES = [10, 17]; // pixels of the letters of the rarest and the most frequent word
const OUTLINE_NAME = 12; // pixels of the letters of a cluster's name
const MARK_ROOM = 14; // pixels of the mark before the name of an outline
const BOX_STEP = 8; // pixels between places that are tried for a name without room at its outline
const OUTLINE_GAPS = [4, 14, 26]; // pixels from an outline to its name

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
    const bold = { "font-size": OUTLINE_NAME, "font-weight": 700, fill: "var(--ink, #1b1b1b)" };
    this.outlineNames = draw(svg, "g", bold);
    this.ellipses = ellipses.map((_, item) => draw(svg, "ellipse", { ...outline, "data-ellipse": item }));
    const counts = words.map(([, count]) => count);
    const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
    const [small, large] = WORD_SIZES;
    this.words = words.map(([text, count]) => {
      const size = small + ((large - small) * (count - fewest)) / Math.max(most - fewest, 1);
      const style = { "font-size": size.toFixed(1), "font-style": "italic", fill: "var(--faint, #767676)" };
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
    this.rims = [];
    if (!this.shown.outlines) return;
    for (const [label, items] of this.state.parts().filter(([part]) => part >= 0)) {
      const corners = outlineOf(items.map((item) => places[item]));
      this.rims.push([label, corners]);
      const d = `M${corners.map((corner) => corner.map((at) => at.toFixed(1)).join(" ")).join("L")}Z`;
      const colour = colourOf(this.state.data.look, label);
      draw(this.outlines, "path", { d, fill: colour, stroke: colour });
    }
  }

  /** Name the outlines outside of all others, at an edge or at the end of a line; return the boxes that the names take. */
  nameOutlines(isFree, size) {
    this.outlineNames.replaceChildren();
    const boxes = [];
    for (const [label, corners] of this.rims ?? []) {
      const text = fitting(this.state.titleOf(label), OUTLINE_NAME, 170);
      const [wide, tall] = [MARK_ROOM + widthOf(text, OUTLINE_NAME) * 1.12, OUTLINE_NAME * 1.2]; // bold letters are wider
      const isClear = (box) =>
        isFree(box) &&
        !boxes.some((other) => overlap(box, other)) &&
        !this.rims.some(([other, rim]) => other !== label && cornersOf(box).some((corner) => isWithin(corner, rim)));
      const near = OUTLINE_GAPS.flatMap((gap) => edgesOf(corners).map((edge) => [gap, ...edge]))
        .map(([gap, x, y, across, down]) => {
          const away = gap + (Math.abs(across) * wide + Math.abs(down) * tall) / 2; // the whole box is outside
          const [left, top] = [x + across * away - wide / 2, y + down * away - tall / 2];
          return [left, top, left + wide, top + tall];
        })
        .find(isClear);
      const box = near ?? nearestBoxes(corners, size, [wide, tall]).find(isClear);
      if (!box) continue;
      if (!near) {
        const [x1, y1] = corners.reduce((one, other) => (apart(box, one) <= apart(box, other) ? one : other));
        const [x2, y2] = [Math.min(Math.max(x1, box[0]), box[2]), Math.min(Math.max(y1, box[1]), box[3])];
        draw(this.outlineNames, "line", { x1, y1, x2, y2, stroke: colourOf(this.state.data.look, label) });
      }
      const [shape, scale] = shapeOf(this.state.data.look, label);
      const to = `translate(${(box[0] + MARK_ROOM / 2 - 1).toFixed(1)} ${((box[1] + box[3]) / 2).toFixed(1)}) scale(${(4.5 * scale).toFixed(2)})`;
      draw(this.outlineNames, "path", { d: shape, transform: to, fill: colourOf(this.state.data.look, label), stroke: "none" });
      const place = { x: (box[0] + MARK_ROOM).toFixed(1), y: (box[3] - 0.25 * tall).toFixed(1) };
      draw(this.outlineNames, "text", place).textContent = text;
      boxes.push(box);
    }
    return boxes;
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
    this.words.forEach(({ element, size, width }, place) => {
      const [x, y] = onScreen(this.state.data.words[place].slice(2));
      const box = [0, -1, 1, -2, 2]
        .map((lines) => [x - width / 2, y + (lines - 0.5) * size, x + width / 2, y + (lines + 0.5) * size])
        .find((found) => isFree(found) && !boxes.some((other) => overlap(found, other)));
      const isShown = this.shown.words && box;
      element.setAttribute("visibility", isShown ? "visible" : "hidden");
      if (!isShown) return;
      set(element, { x: box[0].toFixed(1), y: (box[3] - 0.2 * size).toFixed(1) });
      boxes.push(box);
    });
    return boxes;
  }
}

function overlap(box, other) {
  return box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1];
}

/** Middles of the edges of an outline, each with its direction outwards; of a line, both sides are outside. */
function edgesOf(corners) {
  if (corners.length === 1) return [[...corners[0], 0, -1], [...corners[0], 0, 1]];
  const middle = [0, 1].map((axis) => corners.reduce((sum, corner) => sum + corner[axis], 0) / corners.length);
  return corners.map(([x, y], place) => {
    const [left, top] = corners.at(place - 1);
    const [halfX, halfY] = [(x + left) / 2, (y + top) / 2];
    const [across, down] = [y - top, left - x];
    const length = Math.hypot(across, down) || 1;
    const isInward = across * (halfX - middle[0]) + down * (halfY - middle[1]) < 0;
    const sign = isInward ? -1 / length : 1 / length;
    return [halfX, halfY, across * sign, down * sign];
  });
}

/** Boxes all over a map, those nearest to an outline first. */
function nearestBoxes(corners, [width, height], [wide, tall]) {
  const [columns, rows] = [Math.max(Math.floor((width - wide) / BOX_STEP), 0), Math.max(Math.floor((height - tall) / BOX_STEP), 0)];
  const places = Array.from({ length: columns * rows }, (_, place) => [(place % columns) * BOX_STEP, Math.floor(place / columns) * BOX_STEP]);
  return places
    .map(([left, top]) => [left, top, left + wide, top + tall])
    .map((box) => ({ box, away: Math.min(...corners.map((corner) => apart(box, corner))) }))
    .filter(({ away }) => away > BOX_STEP) // else it would seem to be the name of an item
    .sort((one, other) => one.away - other.away)
    .map(({ box }) => box);
}

/** Distance of a point from a box. */
function apart([left, top, right, bottom], [x, y]) {
  return Math.hypot(Math.max(left - x, x - right, 0), Math.max(top - y, y - bottom, 0));
}

/** Corners and the middle of a box. */
function cornersOf([left, top, right, bottom]) {
  return [[left, top], [left, bottom], [right, top], [right, bottom], [(left + right) / 2, (top + bottom) / 2]];
}

/** Whether a point is within a convex outline of three corners or more. */
function isWithin([x, y], corners) {
  if (corners.length < 3) return false;
  const sides = corners.map(([a, b], place) => {
    const [c, d] = corners.at(place - 1);
    return Math.sign((a - c) * (y - d) - (b - d) * (x - c));
  });
  return sides.every((side) => side >= 0) || sides.every((side) => side <= 0);
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
