// Random numbers that are the same in each run with the same seed (mulberry32).

export class Random {
  #state: number;

  constructor(seed: number | string) {
    this.#state = typeof seed === 'number' ? seed | 0 : hash(seed);
  }

  /** From 0 to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to `end`, without `end`. */
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

/** Pieces of random sizes, from single bytes to thousands, so that every event is cut somewhere. */
export function* cutAtRandom(bytes: Uint8Array, random: Random): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length;) {
    const size = 1 + Math.floor(4_000 ** random.next());
    yield bytes.subarray(start, start + size);
    start += size;
  }
}
