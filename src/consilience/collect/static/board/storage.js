// Changes that the server does not have yet, kept on this device: one list for each page that was opened.

const PREFIX = "consilience/";

/** Run something on localStorage, which browsers may refuse or have no room in. */
function attempt(run, otherwise) {
  try {
    return run();
  } catch {
    return otherwise;
  }
}

/** An id of this page. `crypto.randomUUID` needs https, which a study in a local network does not have. */
export function newClient() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Keep the changes of a page; whether that worked. */
export function keep(assignment, client, changes) {
  const key = `${PREFIX}${assignment}/${client}`;
  return attempt(() => {
    if (changes.length) localStorage.setItem(key, JSON.stringify(changes));
    else localStorage.removeItem(key);
    return true;
  }, false);
}

/** Changes kept by a page. */
export function kept(assignment, client) {
  return attempt(() => JSON.parse(localStorage.getItem(`${PREFIX}${assignment}/${client}`)) ?? [], []);
}

/** Pages that kept changes of an assignment. */
export function clients(assignment) {
  const start = `${PREFIX}${assignment}/`;
  const keys = attempt(() => Object.keys(localStorage), []);
  return keys.filter((key) => key.startsWith(start)).map((key) => key.slice(start.length));
}
