// The sheet: pictures stay where they are, and are marked with the number and colour of a group.

import { cardTowards, fillList, focusCard, itemOf, keepOneStop, makeCards, shownIn } from "./cards.js";
import { showZoom } from "./dialogs.js";
import { badge } from "./targets.js";

const FROM_HOW_MANY = 16; // cards there is a search

export class Sheet {
  constructor(board) {
    this.board = board;
    this.sheet = document.getElementById("sheet");
    this.choices = document.getElementById("choices");
    this.cards = makeCards(board.data.cards, board.texts);
    this.current = board.groups[0]?.id ?? "new";
    fillList(this.sheet, board.presented.map((item) => this.cards.get(item)));
    this.sheet.addEventListener("click", (event) => this.click(event));
    this.sheet.addEventListener("keydown", (event) => this.key(event));
    this.sheet.addEventListener("focusin", (event) => keepOneStop(this.sheet, event.target.closest(".card")));
    this.choices.addEventListener("change", (event) => this.choose(event.target.value, true));
    this.choices.addEventListener("keydown", (event) => this.choiceKey(event));
    document.getElementById("names-button")?.addEventListener("click", () => this.askName());
    this.prepareSearch();
    this.placeLegend(matchMedia("(width < 60rem)"));
  }

  /** The legend stands beside the sheet, and on narrow screens at the foot of the window. */
  placeLegend(narrow) {
    const legend = document.getElementById("legend");
    const place = () => (narrow.matches ? document.querySelector(".foot") : this.sheet.parentElement).prepend(legend);
    narrow.addEventListener("change", place);
    place();
  }

  // ---- drawing

  render() {
    if (this.current !== "new" && this.current !== "" && !this.board.group(this.current)) this.current = "new";
    if (this.current === "new" && !this.board.mayMake) this.current = this.board.groups[0]?.id ?? "";
    this.renderChoices();
    for (const [item, card] of this.cards) this.renderCard(item, card);
    keepOneStop(this.sheet);
  }

  renderChoices() {
    const { board, choices } = this;
    const shown = board.groups.map((group, place) => [group.id, board.title(group), place, group.items.length]);
    if (board.mayMake) shown.push(["new", board.text("new_group"), board.groups.length]);
    shown.push(["", board.text("no_group"), undefined, board.state.unsorted.length]);
    shown.forEach((choice, place) => this.renderChoice(place, ...choice));
    while (choices.children.length > shown.length) choices.lastElementChild.remove();
  }

  renderChoice(at, id, title, place, count) {
    const template = document.getElementById("choice-template").content.firstElementChild;
    const choice = this.choices.children[at] ?? this.choices.appendChild(template.cloneNode(true));
    const input = choice.querySelector("input");
    input.value = id;
    input.checked = id === this.current;
    const mark = choice.querySelector(".badge");
    mark.textContent = place === undefined ? "–" : place + 1;
    mark.className = place === undefined ? "badge none" : `badge ${this.board.colour(place)}`;
    choice.classList.toggle("new", id === "new");
    choice.querySelector(".choice-name").textContent = title;
    choice.querySelector(".number").textContent = count ?? "";
  }

  renderCard(item, card) {
    const group = this.board.groupOf(item);
    const mark = card.querySelector(".badge");
    const place = group ? this.board.groups.indexOf(group) : undefined;
    card.className = card.className.replace(/ ?colour-\d+/, "");
    card.classList.toggle("marked", Boolean(group));
    if (group) card.classList.add(this.board.colour(place));
    mark.textContent = group ? place + 1 : "";
    mark.className = group ? `badge ${this.board.colour(place)}` : "badge none";
    const title = group ? this.board.title(group) : this.board.text("no_group");
    const values = { card: this.board.label(item), group: title };
    card.querySelector(".pick").setAttribute("aria-label", this.board.text("marked", values));
  }

  // ---- searching

