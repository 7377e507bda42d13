// What the page of a question gains from scripts: keys, and no answer by the second half of a double click.

const CALM = 400; // milliseconds after the page came in which nothing is taken as an answer

const judge = document.querySelector(".judge");
const form = judge.querySelector("form");
const came = performance.now();

function isEarly() {
  return performance.now() - came < CALM;
}

form.addEventListener("submit", (event) => {
  if (isEarly() || judge.hasAttribute("aria-busy")) event.preventDefault();
  else judge.setAttribute("aria-busy", "true");
});

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  const button = /^[0-4]$/.test(event.key) && form.querySelector(`button[value="${event.key}"]`);
  if (!button) return;
  event.preventDefault();
  form.requestSubmit(button);
});

window.addEventListener("pageshow", () => judge.removeAttribute("aria-busy")); // also when the browser brings it back
judge.querySelector(".keys").hidden = false;
