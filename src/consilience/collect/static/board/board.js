// What both boards do: moves, names, undo and redo, what is said, and the line of status.

import { History } from "./history.js";
import { groupOf, harmless, isCategory, newGroupId } from "./state.js";
import { Sync } from "./sync.js";
import { fill, join, textFor } from "./texts.js";

const SAVE_AFTER = 600; // milliseconds from a letter of a name to the server
const SPEAK_AFTER = 60; // milliseconds, so that the same sentence is heard twice

export class Board {
  constructor(data) {
    this.data = data;
    this.texts = data.texts;
    this.cards = new Map(data.cards.map((card) => [card.number, card]));
    this.presented = data.cards.map((card) => card.number);
    this.history = new History(this.presented);
    this.live = document.getElementById("live");
    this.sync = new Sync(data.state, this.presented, {
      changed: () => this.render(),
      status: (status, before) => this.showStatus(status, before),
      problem: (problem, reason) => this.showProblem(problem, reason),
    });
    this.mayMake = data.kind !== "closed";
  }

  get state() {
    return this.sync.state;
  }

  get groups() {
    return this.state.groups;
  }

  text(key, values) {
    const text = this.texts[key];
    return fill(Array.isArray(text) ? textFor(text, this.texts[""], values.count) : text, values);
  }

  join(names) {
    return join(names, this.texts.listed);
  }

  label(item) {
    return this.cards.get(item).label;
  }

  /** What a card without a text is called: what its picture shows is not told to those who shall judge it. */
  placeOf(item) {
    return this.text("card", { number: this.presented.indexOf(item) + 1 });
  }

  /** Name of a group, or its number. */
  title(group) {
    return this.data.called[group.id] || group.name || this.text("group", { number: this.groups.indexOf(group) + 1 });
  }

  group(id) {
    return this.groups.find((group) => group.id === id);
  }

  groupOf(item) {
    return groupOf(this.state, item);
  }

  mayName(group) {
    return this.data.groupNames !== "none" && !isCategory(group.id);
  }

  /** Class of a group's colour, by its place. */
  colour(place) {
    return `colour-${(place % this.data.colours) + 1}`;
  }

  // ---- changes

  do(changes) {
    if (this.sync.isClosed) return;
    this.history.remember(this.state, changes);
    this.sync.push(changes);
    this.render();
  }

  /** Move items to a group by its id, to a "new" one, or out of all groups (""); the id, or null if nothing moved. */
  move(items, to) {
    if (this.sync.isClosed) return null;
    const making = to === "new";
    const id = making ? newGroupId(this.state) : to || null;
    const moving = items.filter((item) => (this.groupOf(item)?.id ?? null) !== id);
    if (!moving.length) return null;
    const change = { kind: "move", items: moving, group: id };
    this.do(making ? [{ kind: "group", group: id }, change] : [change]);
    this.sayMoved(moving, id);
    return id ?? "";
  }

  sayMoved(items, id) {
    const values = { card: this.label(items[0]), count: items.length, left: this.state.unsorted.length };
    const key = `${id ? "moved" : "taken_out"}_${items.length > 1 ? "many" : "one"}`;
    this.say(key, { ...values, group: id ? this.title(this.group(id)) : "" });
  }

  make() {
    const id = newGroupId(this.state);
    this.do([{ kind: "group", group: id }]);
    this.say("made", { group: this.title(this.group(id)) });
    return id;
  }

  /** Keep a name while it is typed: on this device at once, and soon as a change. */
  type(id, text) {
    if (this.typed && this.typed.id !== id) this.saveTyped();
    this.typed = { id, text };
    this.sync.draft({ kind: "name", group: id, name: this.nameOf(text) });
    this.saving ??= setTimeout(() => this.saveTyped(), SAVE_AFTER);
  }

  saveTyped() {
    const { typed } = this;
    clearTimeout(this.saving);
    this.saving = this.typed = null;
    if (typed) this.setName(typed.id, typed.text);
  }

