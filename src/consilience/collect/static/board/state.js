// The state of a board and the changes that lead to it: pure functions, the same as in the store.

/** Whether a group is one of the study's categories. */
export function isCategory(id) {
  return id.startsWith("c");
}

/** The state after a change. One that makes no sense any more, since another tab was faster, changes nothing. */
export function apply(state, change, presented) {
  const groups = state.groups.map((group) => ({ ...group, items: [...group.items] }));
  const found = groups.find((group) => group.id === change.group);
  if (change.kind === "move") move(groups, found, change, new Set(presented));
  else if (change.kind === "group" && !found) groups.push({ id: change.group, name: "", items: [] });
  else if (change.kind === "name" && found && !isCategory(found.id)) found.name = change.name;
  else if (change.kind === "remove" && found && !found.items.length && !isCategory(found.id))
    groups.splice(groups.indexOf(found), 1);
  const sorted = new Set(groups.flatMap((group) => group.items));
  return { ...state, groups, unsorted: presented.filter((item) => !sorted.has(item)) };
}

function move(groups, found, change, known) {
  const items = [...new Set(change.items)].filter((item) => known.has(item));
  const moving = new Set(items);
  for (const group of groups) group.items = group.items.filter((item) => !moving.has(item));
  if (change.group === null) return;
  let target = found;
  if (!target) groups.push((target = { id: change.group, name: "", items: [] }));
  target.items.push(...items);
}

/** The state after all changes. */
export function applyAll(state, changes, presented) {
  return changes.reduce((current, change) => apply(current, change, presented), state);
}

/** The group of an item, or undefined. */
export function groupOf(state, item) {
  return state.groups.find((group) => group.items.includes(item));
}

/** The changes that undo a change to a state. */
export function inverse(state, change) {
  const group = state.groups.find((each) => each.id === change.group);
  if (change.kind === "move") return inverseMoves(state, change.items);
  if (change.kind === "name") return [{ kind: "name", group: change.group, name: group?.name ?? "" }];
  if (change.kind === "group") return group ? [] : [{ kind: "remove", group: change.group }];
  const name = group?.name ? [{ kind: "name", group: change.group, name: group.name }] : [];
  return group ? [{ kind: "group", group: change.group }, ...name] : [];
}

function inverseMoves(state, items) {
  const places = new Map();
  for (const item of items) {
    const place = groupOf(state, item)?.id ?? null;
    places.set(place, [...(places.get(place) ?? []), item]);
  }
  return [...places].map(([group, moved]) => ({ kind: "move", items: moved, group }));
}

/** The changes that undo several, made one after another: the last is undone first. */
export function inverseOfAll(state, changes, presented) {
  let [current, undoing] = [state, []];
  for (const change of changes) {
    undoing = [...inverse(current, change), ...undoing];
    current = apply(current, change, presented);
  }
  return undoing;
}

/** An id for a new group that another tab, which cannot be asked, will hardly take too. */
export function newGroupId(state) {
  const taken = new Set(state.groups.map((group) => group.id));
  for (;;) {
    const id = `g${state.groups.length + 1}${String(Math.floor(Math.random() * 1e4)).padStart(4, "0")}`;
    if (!taken.has(id)) return id;
  }
}
