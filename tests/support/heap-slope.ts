// How fast a heap climbs. What it uses is a saw: it rises until the garbage is collected, and only the lows tell what stays.

export type Sample = { readonly ms: number; readonly value: number };

/** The least of each window, at the time at which it was seen. */
export function windowMinima(samples: readonly Sample[], windowMs: number): Sample[] {
  const windows = Map.groupBy(samples, ({ ms }) => Math.floor((ms - samples[0]!.ms) / windowMs));
  return [...windows.values()].map((window) => window.reduce((least, sample) => (sample.value < least.value ? sample : least)));
}

/** The slope of the straight line that fits best, by least squares; 0 where there is none to fit. */
export function slopePerHour(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number) => samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [meanMs, meanValue] = [mean(({ ms }) => ms), mean(({ value }) => value)];
  const spread = samples.reduce((sum, { ms }) => sum + (ms - meanMs) ** 2, 0);
  if (!(spread > 0)) return 0;
  const climb = samples.reduce((sum, { ms, value }) => sum + (ms - meanMs) * (value - meanValue), 0);
  return (climb / spread) * 3_600_000;
}
