/** Returns the leading items whose sizes add up to at most `sizeMax`, but at least one item. */
export function firstWithin<Item>(
  items: readonly Item[],
  sizeMax: number,
  sizeOf: (item: Item) => number,
): readonly Item[] {
  let size = 0;
  const end = items.findIndex((item) => (size += sizeOf(item)) > sizeMax);
  return end === -1 ? items : items.slice(0, Math.max(1, end));
}
