// Tables that sort and filter, and save the rows that are shown.

const FEWEST_SORTED = 3;
const FEWEST_FILTERED = 8;
const NUMBER = /^(?:at chance: )?(?:[<>] )?([−+-]?\d[\d,]*(?:\.\d+)?(?:e[+−-]?\d+)?)%?(?: \(.*\)| ± .*)?$/;
const inOrder = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" }).compare;

/** Text of a cell in one line. */
function textOf(cell) {
  return cell.textContent.replace(/\s+/g, " ").trim();
}

/** Number of a text such as "1,234", "−0.5", "85%", "< 0.1%", "at chance: 7%", "1.2 (0.3)" or "1.2 ± 0.3"; NaN if there is none. */
function numberIn(text) {
  const found = NUMBER.exec(text);
  return found ? Number(found[1].replaceAll(",", "").replaceAll("−", "-")) : NaN;
}

/** Say above a box that there is more below or at the side, while there is. */
function hintAt(box, sideways, down = "") {
  const hint = document.createElement("p");
  set(hint, { class: "hint", "aria-hidden": "true", hidden: "" });
  box.before(hint);
  new ResizeObserver(() => {
    const texts = [box.scrollHeight > box.clientHeight + 1 ? down : "", box.scrollWidth > box.clientWidth + 1 ? sideways : ""];
    hint.textContent = texts.filter(Boolean).join(" · ");
    hint.toggleAttribute("hidden", !hint.textContent);
  }).observe(box);
}

/** Compare the texts of a column as numbers if all are, dashes last, or else as names. */
function comparison(texts) {
  const known = texts.filter((text) => text !== "–" && text !== "");
  if (!known.length || known.some((text) => Number.isNaN(numberIn(text)))) return inOrder;
  return (one, other) => numberIn(one) - numberIn(other);
}

class SortedTable {
  constructor(block) {
    this.block = block;
    this.table = block.querySelector("table");
    this.body = this.table.tBodies[0];
    this.gap = this.body.querySelector("tr.gap");
    this.rows = [...this.body.rows].filter((row) => row !== this.gap);
    this.gapPlace = this.gap ? this.rows.indexOf(this.gap.nextElementSibling) : -1;
    this.heads = [...(this.table.tHead?.rows[0].cells ?? [])];
    this.sorted = { head: null, falling: false };
    this.title = textOf(this.table.caption);
    this.order = this.table.caption.querySelector(".order");
    hintAt(this.block.querySelector(".scroll"), "There are more columns: scroll sideways →", "There are more rows: scroll down ↓");
    if (this.heads.length && this.rows.length >= FEWEST_SORTED) this.heads.forEach((head) => this.addSort(head));
    if (this.heads.length && this.rows.length >= FEWEST_FILTERED) this.addFilter();
    if (this.heads.length && this.table.querySelector("td.wide, td.names")) this.stack();
  }

  /** Let narrow screens show each row as a list: lists of names in columns would make rows of two screens' height. */
  stack() {
    this.table.classList.add("stacks");
    const roles = { table: "table", tbody: "rowgroup", thead: "rowgroup", tr: "row", td: "cell", "tbody th": "rowheader", "thead th": "columnheader" };
    set(this.table, { role: roles.table }); // which elements lose that are not laid out as a table
    for (const [which, role] of Object.entries(roles)) this.table.querySelectorAll(which).forEach((each) => set(each, { role }));
    for (const row of this.rows) [...row.cells].slice(1).forEach((cell, place) => set(cell, { "data-head": `${textOf(this.heads[place + 1])}: ` }));
  }

