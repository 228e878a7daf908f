// Answers in the form in which the ledger stores them, in the transaction that charges them. The
// ledger does not read them.

/** The answer for a repeated request. */
export type SealedResponse = {
  readonly keyDigest: string;
  readonly fingerprint: string;
  readonly owner: string;
  readonly status: number;
  readonly contentType: string;
  /** JSON. */
  readonly headers: string;
  /**
   * Compressed, encrypted, base64, or where a file of that is; null when the body is not stored.
   */
  readonly body: string | null;
  /** Milliseconds after the charge. */
  readonly keptForMs: number;
};

/** The answer for identical requests of the paying account. */
export type SealedCached = {
  readonly digest: string;
  /** Stored only if the account still has this generation and stores answers. */
  readonly generation: number;
  readonly contentType: string;
  /** JSON. */
  readonly headers: string;
  /** Compressed, encrypted, base64. */
  readonly body: string;
  /** The size of the row. */
  readonly sizeBytes: number;
  /** Milliseconds after the charge. */
  readonly keptForMs: number;
};
