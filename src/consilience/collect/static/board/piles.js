// The board of piles: cards lie in groups, and are moved between them.

import { setUsable } from "./board.js";
import { cardTowards, fillList, focusCard, itemOf, keepOneStop, makeCards, shownIn } from "./cards.js";
import { showZoom } from "./dialogs.js";
import { Dragging } from "./drag.js";
import { fitHeight, makePanel, showPanel } from "./panels.js";
import { Selection } from "./selection.js";
import { Targets } from "./targets.js";

const FROM_HOW_MANY = 16; // cards there is a search

/** Whether a key presses a button. Browsers differ in what it does together with Ctrl or Shift. */
function isPress(event) {
  return event.key === "Enter" || event.key === " ";
}

export class Piles {
  constructor(board) {
    this.board = board;
    this.root = document.getElementById("board");
    this.unsorted = document.getElementById("unsorted");
    this.panels = new Map();
    this.cards = makeCards(board.data.cards, board.texts);
    this.selection = new Selection(() => this.showSelection());
    this.targets = new Targets(board, (target) => this.moveSelected(target));
    this.root.addEventListener("pointerdown", (event) => (this.pointer = event.pointerType));
    this.root.addEventListener("click", (event) => this.click(event));
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.root.addEventListener("keyup", (event) => (event.ctrlKey || event.shiftKey) && isPress(event) && event.preventDefault());
    this.root.addEventListener("focusin", (event) => this.focused(event));
    this.several = document.getElementById("several");
    this.several.addEventListener("click", () => this.turnSeveral());
    document.getElementById("clear").addEventListener("click", () => this.clear());
    document.getElementById("look").hidden = ![...this.cards.values()].some((card) => card.querySelector(".zoom"));
    document.getElementById("look").addEventListener("click", () => this.enlarge(this.selection.list[0]));
    document.getElementById("new-group")?.addEventListener("click", () => this.newGroup());
    this.dragging = new Dragging(this.root, (item) => this.lift(item), (target) => this.moveSelected(target));
    new ResizeObserver(() => this.root.querySelectorAll(".group-name").forEach(fitHeight)).observe(this.root);
    this.prepareSearch();
  }

  // ---- drawing

  render() {
    const { groups, state } = this.board;
    fillList(this.unsorted, state.unsorted.map((item) => this.cards.get(item)));
    document.getElementById("unsorted-count").textContent = state.unsorted.length;
    document.getElementById("all-sorted").hidden = state.unsorted.length > 0;
    this.renderPanels(groups);
    this.search();
    this.showSelection();
  }

  renderPanels(groups) {
    const parent = document.getElementById("groups");
    const ids = new Set(groups.map((group) => group.id));
    for (const [id, panel] of this.panels)
      if (!ids.has(id)) {
        panel.remove();
        this.panels.delete(id);
      }
    groups.forEach((group, place) => {
      let panel = this.panels.get(group.id);
      if (!panel) this.panels.set(group.id, (panel = makePanel(this.board, group.id)));
      if (parent.children[place] !== panel) parent.insertBefore(panel, parent.children[place] ?? null);
      showPanel(this.board, panel, group, place);
      fillList(panel.querySelector(".cards"), group.items.map((item) => this.cards.get(item)));
    });
  }

  showSelection() {
    const { items, list } = this.selection;
    this.targets.render(list);
    for (const [item, card] of this.cards) {
      const selected = items.has(item);
      card.classList.toggle("selected", selected);
      card.querySelector(".pick").setAttribute("aria-pressed", String(selected));
    }
    this.root.classList.toggle("choosing", items.size > 0);
    document.getElementById("bar").hidden = !items.size;
    document.getElementById("selected-count").textContent = this.board.text("selected", { count: items.size });
    setUsable(document.getElementById("look"), list.length === 1 && this.cards.get(list[0]).querySelector(".zoom"));
    for (const button of this.root.querySelectorAll(".here"))
      setUsable(button, list.some((item) => (this.board.groupOf(item)?.id ?? "") !== button.dataset.move));
  }

  // ---- searching

  prepareSearch() {
    const texts = this.board.data.cards.filter((card) => card.text);
    document.getElementById("search-box").hidden = this.cards.size < FROM_HOW_MANY || !texts.length;
    this.field = document.getElementById("search");
    this.field.addEventListener("input", () => {
      this.search();
      this.selection.set(this.selection.list.filter((item) => !this.cards.get(item).hidden));
    });
  }

  /** Show the cards whose text holds what was typed. */
  search() {
    const wanted = this.field.value.trim().toLocaleLowerCase();
    let count = 0;
    for (const [item, card] of this.cards) {
      card.hidden = Boolean(wanted) && !this.board.label(item).toLocaleLowerCase().includes(wanted);
      count += !card.hidden;
    }
    const found = wanted ? this.board.text("found", { count, total: this.cards.size }) : "";
    document.getElementById("found").textContent = found;
    for (const list of this.root.querySelectorAll("ul.cards")) keepOneStop(list);
  }

