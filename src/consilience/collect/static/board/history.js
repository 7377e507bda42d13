// Undo and redo: each step is undone by ordinary changes, which are sent like all others.

import { inverseOfAll } from "./state.js";

export class History {
  constructor(presented) {
    this.presented = presented;
    this.done = [];
    this.undone = [];
  }

  /** Remember changes before they are made. Names of the same group, typed one after another, are one step. */
  remember(state, changes) {
    const undoing = inverseOfAll(state, changes, this.presented);
    const last = this.done.at(-1);
    const [change] = changes;
    const typing = changes.length === 1 && change.kind === "name" && last?.changes.length === 1;
    if (typing && last.changes[0].kind === "name" && last.changes[0].group === change.group) last.changes = changes;
    else this.done.push({ changes, undoing });
    this.undone = [];
  }

  /** The changes that undo the last step, or null. */
  undo() {
    const step = this.done.pop();
    if (step) this.undone.push(step);
    return step?.undoing ?? null;
  }

  /** The changes that do the last undone step again, or null. */
  redo() {
    const step = this.undone.pop();
    if (step) this.done.push(step);
    return step?.changes ?? null;
  }
}
