/**
 * Options of an LRUCache that holds at most `count` entries. Its own option `max` allocates an array slot for
 * each of them at once; this one lets the cache grow with its entries.
 */
export function maxEntries(count: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: count, sizeCalculation: () => 1 };
}