  /** Make a heading a button that sorts. */
  addSort(head) {
    if (!textOf(head) || head.matches(".wide, .names")) return; // lists of names have no order
    const button = set(document.createElement("button"), { type: "button", class: "sort" });
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => this.sortBy(head));
  }

  addFilter() {
    const tools = document.createElement("div");
    tools.className = "tools";
    this.block.querySelector(".scroll").before(tools);
    const label = add(tools, "label", "Filter ", { class: "buttons" });
    this.filter = add(label, "input", "", { type: "search", dir: "auto", autocomplete: "off" });
    this.filter.setAttribute("aria-label", `Filter the rows of: ${this.title}`);
    this.filter.addEventListener("input", () => this.narrow());
    this.count = add(tools, "span", "", { class: "buttons", role: "status" });
    const named = { type: "button", "aria-label": `Save the rows shown as CSV: ${this.title}`, "data-file": "rows" };
    add(tools, "button", "Save rows shown", named).addEventListener("click", () => this.save());
  }

  /** Sort by a column: rising, then falling, then as the report had it. */
  sortBy(head) {
    const again = this.sorted.head === head;
    this.sorted = again && this.sorted.falling ? { head: null, falling: false } : { head, falling: again };
    this.heads.forEach((other) => other.removeAttribute("aria-sort"));
    if (this.sorted.head) head.setAttribute("aria-sort", this.sorted.falling ? "descending" : "ascending");
    this.caption();
    this.arrange();
  }

  /** Say in the caption how the rows are sorted, in place of what the report says of its own order. */
  caption() {
    const { head, falling } = this.sorted;
    this.order?.toggleAttribute("hidden", head !== null);
    this.told ??= add(this.table.caption, "span");
    this.told.textContent = head ? `, sorted by “${textOf(head)}”, ${falling ? "falling" : "rising"}` : "";
  }

  arrange() {
    const { head, falling } = this.sorted;
    if (this.gap) this.gap.hidden = head !== null || Boolean(this.filter?.value);
    if (!head) {
      this.restore();
      return;
    }
    const texts = new Map(this.rows.map((row) => [row, textOf(row.cells[head.cellIndex])]));
    const compare = comparison([...texts.values()]);
    const isEmpty = (text) => text === "–" || text === "";
    const order = [...this.rows].sort((one, other) => {
      const [a, b] = [texts.get(one), texts.get(other)];
      if (isEmpty(a) || isEmpty(b)) return isEmpty(a) - isEmpty(b);
      return (falling ? -1 : 1) * compare(a, b);
    });
    this.body.append(...order);
  }

  /** Put the rows, and the line for those left out, where the report had them. */
  restore() {
    const order = [...this.rows];
    if (this.gap) order.splice(this.gapPlace < 0 ? order.length : this.gapPlace, 0, this.gap);
    this.body.append(...order);
  }

  /** Show the rows that contain the text of the filter. */
  narrow() {
    const wanted = folded(this.filter.value);
    const shown = this.rows.filter((row) => {
      row.hidden = !folded(textOf(row)).includes(wanted);
      return !row.hidden;
    });
    if (this.gap) this.gap.hidden = Boolean(wanted) || this.sorted.head !== null;
    this.count.textContent = wanted ? `${shown.length} of ${this.rows.length} rows` : "";
  }

  save() {
    const value = (cell) => {
      const pairs = [...cell.querySelectorAll(".pair")].map(textOf);
      const text = pairs.length ? pairs.join("; ") : textOf(cell);
      return /^[−+-]?\d[\d,]*(\.\d+)?$/.test(text) ? numberIn(text) : text;
    };
    const rows = [...this.body.rows].filter((row) => !row.hidden && row !== this.gap);
    const whole = this.block.querySelector(".more a[download]")?.download.replace(/\.csv$/, "");
    saveCsv(`${whole ?? this.block.id.replace(/-table$/, "")}-shown.csv`, [this.heads.map(textOf), ...rows.map((row) => [...row.cells].map(value))]);
  }
}

/** Make all tables of the sections sort, and the longer ones filter. */
function enliven() {
  return new Map(
    [...document.querySelectorAll(".block[id$='-table']")].map((block) => [block.id, new SortedTable(block)]),
  );
}
