// Dialogs: instructions, enlarged pictures, and handing in.

/** Show a card large; the dialog leads to the others too, and gives the focus back to the last that was shown. */
export function showZoom(board, item, among, back) {
  const dialog = document.getElementById("zoom-dialog");
  const picture = document.getElementById("zoom-picture");
  let shown = item;
  const show = (next) => {
    shown = next;
    const card = board.cards.get(shown);
    document.getElementById("zoom-title").textContent = card.text || board.placeOf(shown);
    document.getElementById("zoom-description").textContent = card.description;
    picture.parentElement.hidden = !card.picture;
    if (card.picture) picture.src = card.picture;
    picture.alt = card.alt || card.label;
    document.getElementById("zoom-previous").hidden = document.getElementById("zoom-next").hidden = among.length < 2;
  };
  const step = (by) => show(among[(among.indexOf(shown) + by + among.length) % among.length]);
  const keys = (event) => {
    if (!event.key.startsWith("Arrow")) return;
    const forward = event.key === "ArrowDown" || event.key === (document.dir === "rtl" ? "ArrowLeft" : "ArrowRight");
    event.preventDefault();
    step(forward ? 1 : -1);
  };
  document.getElementById("zoom-previous").onclick = () => step(-1);
  document.getElementById("zoom-next").onclick = () => step(1);
  dialog.onkeydown = keys;
  const opener = document.activeElement;
  dialog.onclose = () => {
    // a little after the browser gave the focus to the opener: whoever went on meanwhile keeps it
    if ([opener, document.body].includes(document.activeElement)) back(shown);
  };
  dialog.onclick = (event) => event.target === dialog && dialog.close();
  show(item);
  dialog.showModal();
}

/** Groups that hold cards and have no name, though the study wants one. */
function unnamed(board) {
  if (board.data.groupNames !== "required") return [];
  return board.groups.filter((group) => group.items.length && !group.name && board.mayName(group));
}

/** Groups with fewer or more cards than a group may have, and the text that says so; null if there are none. */
function wrongSizes(board) {
  const { least, most } = board.data;
  const few = board.groups.filter((group) => group.items.length && group.items.length < least);
  const many = board.groups.filter((group) => group.items.length > most);
  if (few.length) return { key: "too_few", groups: few, count: least };
  return many.length ? { key: "too_many", groups: many, count: most } : null;
}

/** Switch on the button that hands in, and that for instructions. */
export function prepareDialogs(board) {
  const instructions = document.getElementById("instructions-dialog");
  document.getElementById("instructions-button").addEventListener("click", () => instructions.showModal());
  document.getElementById("hand-in").addEventListener("click", () => handIn(board));
  document.getElementById("hand-in-anyway").addEventListener("click", () => {
    document.getElementById("submit-dialog").close();
    submit(board);
  });
}

/** Hand in, after a question if cards are left, or names are missing. */
function handIn(board) {
  const [left, without] = [board.state.unsorted.length, unnamed(board)];
  const { allSorted } = board.data;
  const sizes = wrongSizes(board);
  const missing = board.state.unsorted.filter((item) => board.cards.get(item).required);
  if (left === board.presented.length) ask(board, "sort_some", {});
  else if (without.length) {
    const groups = board.join(without.map((group) => board.title(group)));
    ask(board, "name_all", { groups }, () => board.view.askName(without[0].id));
  } else if (sizes) {
    const groups = board.join(sizes.groups.map((group) => board.title(group)));
    ask(board, sizes.key, { groups, count: sizes.count });
  } else if (missing.length && allSorted !== "required") {
    const cards = board.join(missing.map((item) => board.cards.get(item).text || board.placeOf(item)));
    ask(board, "sort_these", { cards });
  } else if (left && allSorted === "required") ask(board, "sort_all", { count: left });
  else if (left && allSorted) ask(board, "still_unsorted", { count: left }, null, true);
  else submit(board);
}

/** Show what stands in the way of handing in, by the keys of its texts. */
function ask(board, key, values, then = null, anyway = false) {
  const dialog = document.getElementById("submit-dialog");
  document.getElementById("submit-title").textContent = board.text(key);
  document.getElementById("submit-text").textContent = board.text(`${key}_text`, values);
  document.getElementById("hand-in-anyway").hidden = !anyway;
  document.getElementById("keep-sorting").textContent = board.text(anyway ? "keep_sorting" : "close");
  dialog.onclose = () => then?.();
  dialog.showModal();
}

/** Hand in once the server has everything. */
async function submit(board) {
  const button = document.getElementById("hand-in");
  if (board.handingIn) return;
  board.handingIn = true;
  button.setAttribute("aria-busy", "true");
  const complete = await board.sync.settled();
  board.handingIn = false;
  button.removeAttribute("aria-busy");
  if (!complete) ask(board, "hand_in_offline", {});
  else if (!board.sync.stopped) document.getElementById("submit-form").submit();
}
