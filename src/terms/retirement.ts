/** The announced end of a model; null: not announced. */
export type Retirement = {
  /** From then on its use is discouraged. It may lie ahead. */
  readonly deprecatedAtMs: number | null;
  /** From then on it is expected not to run. Not before `deprecatedAtMs`. */
  readonly retiresAtMs: number | null;
  /** A page for people. */
  readonly url: string | null;
};
