// What the pages of studies gain from scripts; all of them work without.

const EVERY = 3000; // milliseconds between two looks at the progress
const MOST = 60000; // when the server cannot be reached

function copyButtons() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const field = document.getElementById(button.dataset.copy);
      field.select();
      try {
        await navigator.clipboard.writeText(field.value);
      } catch {
        document.execCommand("copy"); // where the page is not encrypted
      }
      button.textContent = "Copied";
    });
  }
}

async function watch(place) {
  const parts = new Map([...place.children].map((part) => [part.id, part.outerHTML]));
  let seen = null;
  let wait = EVERY;
  for (;;) {
    await new Promise((done) => setTimeout(done, wait));
    if (document.hidden) continue;
    try {
      const headers = seen ? { "If-None-Match": seen } : {};
      const answer = await fetch(place.dataset.progress, { headers, cache: "no-store" });
      if (answer.status === 401 || answer.status === 404) return;
      if (answer.status === 200) seen = show(place, parts, await answer.text()) ? answer.headers.get("ETag") : null;
      wait = answer.ok || answer.status === 304 ? EVERY : Math.min(2 * wait, MOST);
    } catch {
      wait = Math.min(2 * wait, MOST);
    }
  }
}

// Replaces the parts that changed; returns false if one has to wait, since nothing moves under somebody's hands.
function show(place, parts, text) {
  const fresh = [...new DOMParser().parseFromString(text, "text/html").body.children];
  const old = [...place.children];
  const alike = old.length === fresh.length && fresh.every((part, at) => part.id && part.id === old[at].id);
  const pairs = alike ? fresh.map((part, at) => [part, old[at]]) : [[null, null]];
  let all = true;
  for (const [part, current] of pairs) {
    if (part && parts.get(part.id) === part.outerHTML) continue;
    const said = part?.outerHTML;
    const state = stateOf(current ?? place);
    if (state.focus !== null && !(part ? [part] : fresh).some((found) => holds(found, state.focus))) {
      all = false;
      continue;
    }
    const anchor = anchored();
    if (part) {
      parts.set(part.id, said);
      current.replaceWith(part);
    } else {
      parts.clear();
      for (const found of fresh) parts.set(found.id, found.outerHTML);
      place.replaceChildren(...fresh);
    }
    restore(state);
    anchor();
  }
  return all;
}

// What somebody did within an element: the id of what has the focus, what is open, and how far it is scrolled.
function stateOf(element) {
  const active = element.contains(document.activeElement) ? document.activeElement.id : null;
  const scrolled = [...element.querySelectorAll(".scroll[id]")].map(({ id, scrollLeft, scrollTop }) => [id, scrollLeft, scrollTop]);
  return { focus: active, open: [...element.querySelectorAll("details[open][id]")].map(({ id }) => id), scrolled };
}

function holds(element, id) {
  return id !== "" && (element.id === id || element.querySelector(`#${CSS.escape(id)}`) !== null);
}

function restore({ focus, open, scrolled }) {
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  for (const [id, left, top] of scrolled) document.getElementById(id)?.scrollTo(left, top);
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}

// Remembers which part is in view; the function that it returns scrolls that to where it was.
function anchored() {
  const visible = [...document.querySelectorAll("[data-progress] > [id]")].find(
    (part) => part.getBoundingClientRect().bottom > 0,
  );
  const top = visible?.getBoundingClientRect().top;
  return () => {
    const now = visible && document.getElementById(visible.id);
    if (now) window.scrollBy({ top: now.getBoundingClientRect().top - top, behavior: "instant" });
  };
}

/** Buttons of cards add these to the field in which somebody wrote last. */
function insertButtons() {
  const buttons = document.querySelectorAll("[data-insert]");
  if (!buttons.length) return;
  const fields = [...document.querySelectorAll("form textarea")];
  let field = fields[0];
  for (const each of fields) each.addEventListener("focus", () => (field = each));
  for (const hint of document.querySelectorAll("[data-insert-hint]")) hint.hidden = false;
  for (const button of buttons)
    button.addEventListener("click", () => {
      const name = /[,:"]/.test(button.dataset.insert) ? `"${button.dataset.insert.replaceAll('"', '""')}"` : button.dataset.insert;
      const before = field.value.slice(0, field.selectionStart).trimEnd();
      const after = field.value.slice(field.selectionEnd);
      const joint = !before || /[:,]$/.test(before) ? " " : ", ";
      field.value = before + joint + name + after;
      field.selectionStart = field.selectionEnd = (before + joint + name).length;
    });
}

copyButtons();
insertButtons();
for (const place of document.querySelectorAll("[data-progress]")) watch(place);
