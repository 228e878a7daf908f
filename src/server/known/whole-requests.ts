// Requests that are known by all of their bytes, within a budget of memory.
import { LRUCache } from 'lru-cache';
import type { Known } from './known-requests.ts';

export type WholeRequest = {
  readonly bytes: Uint8Array;
  readonly known: Known;
  /** Its path. */
  readonly route: string;
  /** Of its answers, as far as it is the same each time. */
  readonly head: string;
  /** What stands around their body. */
  readonly framing: readonly [before: string, after: string];
};

const memoryBytesDefault = 16 * 1024 * 1024;
/** Of a request beside its bytes. */
const entryBytes = 2_048;

export class WholeRequests {
  readonly #byPrint: LRUCache<number, WholeRequest>;

  constructor({ memoryBytes = memoryBytesDefault } = {}) {
    this.#byPrint = new LRUCache({
      maxSize: memoryBytes,
      sizeCalculation: ({ bytes, head }) => bytes.length + head.length + entryBytes,
    });
  }

  /** Of requests whose prints are the same, the last is known. */
  remember(request: WholeRequest): void {
    this.#byPrint.set(printOf(request.bytes), request);
  }

  find(bytes: Buffer): WholeRequest | undefined {
    const found = this.#byPrint.get(printOf(bytes));
    return found && bytes.equals(found.bytes) ? found : undefined;
  }

  sweep(isOfUse: (request: WholeRequest) => boolean): void {
    for (const [print, request] of this.#byPrint.entries().toArray()) if (!isOfUse(request)) this.#byPrint.delete(print);
  }
}

/** At most so many words are looked at, evenly spread, beside the last ones: what is said last differs most. */
const printWords = 128;
const lastWords = 16;

/** Quickly made of bytes, of which few share one. */
function printOf(bytes: Uint8Array): number {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = bytes.length - 4;
  const step = Math.max(4, Math.floor(bytes.length / printWords));
  let print = bytes.length;
  for (let at = 0; at <= end; at += step) print = mix(print, words.getInt32(at));
  for (let at = Math.max(0, end - 4 * lastWords); at <= end; at += 4) print = mix(print, words.getInt32(at));
  return end < 0 ? print : mix(print, words.getInt32(end));
}

/** A step of FNV-1a, on words. http://www.isthe.com/chongo/tech/comp/fnv/ */
function mix(print: number, word: number): number {
  const mixed = Math.imul(print ^ word, 0x01000193);
  return mixed ^ (mixed >>> 15);
}
