// A successful answer as it was sent, kept for whoever sends the request again.

export type StoredResponse = {
  readonly status: number;
  readonly contentType: string;
  /** Those that are part of the answer; what it cost is said anew. */
  readonly headers: Readonly<Record<string, string>>;
  /** null: not kept, being too long, or its account keeping none. */
  readonly body: string | null;
  /** From now on, where what it points to ends before it does. */
  readonly usableForMs?: number;
};

/** One whose body was kept. */
export type WholeResponse = StoredResponse & { readonly body: string };
