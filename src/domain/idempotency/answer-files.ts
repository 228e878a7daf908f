// Long answers under Idempotency-Keys: sealed like the others, and stored as a file. The row then has
// only a reference.

/** Files that are kept for a day at least. */
export type AnswerFiles = {
  /** Returns the id of the new file. */
  readonly put: (sealed: Buffer) => Promise<string>;
  /** Returns null when the file is gone. */
  readonly get: (id: string) => Promise<Buffer | null>;
};

/** The first byte of a reference; sealed bytes begin with 1 (`lib/sealed-bytes.ts`). */
const referenceVersion = 2;

export function referenceTo(id: string): Buffer {
  return Buffer.concat([Buffer.from([referenceVersion]), Buffer.from(id)]);
}

/** Returns the id of the file; null: the bytes are the sealed body itself. */
export function readReference(stored: Uint8Array): string | null {
  return stored[0] === referenceVersion ? Buffer.from(stored.subarray(1)).toString() : null;
}
