/** The announced end of a model; null: not announced. */
export type Retirement = {
  /** From then on its use is discouraged. It may lie ahead. */
  readonly deprecatedAtMs: number | null;
  /** From then on it is expected not to run. Not before `deprecatedAtMs`. */
  readonly retiresAtMs: number | null;
  /** A page for people. */
  readonly url: string | null;
  /** The id of the model to use in its place; null: none is named. */
  readonly successor: string | null;
  /** The operator sells it no more. */
  readonly isEnded: boolean;
};

/** Returns true when its last day has come. Its provider may still run it. */
export function hasEnded(retirement: Retirement | null, nowMs: number): boolean {
  return (retirement?.retiresAtMs ?? Number.POSITIVE_INFINITY) <= nowMs;
}
