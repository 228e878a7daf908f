export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns the value that the given share of the values lies below; NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).toSorted();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
