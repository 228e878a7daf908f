// Requests that are known by a digest of all of their bytes, within a budget of memory: the bytes hold keys and what people say.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Known } from './known-requests.ts';

export type WholeRequest = {
  readonly known: Known;
  /** Its path. */
  readonly route: string;
  /** Of its answers, as far as it is the same each time. */
  readonly head: string;
  /** What stands around their body. */
  readonly framing: readonly [before: string, after: string];
};

type Entry = { readonly digest: string; readonly request: WholeRequest };

const memoryBytesDefault = 16 * 1024 * 1024;
/** Of a request beside its head. */
const entryBytes = 1_024;

export class WholeRequests {
  /** The print is quickly made: what is not known costs little. */
  readonly #byPrint: LRUCache<number, Entry>;

  constructor({ memoryBytes = memoryBytesDefault } = {}) {
    this.#byPrint = new LRUCache({
      maxSize: memoryBytes,
      sizeCalculation: ({ request }) => request.head.length + entryBytes,
    });
  }

  /** Of requests whose prints are the same, the last is known. */
  remember(bytes: Uint8Array, request: WholeRequest): void {
    this.#byPrint.set(printOf(bytes), { digest: digestOf(bytes), request });
  }

  find(bytes: Uint8Array): WholeRequest | undefined {
    const found = this.#byPrint.get(printOf(bytes));
    return found && found.digest === digestOf(bytes) ? found.request : undefined;
  }

  sweep(isOfUse: (request: WholeRequest) => boolean): void {
    for (const [print, { request }] of this.#byPrint.entries().toArray()) if (!isOfUse(request)) this.#byPrint.delete(print);
  }
}

function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64');
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
