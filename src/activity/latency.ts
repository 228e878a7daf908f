// How long providers take, as a histogram whose buckets grow by a fifth each: sums of them from any number of gateways and hours give
// quantiles to within a tenth.

const growth = 1.2;
/** Some two hours: nothing that takes longer is told apart. */
const bucketMax = 88;

/** 0 for less than a millisecond. */
export function bucketOf(ms: number): number {
  return ms < 1 ? 0 : Math.min(1 + Math.floor(Math.log(ms) / Math.log(growth)), bucketMax);
}

/** What stands for all of a bucket, in milliseconds. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 0.5 : growth ** (bucket - 0.5);
}

export type Latency = {
  /** That were measured. */
  readonly calls: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
};

/** Of calls by bucket; null: there were none. */
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
