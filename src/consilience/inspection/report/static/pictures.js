// Pictures of the items: each is in the page once, and is shown by its number.

const THUMBNAIL = 40; // pixels on the map

/** The address of a picture, empty if there is none. */
function pictureOf(data, item) {
  const number = data.pictures[item];
  return number < 0 ? "" : document.querySelector(`#picture-${number}`).getAttribute("href");
}

/** Pictures of items for a tip; nothing if there are none. Their names stand beside them. */
function picturesFor(data, items) {
  const found = [...new Set(items)].map((item) => pictureOf(data, item)).filter(Boolean);
  if (!found.length) return [];
  const box = document.createElement("div");
  box.className = "shown";
  for (const href of found) {
    const svg = draw(box, "svg", { viewBox: "0 0 64 64" });
    draw(svg, "image", { href, width: 64, height: 64 });
  }
  return [box];
}
