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
  let seen = null;
  let wait = EVERY;
  for (;;) {
    await new Promise((done) => setTimeout(done, wait));
    if (document.hidden) continue;
    try {
      const headers = seen ? { "If-None-Match": seen } : {};
      const answer = await fetch(place.dataset.progress, { headers, cache: "no-store" });
      if (answer.status === 401 || answer.status === 404) return;
      if (answer.status === 200) {
        show(place, await answer.text());
        seen = answer.headers.get("ETag");
      }
      wait = answer.ok || answer.status === 304 ? EVERY : Math.min(2 * wait, MOST);
    } catch {
      wait = Math.min(2 * wait, MOST);
    }
  }
}

function show(place, text) {
  const opened = new Set([...place.querySelectorAll("details[open]")].map((found) => found.id));
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const found of page.querySelectorAll("details")) found.open = opened.has(found.id);
  if (place.contains(document.activeElement)) return; // nothing moves under somebody's hands
  place.replaceChildren(...page.body.childNodes);
}

copyButtons();
for (const place of document.querySelectorAll("[data-progress]")) watch(place);
