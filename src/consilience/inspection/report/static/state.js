// What is shown: the clusters, the cut, and the items that are lit up. The views read it, and are told of changes.


/** Numbers of 1, 2 or 4 bytes, from base 64. */
function decoded(text, bytes) {
  const raw = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  if (bytes === 1) return raw;
  return bytes === 2 ? new Uint16Array(raw.buffer) : new Uint32Array(raw.buffer);
}

/** Text without case and accents, for comparing names. */
function folded(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
}

/** A share as a percentage, as the tables write it: only an exact 1 is 100 %, and only an exact 0 is 0 %. */
function percentText(share) {
  const value = 100 * share;
  if ((share > 0 && share < 0.005) || (share >= 0.995 && share < 1)) {
    return `${Math.min(Math.max(value, 0.1), 99.9).toFixed(1)}%`;
  }
  const isHalf = Math.abs(value - Math.floor(value) - 0.5) < 1e-9;
  return `${isHalf ? 2 * Math.round(value / 2) : Math.round(value)}%`;
}

/** The items of the explorer are in the order of the leaves of their tree, in which every branch is a range. */
class State {
  constructor(data) {
    this.data = data;
    this.n = data.items.length;
    this.together = decoded(data.together, data.bytes);
    this.presented = decoded(data.presented, data.bytes);
    this.folded = data.items.map(folded);
    this.sort = null; // of the person whose groups are shown
    this.shown = "report"; // or "cut" or "person"
    this.labels = data.clusters;
    this.fresh = Math.max(...data.clusters) + 1; // the first number that no cluster of the report has
    this.lit = new Set();
    this.listeners = { clusters: [], lit: [] };
    this.waiting = new Set();
    this.held = null;
    this.goTo(data.like);
    this.showReport();
  }

  /** The name of an item, cut to a width: before the end that sets it off, if another name has the same beginning. */
  fitting(item, size, most) {
    const name = this.data.items[item];
    const cut = fitting(name, size, most);
    const alike = this.data.items.filter((other) => other !== name && other.startsWith(cut.slice(0, -1)));
    if (cut === name || !alike.length) return cut;
    const end = alike.map((other) => endUnlike(name, other)).sort((one, other) => one.length - other.length)[0];
    return fitting(name, size, most, [...end].length || Infinity);
  }

  /** Call a function after changes of "clusters" or "lit". */
  when(what, listener) {
    this.listeners[what].push(listener);
  }

  /** Tell of a change, once in each frame. */
  tell(what) {
    if (!this.waiting.size) {
      requestAnimationFrame(() => {
        const changes = [...this.waiting];
        this.waiting.clear();
        for (const change of changes) this.listeners[change].forEach((listener) => listener());
      });
    }
    this.waiting.add(what);
  }

  /** Number of clusters, heights between which the tree is cut, and figures of the cut. */
  get cut() {
    const [n, low, high, agreement, alike] = this.data.cuts[this.place];
    return { n, low, high, agreement, alike };
  }

  /** Cut the tree at one of the heights between two splits; places count from the root. */
  goTo(place) {
    this.place = Math.min(Math.max(place, 0), this.data.cuts.length - 1);
    this.height = (this.cut.low + this.cut.high) / 2;
    this.showCut();
  }

  /** Cut the tree at a height. */
  cutAt(height) {
    const found = this.data.cuts.findIndex(([, low]) => height > low);
    this.place = found < 0 ? this.data.cuts.length - 1 : found;
    this.height = Math.min(Math.max(height, this.cut.low), this.cut.high);
    this.showCut();
  }

  get ofReport() {
    return this.shown === "report";
  }

  get ofCut() {
    return this.shown === "cut";
  }

  showCut() {
    this.show("cut", this.labelsOfCut());
  }

  showReport() {
    this.show("report", this.data.clusters);
  }

  /** Show the groups that one person made. */
  showPerson(place) {
    this.sort = this.data.sorts[place];
    this.show("person", this.sort.labels);
  }

  show(what, labels) {
    this.shown = what;
    this.labels = labels;
    this.order = this.byCluster();
    this.tell("clusters");
  }

