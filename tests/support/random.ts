// Random numbers that repeat for the same seed (mulberry32). Set it with `TOLLGATE_TEST_SEED=123
// npm test`; by default each run has a new one. Property tests (property.ts) use it too.

/** This run's seed. */
export const seed = Number(
  process.env['TOLLGATE_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31),
);
if (!Number.isSafeInteger(seed))
  throw new Error(
    `TOLLGATE_TEST_SEED must be a whole number; got ${process.env['TOLLGATE_TEST_SEED']}`,
  );

// On a failure, every test file that uses random numbers prints how to reproduce them.
process.once('exit', (code) => {
  if (code !== 0)
    console.error(`Run it again with the same random numbers: TOLLGATE_TEST_SEED=${seed}`);
});

/** A stream of random numbers: the same for the same seed and name. */
export class Random {
  #state: number;

  constructor(name: string) {
    this.#state = hash(`${seed} ${name}`);
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from 0 up to, but not including, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }
}

function hash(text: string): number {
  let value = 7;
  for (const letter of text) value = (value * 31 + letter.codePointAt(0)!) | 0;
  return value;
}

/**
 * Cuts into pieces of random sizes, from one byte to thousands, so that every event is split
 * somewhere.
 */
export function* cutAtRandom(bytes: Uint8Array, random: Random): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length;) {
    const size = 1 + Math.floor(4_000 ** random.next());
    yield bytes.subarray(start, start + size);
    start += size;
  }
}
