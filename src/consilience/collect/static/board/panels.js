// Groups on the board of piles: a panel for each, with its name, its number, its cards and "Move here".

/** A panel for a group. */
export function makePanel(board, id) {
  const panel = document.getElementById("group-template").content.firstElementChild.cloneNode(true);
  panel.dataset.drop = id;
  panel.querySelector(".here").dataset.move = id;
  panel.querySelector(".remove").addEventListener("click", () => {
    const next = panel.nextElementSibling?.querySelector("button");
    board.remove(id);
    next?.focus?.();
  });
  const meaning = panel.querySelector(".meaning");
  meaning.hidden = !(id in board.data.meanings);
  meaning.firstElementChild.textContent = board.data.meanings[id] ?? "";
  if (board.mayName(board.group(id))) prepareName(board, id, panel);
  else panel.querySelector(".group-name").remove();
  return panel;
}

function prepareName(board, id, panel) {
  const name = panel.querySelector(".group-name");
  const save = () => board.rename(id, name.value);
  name.addEventListener("input", () => {
    fitHeight(name);
    board.type(id, name.value);
  });
  name.addEventListener("change", save);
  name.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      save();
      panel.querySelector(".here").focus();
    }
  });
}

/** Make a name as high as its lines. */
export function fitHeight(name) {
  if (name.value === name.fitted && name.clientWidth === name.fittedTo) return;
  name.style.height = "auto";
  name.style.height = `${name.scrollHeight + 2}px`;
  Object.assign(name, { fitted: name.value, fittedTo: name.clientWidth });
}

/** Show what a group is now. */
export function showPanel(board, panel, group, place) {
  const number = place + 1;
  const title = board.title(group);
  const badge = panel.querySelector(".badge");
  badge.textContent = number;
  badge.className = `badge ${board.colour(place)}`;
  const name = panel.querySelector(".group-name");
  const heading = panel.querySelector(".group-title");
  heading.firstElementChild.textContent = title;
  heading.classList.toggle("unseen", Boolean(name));
  if (name) {
    name.setAttribute("aria-label", board.text("group_name", { number }));
    if (document.activeElement !== name && name.value !== group.name) name.value = group.name;
    fitHeight(name);
  }
  panel.querySelector(".number").textContent = group.items.length;
  panel.querySelector(".cards").setAttribute("aria-label", title);
  panel.querySelector(".here").setAttribute("aria-label", `${board.text("move_here")}: ${title}`);
  const remove = panel.querySelector(".remove");
  remove.hidden = group.items.length > 0 || group.id.startsWith("c");
  remove.setAttribute("aria-label", board.text("remove", { number }));
}
