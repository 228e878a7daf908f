// How much of a list one step of work takes, when its items differ in size.

/** The first items, as far as their sizes add up to no more than `sizeMax`, but at least one. */
export function firstWithin<Item>(items: readonly Item[], sizeMax: number, sizeOf: (item: Item) => number): readonly Item[] {
  let size = 0;
  const end = items.findIndex((item) => (size += sizeOf(item)) > sizeMax);
  return end === -1 ? items : items.slice(0, Math.max(1, end));
}
