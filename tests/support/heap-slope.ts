// The growth rate of a heap.

export type Sample = { readonly ms: number; readonly value: number };

/** Returns the slope of the least-squares line; 0 when there are too few points. */
export function slopePerHour(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [meanMs, meanValue] = [mean(({ ms }) => ms), mean(({ value }) => value)];
  const spread = samples.reduce((sum, { ms }) => sum + (ms - meanMs) ** 2, 0);
  if (!(spread > 0)) return 0;
  const climb = samples.reduce(
    (sum, { ms, value }) => sum + (ms - meanMs) * (value - meanValue),
    0,
  );
  return (climb / spread) * 3_600_000;
}
