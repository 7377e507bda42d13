// The state of a board and the changes that lead to it: pure functions, the same as in the store.

/** Whether a group is one of the study's categories. */
export function isCategory(id) {
  return id.startsWith("c");
}

/**
 * The state after a change. None fails because of what another tab did before: a group that is not there is made, and
 * the cards of one that is removed are not sorted any more.
 */
export function apply(state, change, presented) {
  const groups = state.groups.map((group) => ({ ...group, items: [...group.items] }));
  if (change.kind === "remove") {
    const place = groups.findIndex((group) => group.id === change.group);
    if (place >= 0) groups.splice(place, 1);
  } else {
    const group = change.group === null ? null : findOrMake(groups, change.group);
    if (change.kind === "name") group.name = change.name;
    else if (change.kind === "move") move(groups, group, new Set(change.items));
  }
  const sorted = new Set(groups.flatMap((group) => group.items));
  return { ...state, groups, unsorted: presented.filter((item) => !sorted.has(item)) };
}

function findOrMake(groups, id) {
  let group = groups.find((each) => each.id === id);
  if (!group) groups.push((group = { id, name: "", items: [] }));
  return group;
}

/** Move items to the end of a group, or out of all; those that are in it already keep their places. */
function move(groups, target, items) {
  for (const group of groups)
    if (group !== target) group.items = group.items.filter((item) => !items.has(item));
  if (target) target.items.push(...[...items].filter((item) => !target.items.includes(item)));
}

/** The state after all changes. */
export function applyAll(state, changes, presented) {
  return changes.reduce((current, change) => apply(current, change, presented), state);
}

/** The group of an item, or undefined. */
export function groupOf(state, item) {
  return state.groups.find((group) => group.items.includes(item));
}

/** The changes that undo a change to a state, but for the order in which cards and groups stand. */
export function inverse(state, change) {
  const group = state.groups.find((each) => each.id === change.group);
  if (change.kind === "remove") return group ? remake(group) : [];
  const unmake = group || change.group === null ? [] : [{ kind: "remove", group: change.group }];
  if (change.kind === "move") return [...inverseMoves(state, change.items), ...unmake];
  if (change.kind === "name" && group) return [{ kind: "name", group: group.id, name: group.name }];
  return unmake;
}

function remake({ id, name, items }) {
  const changes = [{ kind: "group", group: id }];
  if (name) changes.push({ kind: "name", group: id, name });
  if (items.length) changes.push({ kind: "move", items, group: id });
  return changes;
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

/** The changes that can still be made without taking what others did meanwhile: no group is removed that holds cards. */
export function harmless(state, changes, presented) {
  let current = state;
  return changes.filter((change) => {
    const group = current.groups.find((each) => each.id === change.group);
    if (change.kind === "remove" && group?.items.length) return false;
    current = apply(current, change, presented);
    return true;
  });
}

/** An id for a new group that another tab, which cannot be asked, will hardly take too. */
export function newGroupId(state) {
  for (;;) {
    const id = `g${100000 + Math.floor(Math.random() * 900000)}`;
    if (!state.groups.some((group) => group.id === id)) return id;
  }
}