  // ---- selecting

  click(event) {
    const item = itemOf(event.target);
    if (event.target.closest(".here")) this.moveSelected(event.target.closest(".here").dataset.move);
    else if (event.target.closest(".zoom")) this.enlarge(item);
    else if (event.target.closest(".pick")) this.pick(item, event, this.pointer === "touch" && event.detail > 0);
  }

  /** A finger has no Ctrl: each tap adds a card, or takes it away. */
  pick(item, event, tapped = false) {
    const card = this.cards.get(item);
    const among = shownIn(card.parentElement).map(itemOf);
    this.selection.pick(item, { ctrl: event.ctrlKey || event.metaKey || tapped, shift: event.shiftKey }, among);
    focusCard(card);
  }

  turnSeveral() {
    this.selection.several = !this.selection.several;
    this.several.setAttribute("aria-pressed", String(this.selection.several));
  }

  clear() {
    const [item] = this.selection.list;
    this.selection.clear();
    if (item !== undefined) focusCard(this.cards.get(item));
  }

  focused(event) {
    const card = event.target.closest(".card");
    if (card) keepOneStop(card.parentElement, card);
  }

  // ---- keys of a card

  key(event) {
    if (event.key === "Escape" && !event.target.closest("input, textarea")) this.selection.clear();
    const card = event.target.closest(".card");
    if (!card || event.altKey) return;
    const ctrl = event.ctrlKey || event.metaKey;
    const towards = cardTowards(card, event.key);
    if (towards) this.go(card, towards, event);
    else if ((ctrl || event.shiftKey) && isPress(event) && event.target.closest(".pick")) this.pick(itemOf(card), event);
    else if (ctrl && event.key.toLowerCase() === "a") this.selection.set(shownIn(card.parentElement).map(itemOf));
    else if (!ctrl && /^\d$/.test(event.key)) this.digit(card, Number(event.key));
    else if (!ctrl && (event.key === "Delete" || event.key === "Backspace")) this.digit(card, 0);
    else if (!ctrl && event.key.toLowerCase() === "z") this.enlarge(itemOf(card));
    else return;
    event.preventDefault();
  }

  go(card, towards, event) {
    if (event.shiftKey) {
      if (!this.selection.items.size) this.selection.set([itemOf(card)]);
      this.selection.pick(itemOf(towards), { shift: true }, shownIn(card.parentElement).map(itemOf));
    }
    focusCard(towards);
  }

  /** A number moves the selected cards, or the card that has the focus if none is selected. */
  digit(card, number) {
    const target = this.board.targetOf(number);
    if (target === null) return;
    if (!this.selection.items.size) this.selection.set([itemOf(card)]);
    this.moveSelected(target);
  }

  // ---- moving

  /** Move the selected cards to a target; the focus goes to the next card, unless it stands on a button. */
  moveSelected(target) {
    const items = this.selection.list;
    if (!items.length) {
      this.board.say("select_first");
      return;
    }
    const focused = document.activeElement;
    const fromCard = !focused || focused === document.body || focused.closest(".card, .bar, dialog");
    const next = this.cardAfter(items);
    const list = this.cards.get(items[0]).parentElement;
    const id = this.board.move(items, target);
    this.selection.clear();
    if (id === null || !fromCard) return;
    if (next) focusCard(next);
    else if (list === this.unsorted) document.getElementById("unsorted-title").focus();
    else list.parentElement.querySelector(".here").focus();
  }

  /** The card that comes after those that move, or before them, in the list of the first. */
  cardAfter(items) {
    const moving = new Set(items);
    const first = this.cards.get(items[0]);
    const shown = shownIn(first.parentElement);
    const stays = (card) => !moving.has(itemOf(card));
    const place = shown.indexOf(first);
    return shown.slice(place).find(stays) ?? shown.slice(0, place).findLast(stays);
  }

  /** Make a group with the selected cards, or an empty one to be named first. */
  newGroup() {
    if (this.selection.items.size) {
      this.moveSelected("new");
      return;
    }
    const panel = this.panels.get(this.board.make());
    const name = panel.querySelector(".group-name");
    (name && !name.hidden ? name : panel.querySelector(".here")).focus();
  }

  /** Lead to the name of a group. */
  askName(id) {
    this.panels.get(id).querySelector(".group-name").focus();
  }

  /** Select a card that is dragged, unless it is one of those selected. */
  lift(item) {
    if (!this.selection.items.has(item)) this.selection.set([item]);
    return this.selection.list.map((each) => this.cards.get(each));
  }

  enlarge(item) {
    const card = this.cards.get(item);
    if (!card?.querySelector(".zoom")) return;
    const among = shownIn(card.parentElement).filter((each) => each.querySelector(".zoom")).map(itemOf);
    showZoom(this.board, item, among, (shown) => focusCard(this.cards.get(shown)));
  }
}
