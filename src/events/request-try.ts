/** One call to a provider, as the account may see it. */
export type RequestTry = {
  readonly provider: string;
  /** The provider's name of the model. */
  readonly model: string;
  readonly ending: 'answered' | 'failed';
  /** The kind of a failure: `status`, `timeout`, `connection` …; null: it was answered. */
  readonly failure: string | null;
  /** The HTTP status of a failure; null: none came, or it was answered. */
  readonly status: number | null;
  /** Milliseconds to the first piece of a stream, or to the end of a whole answer or a failure. */
  readonly ms: number;
};
