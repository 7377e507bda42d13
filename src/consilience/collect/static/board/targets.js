// Where selected cards can go without dragging: a button for each group in the bar below, and the menu "Move to…".

export class Targets {
  constructor(board, move) {
    this.board = board;
    this.chips = document.getElementById("chips");
    this.dialog = document.getElementById("move-dialog");
    this.options = document.getElementById("move-options");
    this.chips.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) move(button.dataset.drop);
    });
    this.options.addEventListener("click", (event) => this.choose(event.target.closest("button")?.dataset.drop, move));
    this.dialog.addEventListener("keydown", (event) => {
      const target = /^\d$/.test(event.key) && !event.ctrlKey ? board.targetOf(Number(event.key)) : null;
      if (target !== null) this.choose(target, move);
    });
    document.getElementById("move-to").addEventListener("click", () => this.dialog.showModal());
  }

  choose(target, move) {
    if (target === undefined) return;
    this.dialog.close();
    move(target);
  }

  /** Show the targets; those selected can only be taken out of groups if one of them is in a group. */
  render(selected) {
    const { board } = this;
    const targets = board.groups.map((group, place) => [group.id, board.title(group), place, group.items.length]);
    if (board.mayMake) targets.push(["new", board.text("new_group")]);
    if (selected.some((item) => board.groupOf(item)))
      targets.push(["", board.text("unsorted"), undefined, board.state.unsorted.length]);
    for (const parent of [this.chips, this.options])
      targets.forEach((target, place) => this.show(parent, place, ...target));
    for (const parent of [this.chips, this.options])
      while (parent.children.length > targets.length) parent.lastElementChild.remove();
  }

  /** Show a target in the button at its place, which keeps the focus that it may have. */
  show(parent, at, id, title, place, count) {
    const button = parent.children[at] ?? parent.appendChild(document.createElement("button"));
    button.type = "button";
    button.className = "chip";
    button.dataset.drop = id;
    const parts = [document.createElement("bdi")];
    parts[0].textContent = title;
    if (place !== undefined) parts.unshift(badge(place + 1, this.board.colour(place)));
    else if (id === "new") parts.unshift(badge("+", "plus"));
    if (count !== undefined) parts.push(counted(count));
    button.replaceChildren(...parts);
  }
}

export function badge(text, colour) {
  const element = document.createElement("span");
  element.className = `badge ${colour}`;
  element.textContent = text;
  element.setAttribute("aria-hidden", "true");
  return element;
}

function counted(count) {
  const element = document.createElement("span");
  element.className = "number";
  element.textContent = count;
  return element;
}
