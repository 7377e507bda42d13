// What the colours are: the shown clusters, or groups of a person, with their items.

class Key {
  constructor(state, root) {
    this.state = state;
    this.list = root.querySelector(".key");
    this.about = root.querySelector("#key-about");
    this.whole = root.querySelector("#key-items");
    this.members = this.whole.querySelector("dl");
    this.whole.addEventListener("toggle", () => this.paint());
    state.when("clusters", () => this.paint());
  }

  paint() {
    const parts = this.state.parts();
    this.about.textContent = `Colours: ${this.state.inWords()}`;
    this.list.replaceChildren(...parts.map(([label, items]) => this.entry("li", label, items)));
    if (this.whole.open) this.members.replaceChildren(...parts.flatMap(([label, items]) => this.described(label, items)));
  }

  /** Marker, name and number of items of a cluster. */
  entry(tag, label, items) {
    const element = document.createElement(tag);
    const { readers } = this.state.data;
    const many = `${items.length} ${items.length === 1 ? readers.item : readers.items}`;
    element.append(swatch(this.state.data.look, label), nameOf(this.state.titleOf(label)), `: ${many}`);
    return element;
  }

  /** A cluster and its items, which are lit up by a click. */
  described(label, items) {
    const all = document.createElement("dd");
    items.forEach((item, place) => {
      if (place) all.append(" ");
      const each = add(all, "span", "", { class: "each" }); // or a line could begin with the comma
      const button = add(each, "button", "", { type: "button", class: "pick" });
      button.append(nameOf(this.state.data.items[item]));
      button.addEventListener("click", () => this.state.pick(item));
      if (place < items.length - 1) each.append(",");
    });
    return [this.entry("dt", label, items), all];
  }
}