  prepareSearch() {
    const texts = this.board.data.cards.filter((card) => card.text);
    document.getElementById("search-box").hidden = this.cards.size < FROM_HOW_MANY || !texts.length;
    const field = document.getElementById("search");
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLocaleLowerCase();
      let count = 0;
      for (const [item, card] of this.cards) {
        card.hidden = Boolean(wanted) && !this.board.label(item).toLocaleLowerCase().includes(wanted);
        count += !card.hidden;
      }
      const found = wanted ? this.board.text("found", { count, total: this.cards.size }) : "";
      document.getElementById("found").textContent = found;
      keepOneStop(this.sheet);
    });
  }

  // ---- marking

  /** Choose the group with which cards are marked from now on. */
  choose(target, aloud = false) {
    this.current = target;
    this.renderChoices();
    this.choices.querySelector("input:checked").closest("label").scrollIntoView({ block: "nearest", inline: "nearest" });
    if (!aloud) return;
    const [group, keys] = [this.board.group(target), { new: "new_group", "": "no_group" }];
    this.board.say("chosen", { group: group ? this.board.title(group) : this.board.text(keys[target]) });
  }

  /** Mark a card with a group; with the one that it has already, take it out, if the card was clicked. */
  mark(item, target, turning = false) {
    const has = this.board.groupOf(item)?.id ?? "";
    const wanted = turning && has === target ? "" : target;
    const id = this.board.move([item], wanted);
    if (id) this.choose(id);
  }

  click(event) {
    const item = itemOf(event.target);
    if (event.target.closest(".zoom")) this.enlarge(item);
    else if (event.target.closest(".pick")) {
      this.mark(item, this.current, true);
      focusCard(this.cards.get(item));
    }
  }

  key(event) {
    const card = event.target.closest(".card");
    if (!card || event.altKey || event.ctrlKey || event.metaKey) return;
    const towards = cardTowards(card, event.key);
    if (towards) focusCard(towards);
    else if (/^\d$/.test(event.key)) this.digit(itemOf(card), Number(event.key));
    else if (event.key === "Delete" || event.key === "Backspace") this.mark(itemOf(card), "");
    else if (event.key.toLowerCase() === "z") this.enlarge(itemOf(card));
    else return;
    event.preventDefault();
  }

  digit(item, number) {
    const target = this.board.targetOf(number);
    if (target !== null) this.mark(item, target);
  }

  /** In the legend, a number chooses a group. */
  choiceKey(event) {
    if (!/^\d$/.test(event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
    const target = this.board.targetOf(Number(event.key));
    if (target === null) return;
    event.preventDefault();
    this.choose(target, true);
    this.choices.querySelector("input:checked").focus();
  }

  // ---- dialogs

  enlarge(item) {
    const among = shownIn(this.sheet).filter((each) => each.querySelector(".zoom")).map(itemOf);
    if (among.includes(item)) showZoom(this.board, item, among, (shown) => focusCard(this.cards.get(shown)));
  }

  /** Ask for the names of groups, beginning with one of them. */
  askName(id = null) {
    const dialog = document.getElementById("names-dialog");
    const fields = document.getElementById("names-fields");
    const named = this.board.groups.filter((group) => this.board.mayName(group));
    fields.replaceChildren(...named.map((group) => this.nameField(group)));
    const close = () => named.forEach((group, place) => this.board.rename(group.id, fieldsOf(fields)[place].value));
    dialog.onclose = close;
    dialog.showModal();
    fieldsOf(fields)[Math.max(0, named.findIndex((group) => group.id === id))]?.focus();
  }

  nameField(group) {
    const place = this.board.groups.indexOf(group);
    const label = document.createElement("label");
    const input = document.createElement("input");
    Object.assign(input, { value: group.name, maxLength: this.board.data.longestName, autocomplete: "off", dir: "auto" });
    input.setAttribute("aria-label", this.board.text("group_name", { number: place + 1 }));
    input.placeholder = this.board.text("name_this_group");
    label.append(badge(place + 1, this.board.colour(place)), input);
    input.addEventListener("input", () => this.board.type(group.id, input.value));
    input.addEventListener("change", () => this.board.rename(group.id, input.value));
    return label;
  }
}

function fieldsOf(element) {
  return [...element.querySelectorAll("input")];
}
