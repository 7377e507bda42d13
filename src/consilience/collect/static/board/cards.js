// Cards: their elements, and the keys that go from one to another within a list.

import { fill } from "./texts.js";

const LONG = 140; // letters of a text that is cut on its card, and can be enlarged
const WIDEST = innerWidth < 640 ? 8.8 : 10.8; // widths of the font that a word can have: longer ones are broken
const BREAKS = /([\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]+|(?<=[-\u2010\u2013]))/u;

/** An element for each card, by its number; the view hangs listeners on them. */
export function makeCards(cards, texts) {
  const template = document.getElementById("card-template").content.firstElementChild;
  document.getElementById("board").style.setProperty("--word", widestWord(cards));
  return new Map(cards.map((card) => [card.number, makeCard(template.cloneNode(true), card, texts)]));
}

function makeCard(element, card, texts) {
  element.dataset.item = card.number;
  const [image, text, zoom] = ["img", ".card-text", ".zoom"].map((selector) => element.querySelector(selector));
  const address = card.small ?? card.picture;
  if (address) {
    image.src = address;
    image.alt = card.text ? "" : card.label;
    image.addEventListener("error", () => showInstead(image, text, card), { once: true });
  } else image.remove();
  if (card.text || !address) text.replaceChildren(...words(card.text || card.label));
  else text.remove();
  if (card.language) text.lang = card.language;
  element.classList.toggle("pictured", Boolean(address));
  const long = card.text.length > LONG;
  element.classList.toggle("long", long || Boolean(card.description));
  if (card.picture || long || card.description)
    zoom.setAttribute("aria-label", fill(card.description ? texts.explain : texts.enlarge, { card: card.label }));
  else zoom.remove();
  if (card.description) explain(element, zoom, card);
  element.querySelector(".pick").tabIndex = -1;
  return element;
}

/** A card that has a description says so by its sign, and to a mouse that rests on it by all of it. */
function explain(element, zoom, card) {
  const sign = document.createElement("span");
  sign.ariaHidden = "true";
  sign.textContent = "i";
  zoom.replaceChildren(sign);
  element.title = card.description;
}

// ---- words: cards are as wide as their longest word needs, so that none is broken but where it must

/** Width of a text in widths of the font. */
function widthOf(text) {
  const pen = (widthOf.pen ??= document.createElement("canvas").getContext("2d"));
  pen.font = `100px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width / 100;
}

function widestWord(cards) {
  const all = new Set(cards.flatMap((card) => card.text.split(BREAKS)));
  return Math.min(WIDEST, Math.max(0, ...[...all].map(widthOf)));
}

/** Parts of a text; words that no card has room for are marked, and broken by the rules of the language. */
function words(text) {
  return text.split(BREAKS).map((word) => {
    if (word.length < WIDEST || widthOf(word) <= WIDEST) return document.createTextNode(word);
    const part = document.createElement("span");
    part.className = "too-long";
    part.textContent = word;
    return part;
  });
}

/** A picture that cannot be loaded gives way to its name. */
function showInstead(image, text, card) {
  if (!text.isConnected) image.after(text);
  text.textContent = card.label;
  image.remove();
}

/** The item of the card that an element is in, or null. */
export function itemOf(element) {
  const card = element?.closest?.(".card[data-item]");
  return card ? Number(card.dataset.item) : null;
}

/** Cards of a list that are shown. */
export function shownIn(list) {
  return [...list.children].filter((card) => !card.hidden);
}

/** Set the cards of a list, touching only what differs. */
export function fillList(list, elements) {
  elements.forEach((element, place) => {
    if (list.children[place] !== element) list.insertBefore(element, list.children[place] ?? null);
  });
  while (list.children.length > elements.length) list.lastElementChild.remove();
}

/** One card of each list can be reached with Tab, the others with the arrow keys. */
export function keepOneStop(list, wanted = null) {
  const shown = shownIn(list);
  const current = wanted ?? shown.find((card) => card.querySelector(".pick").tabIndex === 0) ?? shown[0];
  for (const card of list.children)
    for (const button of card.querySelectorAll("button")) button.tabIndex = card === current ? 0 : -1;
}

export function focusCard(card) {
  const pick = card.querySelector(".pick");
  keepOneStop(card.parentElement, card);
  pick.focus();
}

const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: "up", ArrowDown: "down", Home: "first", End: "last" };

/** The card to which a key leads from a card, or undefined. */
export function cardTowards(card, key) {
  const shown = shownIn(card.parentElement);
  const place = shown.indexOf(card);
  const step = STEPS[key];
  if (step === "first") return shown[0];
  if (step === "last") return shown.at(-1);
  if (typeof step === "number") return shown[place + (getComputedStyle(card).direction === "rtl" ? -step : step)];
  return step && nearest(shown, card, step === "down");
}

/** The card above or below that is nearest to a card. */
function nearest(shown, card, below) {
  const from = card.getBoundingClientRect();
  const centre = (box) => box.left + box.width / 2;
  let [best, least] = [undefined, Infinity];
  for (const other of shown) {
    const box = other.getBoundingClientRect();
    const down = below ? box.top - from.bottom : from.top - box.bottom;
    const distance = down * 1000 + Math.abs(centre(box) - centre(from));
    if (down > -4 && distance < least) [best, least] = [other, distance];
  }
  return best;
}