  /** Name a group, and say so. */
  rename(id, text) {
    if (this.typed?.id === id) this.typed.text = text;
    this.saveTyped();
    this.setName(id, text);
    const group = this.unsaid === id && this.group(id);
    this.unsaid = null;
    if (group?.name) this.say("named", { group: this.text("group", { number: this.groups.indexOf(group) + 1 }), name: group.name });
  }

  setName(id, text) {
    this.sync.draft(null);
    const [group, name] = [this.group(id), this.nameOf(text)];
    if (!group || name === group.name) return;
    this.unsaid = id;
    this.do([{ kind: "name", group: id, name }]);
  }

  nameOf(text) {
    return [...text.replace(/\s+/g, " ").trim()].slice(0, this.data.longestName).join("");
  }

  remove(id) {
    const title = this.title(this.group(id));
    this.do([{ kind: "remove", group: id }]);
    this.say("removed", { group: title });
  }

  turn(direction) {
    const step = this.history[direction]();
    if (!step) return;
    const changes = harmless(this.state, step, this.presented);
    if (changes.length) this.sync.push(changes);
    this.render();
    this.say(direction === "undo" ? "undone" : "redone", { left: this.state.unsorted.length });
  }

  /** The target that a digit names: the id of a group, "new", "" for none, or null if there is no such group. */
  targetOf(digit) {
    if (digit === 0) return "";
    if (digit <= this.groups.length) return this.groups[digit - 1].id;
    if (digit === this.groups.length + 1 && this.mayMake) return "new";
    this.say("no_such_group", { number: digit });
    return null;
  }

  // ---- what is shown of them

  render() {
    const [total, left] = [this.presented.length, this.state.unsorted.length];
    document.getElementById("count").textContent = this.text("sorted_count", { sorted: total - left, total });
    for (const direction of ["undo", "redo"])
      setUsable(document.getElementById(direction), this.history[direction === "undo" ? "done" : "undone"].length > 0);
    this.view?.render();
  }

  /** Say a text, by its key, to users of screen readers. */
  say(key, values) {
    clearTimeout(this.speaking);
    this.live.textContent = "";
    this.speaking = setTimeout(() => (this.live.textContent = this.text(key, values)), SPEAK_AFTER);
  }

  showStatus(status, before) {
    const element = document.getElementById("status");
    element.hidden = false;
    element.textContent = this.text(status);
    element.dataset.status = status;
    if (status === "offline" || status === "not_kept") this.say(status);
    else if (status === "saved" && before === "offline") this.say("was_offline");
  }

  showProblem(problem, reason) {
    const element = document.getElementById("problem");
    element.textContent = this.text(problem, { reason: reason ?? "" });
    element.hidden = false;
    if (problem === "no_longer_open") {
      document.getElementById("board").inert = true;
      for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
      const link = document.createElement("a");
      link.href = "/sort";
      link.textContent = this.text("reload");
      element.append(" ", link);
      link.focus();
    }
    document.getElementById("status").hidden = problem !== "refused";
  }

  /** Switch on what is the same on both boards, once the view is there. */
  start(view) {
    this.view = view;
    for (const direction of ["undo", "redo"])
      document.getElementById(direction).addEventListener("click", () => this.turn(direction));
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("pagehide", () => this.leave());
    document.addEventListener("visibilitychange", () => document.hidden && this.leave());
    this.render();
    this.showStatus("saved");
    this.sync.start();
  }

  /** Whoever goes may not come back. */
  leave() {
    this.saveTyped();
    this.sync.leave();
  }

  key(event) {
    const writing = event.target.closest?.("input:not([type=radio]), textarea");
    if (writing || document.querySelector("dialog[open]") || event.altKey || !(event.ctrlKey || event.metaKey)) return;
    const key = event.key.toLowerCase();
    if (key !== "z" && key !== "y") return;
    event.preventDefault();
    this.turn(key === "y" || event.shiftKey ? "redo" : "undo");
  }
}

/** Make a button look and act unusable without taking the focus from it. */
export function setUsable(button, usable) {
  button.setAttribute("aria-disabled", String(!usable));
}
