/** Returns a lookup from a key to its items in order; empty for an unknown key. */
export function groupBy<Key, Item>(items: readonly Item[], keyOf: (item: Item) => Key): (key: Key) => Item[] {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return (key) => groups.get(key) ?? [];
}