  /** The items by cluster, and within one by the tree; clusters by their middle in the tree, those not sorted last. */
  byCluster() {
    const middle = ([label, items]) => (label < 0 ? Infinity : items.reduce((sum, item) => sum + item, 0) / items.length);
    return this.parts().sort((one, other) => middle(one) - middle(other) || one[0] - other[0]).flatMap(([, items]) => items);
  }

  /** The clusters of the cut: each split from the root down paints a range of items in another number. */
  labelsOfCut() {
    const labels = new Array(this.n).fill(this.data.base);
    for (const [first, end, number] of this.data.splits.slice(0, this.cut.n - 1)) labels.fill(number, first, end);
    return labels;
  }

  /** Name of a cluster of the cut: of the report's that it mostly is or holds, or how many new ones the cut has with it. */
  nameOfCut(label) {
    if (label >= this.fresh) return `new ${this.data.noun} ${label - this.fresh + 1}`;
    const held = this.heldByCut().get(label) ?? [];
    return held.length > 1 && held.includes(label) ? held.map((own) => this.titled(this.data.names[own])).join(" + ") : this.data.names[label];
  }

  /** For each cluster of the cut, the report's clusters of which it has more than half. */
  heldByCut() {
    if (this.held?.n === this.cut.n) return this.held.clusters;
    const [ofCut, own, clusters] = [this.labelsOfCut(), this.data.clusters, new Map()];
    for (const cluster of [...new Set(own)].filter((code) => code >= 0).sort((one, other) => one - other)) {
      const labels = ofCut.filter((label, item) => own[item] === cluster);
      const sizes = new Map();
      for (const one of labels) sizes.set(one, (sizes.get(one) ?? 0) + 1);
      const label = [...sizes.keys()].find((one) => 2 * sizes.get(one) > labels.length);
      if (label !== undefined) clusters.set(label, [...(clusters.get(label) ?? []), cluster]);
    }
    this.held = { n: this.cut.n, clusters };
    return clusters;
  }

  /** Name of a cluster: of the report, of the cut, or a name that the person gave. */
  nameOf(label) {
    if (this.ofCut) return this.nameOfCut(label);
    if (this.ofReport) return this.data.names[label];
    return label < 0 ? "not sorted" : this.sort.names[label];
  }

  /** Name of a cluster that can stand alone. */
  titleOf(label) {
    return this.titled(this.nameOf(label));
  }

  titled(name) {
    return /^\d+$/.test(name) ? `${this.noun} ${name}` : name;
  }

  /** What one of the shown clusters is called. */
  get noun() {
    return this.shown === "person" ? "group" : this.data.noun;
  }

  /** Name of the column of a file that has the clusters of the cut, or the groups of the person. */
  columnName() {
    return this.ofCut ? `${this.data.noun}_of_cut_into_${this.cut.n}` : `group_of_${this.sort.name}`;
  }

  /** The shown clusters by their numbers, with their items, those not sorted last. */
  parts() {
    const members = new Map();
    this.labels.forEach((label, item) => members.set(label, [...(members.get(label) ?? []), item]));
    return [...members].sort(([one], [other]) => (one < 0) - (other < 0) || one - other);
  }

  /** What the colours and frames are. */
  inWords() {
    const { noun, nouns } = this.data;
    if (this.ofReport) return `the report's ${nouns}`;
    if (!this.ofCut) return `the groups of ${this.sort.name}`;
    return `the ${counted(this.cut.n, noun)} of the cut of the tree into ${this.cut.n}`;
  }

  /** How often two items were put together, and shown together. */
  pair(one, other) {
    const [i, j] = one < other ? [one, other] : [other, one];
    const place = (i * (2 * this.n - i - 1)) / 2 + (j - i - 1);
    return { together: this.together[place], presented: this.presented[place] };
  }

  /** Share of the times they were shown together in which two items were put together; NaN if never shown. */
  share(one, other) {
    if (one === other) return 1;
    const { together, presented } = this.pair(one, other);
    return presented ? together / presented : NaN;
  }

  /** Light up the items of a name, or else those whose names contain the text. */
  find(text) {
    const wanted = folded(text);
    const all = [...this.folded.keys()];
    const exact = wanted ? all.filter((item) => this.folded[item] === wanted) : [];
    this.light(wanted && !exact.length ? all.filter((item) => this.folded[item].includes(wanted)) : exact);
  }

  light(items) {
    this.lit = new Set(items);
    this.tell("lit");
  }
}
