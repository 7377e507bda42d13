// Which cards are selected: one by a click, several with Ctrl, Shift, the button for several, or a finger.

export class Selection {
  constructor(changed) {
    this.items = new Set();
    this.anchor = null;
    this.several = false;
    this.changed = changed;
  }

  /** Items in the order in which they were selected. */
  get list() {
    return [...this.items];
  }

  /** Click a card, or press Enter on it; `among` are the items of its list that are shown. */
  pick(item, { ctrl = false, shift = false } = {}, among = []) {
    if (shift && among.includes(this.anchor)) this.extend(item, among, ctrl || this.several);
    else if (ctrl || shift || this.several) this.toggle(item);
    else {
      const alone = this.items.size === 1 && this.items.has(item);
      this.items = new Set(alone ? [] : [item]);
      this.anchor = item;
    }
    this.changed();
  }

  toggle(item) {
    if (!this.items.delete(item)) this.items.add(item);
    this.anchor = item;
  }

  extend(item, among, keeping) {
    const [from, to] = [among.indexOf(this.anchor), among.indexOf(item)];
    const range = among.slice(Math.min(from, to), Math.max(from, to) + 1);
    this.items = new Set([...(keeping ? this.items : []), ...range]);
  }

  set(items) {
    this.items = new Set(items);
    this.anchor = items[0] ?? null;
    this.changed();
  }

  clear() {
    if (this.items.size) this.set([]);
  }
}
