// The explorer as a whole: the search, the choice of the clusters, their figures, and the table of all items.

class ExplorerView {
  constructor(root, table) {
    this.root = root;
    this.table = table;
    const data = JSON.parse(root.querySelector("#explorer-data").textContent);
    this.state = new State(data);
    this.state.pick = (item) => this.pick(item);
    this.find = root.querySelector("#find");
    root.hidden = false; // so that the views know their widths
    this.addColumn();
    this.addSearch();
    this.addChoice();
    const views = [[TreeView, "tree"], [MatrixView, "matrix"], [MapView, "map"]];
    new Paper(this.state, views.map(([View, key]) => new View(this.state, root.querySelector(`#${key}-panel`))));
    new Key(this.state, root);
    if (data.sorts.length) new Makers(this.state, root);
    this.state.when("clusters", () => this.paint());
    this.state.when("lit", () => this.light());
    document.body.classList.add("explored");
  }

  /** Add the cluster of the cut to the table of all items, and make the names buttons that light items up. */
  addColumn() {
    const { rows } = this.state.data;
    const trs = [...this.table.tBodies[0].rows];
    const kind = this.table.tHead.rows[0].cells[1].className; // of the names of the report's clusters
    const head = set(document.createElement("th"), { scope: "col", class: `${kind} cut-column` });
    head.textContent = "At the cut";
    this.table.tHead.rows[0].cells[1].after(head);
    this.rowOf = new Map();
    this.cells = new Map();
    trs.forEach((tr, place) => {
      const cell = set(document.createElement("td"), { class: `${kind} cut-column` });
      tr.cells[1].after(cell);
      const button = set(document.createElement("button"), { type: "button", class: "pick" });
      button.append(...tr.cells[0].childNodes);
      tr.cells[0].append(button);
      button.addEventListener("click", () => this.pick(rows[place]));
      this.rowOf.set(rows[place], tr);
      this.cells.set(rows[place], cell);
    });
  }

  addSearch() {
    const names = this.root.querySelector("#find-names");
    for (const name of this.state.data.items) set(names.appendChild(document.createElement("option")), { value: name });
    this.find.addEventListener("input", () => this.search());
    this.root.querySelector("#find-clear").addEventListener("click", () => {
      this.clear();
      this.find.focus();
    });
    this.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && tip.hidden) this.clear(); // the first Escape hides the tip
    });
  }

  clear() {
    this.find.value = "";
    this.search();
  }

  search() {
    this.state.find(this.find.value);
    const { lit, data } = this.state;
    if (!this.find.value.trim()) speak("");
    else if (!lit.size) speak(`No ${data.readers.item} has this in its name.`);
    else this.sayFound([...lit].map((item) => data.items[item]));
  }

  sayFound(names) {
    const parts = names.slice(0, 5).flatMap((name, place) => [place ? ", " : "", nameOf(name)]);
    const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
    const { readers } = this.state.data;
    speak(`${names.length} ${names.length === 1 ? readers.item : readers.items}: `, ...parts, more);
  }

  /** Light up one item everywhere. */
  pick(item) {
    this.find.value = this.state.data.items[item];
    this.state.light([item]);
    this.sayFound([this.state.data.items[item]]);
  }

  addChoice() {
    const [report, cut, person] = this.root.querySelectorAll("[name=which]");
    report.addEventListener("change", () => this.state.showReport());
    cut.addEventListener("change", () => this.state.showCut());
    if (person) this.addPeople(person);
    this.root.querySelector("#fewer").addEventListener("click", () => this.state.goTo(this.state.place - 1));
    this.root.querySelector("#more").addEventListener("click", () => this.state.goTo(this.state.place + 1));
    const cells = (row) => [...this.root.querySelectorAll(`${row} td`)];
    cells("#of-report").forEach((cell, place) => (cell.textContent = this.state.data.report[place]));
    this.figures = cells("#of-cut");
  }

  /** Let one person be chosen, whose groups are then shown. */
  addPeople(button) {
    const choice = this.root.querySelector("#person");
    this.state.data.sorts.forEach(({ name }, place) => add(choice, "option", name, { value: place }));
    const show = () => this.state.showPerson(Number(choice.value));
    button.addEventListener("change", show);
    choice.addEventListener("change", show);
  }

  paint() {
    const { data, cut, place, shown, ofReport, ofCut } = this.state;
    for (const button of this.root.querySelectorAll("[name=which]")) button.checked = button.value === shown;
    [cut.n, cut.agreement, cut.alike].forEach((value, column) => (this.figures[column].textContent = value));
    this.root.querySelector("#of-report").classList.toggle("now", ofReport);
    this.root.querySelector("#of-cut").classList.toggle("now", ofCut);
    this.root.querySelector("#cut-number").textContent = `${cut.n} ${counted(cut.n, data.noun)}`;
    this.root.querySelector("#fewer").disabled = place === 0;
    this.root.querySelector("#more").disabled = place === data.cuts.length - 1;
    this.paintTable();
  }

  /** The column is of the cut even while the colours are the report's, so that both can be compared. */
  paintTable() {
    const labels = this.state.labelsOfCut();
    for (const [item, cell] of this.cells) {
      const name = this.state.nameOfCut(labels[item]);
      if (cell.textContent === name) continue;
      cell.replaceChildren(swatch(this.state.data.look, labels[item]), nameOf(name));
    }
  }

  light() {
    for (const [item, row] of this.rowOf) row.classList.toggle("lit", this.state.lit.has(item));
    const [first] = this.state.lit;
    const box = this.table.closest(".scroll");
    if (first !== undefined) {
      const row = this.rowOf.get(first);
      box.scrollTop = row.offsetTop - box.clientHeight / 2;
    }
  }
}
