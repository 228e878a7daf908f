// Provider latencies as histograms with buckets that grow by 20 %. Histograms of many gateways and
// hours can be added; their quantiles are exact to within 10 %.

const growth = 1.2;
/** About two hours: longer calls share the last bucket. */
const bucketMax = 88;

/** Returns 0 for less than a millisecond. */
export function bucketOf(ms: number): number {
  return ms < 1 ? 0 : Math.min(1 + Math.floor(Math.log(ms) / Math.log(growth)), bucketMax);
}

/** The value that represents a bucket, in milliseconds. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 0.5 : growth ** (bucket - 0.5);
}

export type Latency = {
  /** The number of measured calls. */
  readonly calls: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
};

/** Sums the durations of calls by bucket, to within 10 %, in milliseconds. */
export function totalMsOf(callsByBucket: ReadonlyMap<number, number>): number {
  return [...callsByBucket].reduce((sum, [bucket, calls]) => sum + calls * middleOf(bucket), 0);
}

/** Computes quantiles from calls by bucket; null for no calls. */
export function latencyOf(callsByBucket: ReadonlyMap<number, number>): Latency | null {
  const buckets = [...callsByBucket].toSorted(([one], [other]) => one - other);
  const calls = buckets.reduce((sum, [, count]) => sum + count, 0);
  if (calls === 0) return null;
  const quantile = (share: number) => {
    let seen = 0;
    const [bucket] = buckets.find(([, count]) => (seen += count) >= share * calls)!;
    return Math.round(middleOf(bucket));
  };
  return { calls, p50Ms: quantile(0.5), p95Ms: quantile(0.95) };
}
