// Who put two items together, and what they called the group: chosen by a cell of the matrix, or by their names.

class Makers {
  constructor(state, root) {
    this.state = state;
    this.box = root.querySelector("#makers");
    this.said = this.box.querySelector(".said");
    this.choices = [...this.box.querySelectorAll("select")];
    const { items } = state.data;
    const order = [...items.keys()].sort((one, other) => inOrder(items[one], items[other]));
    for (const choice of this.choices) {
      for (const item of order) add(choice, "option", items[item], { value: item });
      choice.addEventListener("change", () => this.tell());
    }
    this.select(order[0], order[1]);
    this.box.addEventListener("toggle", () => this.box.open && this.tell());
    state.askWho = (one, other) => {
      if (one === other) return;
      this.select(one, other);
      if (this.box.open) this.tell();
      else this.box.open = true;
    };
  }

  select(...items) {
    this.choices.forEach((choice, place) => (choice.value = items[place]));
  }

  /** Write who put the chosen items together, by the name of the group, and who put them apart. */
  tell() {
    const [one, other] = this.choices.map((choice) => Number(choice.value));
    const { items } = this.state.data;
    const sorts = this.state.data.sorts.filter(({ labels }) => labels[one] >= 0 && labels[other] >= 0);
    const together = sorts.filter(({ labels }) => one !== other && labels[one] === labels[other]);
    const head = document.createElement("p");
    const share = sorts.length ? ` (${percentText(together.length / sorts.length)})` : "";
    const count = one === other ? ": choose two." : `: together ${together.length} of ${sorts.length} times${share}.`;
    head.append(nameOf(items[one]), " and ", nameOf(items[other]), count);
    const lists = this.byName(together, one).map(([name, who]) => this.entry(name, who));
    const apart = one === other ? [] : sorts.filter((sort) => !together.includes(sort)).map(({ name }) => name);
    this.said.replaceChildren(head, ...lists, ...(apart.length ? [this.entry(null, apart)] : []));
  }

  /** People by the standard name of the group, the commonest first, groups without a name last. */
  byName(sorts, item) {
    const found = new Map();
    for (const { name: person, labels, called } of sorts) {
      const name = this.state.data.standard[called[labels[item]]] ?? "";
      found.set(name, [...(found.get(name) ?? []), person]);
    }
    return [...found].sort(([one, by], [other, others]) => !one - !other || others.length - by.length);
  }

  /** A paragraph with a name, and who used it; without a name for groups that have none, null for who put them apart. */
  entry(name, who) {
    const line = document.createElement("p");
    const bold = add(line, "b");
    if (name) bold.append("under “", nameOf(name), "”");
    else bold.append(name === null ? "apart" : "in a group without a name");
    line.append(`, ${who.length}: `, ...who.flatMap((person, place) => [place ? ", " : "", nameOf(person)]));
    return line;
  }
}
