// Files made in the browser from what the page holds: figures as SVG and PNG, tables as CSV.

/** Offer a file to save. */
function save(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = set(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A cell of a CSV file: numbers bare, text quoted, and never what a spreadsheet takes for a formula. */
function csvCell(value) {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : '""';
  const isNumber = /^[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?$/.test(value);
  const text = !isNumber && /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(value) ? `'${value}` : value;
  return `"${text.replaceAll('"', '""')}"`;
}

function saveCsv(name, rows) {
  save(name, rows.map((row) => row.map(csvCell).join(",") + "\n").join(""), "text/csv;charset=utf-8");
}

/** A drawing of the page as a file of its own, on white paper. */
function svgText(svg) {
  const copy = svg.cloneNode(true);
  const [left, top, width, height] = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number);
  const across = Number(svg.getAttribute("width")) || width;
  copy.removeAttribute("class");
  copy.removeAttribute("style");
  set(copy, { xmlns: "http://www.w3.org/2000/svg", "font-family": LETTERS.replaceAll('"', "'") });
  set(copy, { width: across, height: (across * height) / width });
  const paper = set(document.createElementNS("http://www.w3.org/2000/svg", "rect"), { fill: "#ffffff" });
  copy.prepend(set(paper, { x: left, y: top, width, height }));
  return plain(new XMLSerializer().serializeToString(copy));
}

/** A drawing as a picture, with two pixels for each on the screen, or fewer if it is very large. */
async function picture(text) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const scale = Math.min(2, 16_000 / Math.max(image.width, image.height));
  const canvas = set(document.createElement("canvas"), { width: image.width * scale, height: image.height * scale });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** Add a button for each kind of file of a figure; `files.svg` returns the text of an SVG, `files.csv` rows. */
function addFiles(place, key, title, files) {
  add(place, "span", "Save as");
  const button = (kind, action) => {
    const named = { type: "button", "aria-label": `Save the ${title} as ${kind}`, "data-file": kind.toLowerCase() };
    add(place, "button", kind, named).addEventListener("click", action);
  };
  button("SVG", () => save(`${key}.svg`, files.svg(), "image/svg+xml"));
  button("PNG", async () => save(`${key}.png`, await picture(files.svg()), "image/png"));
  if (files.csv) button("CSV", () => files.csv());
}

/** Give every figure of the page buttons to save it; its CSV file is in the page already. */
function addFilesOfFigures() {
  for (const figure of document.querySelectorAll("figure")) {
    const svg = figure.querySelector("svg");
    const file = figure.querySelector("figcaption a[download]");
    const key = figure.id.replace(/-figure$/, "");
    const tools = document.createElement("div");
    tools.className = "tools";
    figure.prepend(tools);
    const place = add(tools, "span", "", { class: "buttons", role: "group", "aria-label": `Save the figure ${key}` });
    const csv = file && (() => file.click());
    addFiles(place, key, `figure ${key.replaceAll("-", " ")}`, { svg: () => svgText(svg), csv });
  }
}
