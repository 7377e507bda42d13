// Dragging cards to a group: nothing that cannot be done otherwise. With a finger, a card is held first, so that
// scrolling is left alone.

import { itemOf } from "./cards.js";

const HOLD = 200; // milliseconds before a finger lifts a card
const STILL = 8; // pixels that a finger may move until then
const FAR = 6; // pixels after which a mouse drags
const EDGE = 56; // pixels from the edge of the window where it scrolls
const SPEED = 12; // pixels a frame

export class Dragging {
  /**
   * @param {Element} root
   * @param {function(number): Element[]} lift gives the cards that are dragged with an item
   * @param {function(string)} drop moves them to a target
   */
  constructor(root, lift, drop) {
    Object.assign(this, { root, lift, drop });
    root.addEventListener("pointerdown", (event) => this.down(event));
    addEventListener("pointermove", (event) => this.move(event));
    addEventListener("pointerup", (event) => this.up(event));
    addEventListener("pointercancel", () => this.end());
    addEventListener("blur", () => this.end());
    addEventListener("keydown", (event) => event.key === "Escape" && this.ghost && this.cancel(event), true);
    root.addEventListener("touchmove", (event) => this.ghost && event.preventDefault(), { passive: false });
    root.addEventListener("contextmenu", (event) => this.from?.finger && event.preventDefault());
    root.addEventListener("dragstart", (event) => event.preventDefault());
    root.addEventListener("click", (event) => this.swallow(event), true);
  }

  down(event) {
    this.dropped = false;
    const pick = event.target.closest(".card .pick");
    if (!pick || event.button || !event.isPrimary || event.ctrlKey || event.shiftKey || event.metaKey) return;
    const finger = event.pointerType === "touch";
    this.from = { item: itemOf(pick), x: event.clientX, y: event.clientY, finger, id: event.pointerId };
    this.at = this.from;
    if (finger) this.holding = setTimeout(() => this.begin(), HOLD);
  }

  move(event) {
    if (!this.from || event.pointerId !== this.from.id) return;
    this.at = { x: event.clientX, y: event.clientY };
    const distance = Math.hypot(this.at.x - this.from.x, this.at.y - this.from.y);
    if (this.ghost) this.follow();
    else if (this.from.finger) {
      if (distance > STILL) this.end();
    } else if (distance > FAR) this.begin();
  }

  begin() {
    const cards = this.lift(this.from.item);
    this.lifted = cards;
    for (const card of cards) card.classList.add("lifted");
    this.ghost = document.createElement("div");
    this.ghost.className = "ghost";
    this.ghost.setAttribute("aria-hidden", "true");
    this.ghost.append(...cards.slice(0, 3).map((card) => card.querySelector(".pick").cloneNode(true)));
    if (cards.length > 1) this.ghost.append(this.number(cards.length));
    document.body.append(this.ghost);
    document.body.classList.add("dragging");
    this.follow();
    this.scroll();
  }

  number(count) {
    const element = document.createElement("span");
    element.className = "badge";
    element.textContent = count;
    return element;
  }

  follow() {
    this.ghost.style.transform = `translate(${this.at.x}px, ${this.at.y}px)`;
    const over = document.elementFromPoint(this.at.x, this.at.y)?.closest("[data-drop]") ?? null;
    if (over === this.over) return;
    this.over?.classList.remove("over");
    this.over = over;
    over?.classList.add("over");
  }

  /** Scroll while cards are held near an edge: what scrolls under them, or else the page. */
  scroll() {
    if (!this.ghost) return;
    const height = innerHeight;
    const by = this.at.y < EDGE ? -SPEED : this.at.y > height - EDGE ? SPEED : 0;
    if (by) {
      scrollBy(0, by);
      this.follow();
    }
    requestAnimationFrame(() => this.scroll());
  }

  up(event) {
    if (!this.from || event.pointerId !== this.from.id) return;
    const target = this.ghost ? this.over?.dataset.drop : undefined;
    this.dropped = Boolean(this.ghost);
    this.end();
    if (target !== undefined) this.drop(target);
  }

  cancel(event) {
    event.stopPropagation();
    this.dropped = true;
    this.end();
  }

  end() {
    clearTimeout(this.holding);
    this.over?.classList.remove("over");
    this.ghost?.remove();
    for (const card of this.lifted ?? []) card.classList.remove("lifted");
    document.body.classList.remove("dragging");
    this.from = this.ghost = this.over = this.lifted = null;
  }

  /** The click that ends a drag selects nothing. */
  swallow(event) {
    if (!this.dropped) return;
    this.dropped = false;
    event.stopPropagation();
    event.preventDefault();
  }
}
