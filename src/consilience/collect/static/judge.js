// What the page of a question gains from scripts: keys, and no answer by the second half of a double click.

const CALM = 400; // milliseconds after the page came in which no click is taken as an answer

const judge = document.querySelector(".judge");
const came = performance.now();
let isByKey = false; // a key is pressed once for one answer

function isEarly() {
  return !isByKey && performance.now() - came < CALM;
}

judge.addEventListener("submit", (event) => {
  if (isEarly() || judge.hasAttribute("aria-busy")) event.preventDefault();
  else judge.setAttribute("aria-busy", "true");
});

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.toLowerCase();
  const chosen = [...judge.querySelectorAll("[data-keys]")].find(({ dataset }) => dataset.keys.split(" ").includes(key));
  if (!chosen) return;
  event.preventDefault();
  isByKey = true;
  if (chosen.form) chosen.form.requestSubmit(chosen);
  else chosen.click();
  isByKey = false;
});

window.addEventListener("pageshow", () => judge.removeAttribute("aria-busy")); // also when the browser brings it back
for (const keys of judge.querySelectorAll(".keys")) keys.hidden = false;
