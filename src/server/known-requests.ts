// Requests whose answers were known, by their bytes, within a budget of memory. First by their heads, so that no body is read for nothing: a
// head is known once a request under it was answered with an earlier one's answer, a body with the second time. Digests of all that decides
// about the answer are kept; of those that come again also the bytes, which are compared in a tenth of the time: of a head as long as its
// connection, of a body until its answer is dropped or its account purged, and a minute longer.
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { WholeResponse } from '../canonical/stored-response.ts';
import type { KnownRequest } from '../gateway/known-request.ts';
import type { ApiKey } from '../keys/api-key.ts';
import { largeBytes } from './large-bodies.ts';

/** What a body is known by among those under its head. */
export type BodyName = {
  /** Quickly made. Few bodies share one; of those the last is known. */
  readonly print: number;
  readonly digest: string;
};

/** A known request, and the headers of the answer that it was given last. */
export type Known = {
  readonly name: BodyName;
  readonly request: KnownRequest;
  /** Whoever keeps the answer may forget it at any time: then it is forgotten here as well. */
  readonly answer: WeakRef<WholeResponse>;
  /** The headers that the answer has each time, names and values in turn. */
  readonly headers: readonly string[];
  /** Of its body: what is ASCII alone is sent faster as what it is. */
  readonly encoding: 'latin1' | 'utf8';
};

/** A head under which a request was answered with an earlier one's answer. */
export type KnownHead = {
  readonly name: string;
  /** Whose requests have that head; null: forgotten. */
  key: ApiKey | null;
  /** Of the body that it announces. */
  readonly bodyBytes: number;
  /** By the prints of their bodies. */
  readonly requests: Map<number, Remembered>;
};

/** `body`: its bytes, once it has come again. */
type Remembered = { readonly known: Known; readonly head: KnownHead; body: Buffer | null };

/** A head as it came. */
type SentHead = { readonly url: string | undefined; readonly rawHeaders: readonly string[]; readonly head: KnownHead };

const headsMax = 10_000;
const memoryBytesDefault = 32 * 1024 * 1024;
/** From here on Node sends bytes faster than text, which it joins with the head. */
const longLength = 16 * 1024;
/** Of a request beside its answer. */
const entryBytes = 1_024;

export class KnownRequests {
  readonly #headerNames: readonly string[];
  readonly #heads: LRUCache<string, KnownHead>;
  /** Clients send the same head over and over: it is compared in a tenth of the time that its name takes. */
  readonly #lastHeads = new WeakMap<Socket, SentHead>();
  readonly #requests: LRUCache<Remembered, true>;
  readonly #longBodies = new WeakMap<WholeResponse, Buffer>();

  /** `headerNames`: those that an answer may depend on, in lower case. */
  constructor(headerNames: readonly string[], { memoryBytes = memoryBytesDefault } = {}) {
    this.#headerNames = headerNames;
    this.#heads = new LRUCache({ max: headsMax, dispose: ({ requests }) => requests.forEach((one) => this.#forget(one)) });
    this.#requests = new LRUCache({ maxSize: memoryBytes, dispose: (_, remembered) => this.#drop(remembered) });
  }

  /** The name of a request's head: its path and all that its answer may depend on. */
  nameHead({ url, headers }: Pick<IncomingMessage, 'url' | 'headers'>): string {
    let text = url ?? '';
    for (const name of this.#headerNames) text += `\n${valueOf(headers, name)}`;
    return hash('sha256', text, 'base64url');
  }

  /** undefined: it is not known, or there is something about it that is not plain. */
  findHead(request: IncomingMessage): KnownHead | undefined {
    if (this.#heads.size === 0 || request.method !== 'POST' || request.httpVersion !== '1.1') return undefined;
    const { socket, url, rawHeaders } = request;
    const last = this.#lastHeads.get(socket);
    if (last && last.head.key !== null && last.url === url && isSameList(last.rawHeaders, rawHeaders)) return last.head;
    const head = isPlain(request) ? this.#heads.get(this.nameHead(request)) : undefined;
    if (head) this.#lastHeads.set(socket, { url, rawHeaders, head });
    return head;
  }

  rememberHead(request: IncomingMessage, key: ApiKey): void {
    const name = this.nameHead(request);
    const known = this.#heads.get(name);
    if (known) known.key = key;
    else this.#heads.set(name, { name, key, bodyBytes: bodyBytesOf(request), requests: new Map() });
  }

  forgetHead(head: KnownHead): void {
    head.key = null;
    this.#heads.delete(head.name);
  }

  /** Forgets whatever can be of no use any more. */
  sweep(isCurrent: (key: ApiKey) => boolean): void {
    const heads = this.#heads.values().filter(({ key }) => key === null || !isCurrent(key));
    for (const head of heads.toArray()) this.forgetHead(head);
    const unanswered = this.#requests.keys().filter(({ known }) => !known.answer.deref());
    for (const remembered of unanswered.toArray()) this.#forget(remembered);
  }

  /** A request that is known, or what its body can be known by. */
  find(head: KnownHead, body: Uint8Array): Known | BodyName {
    const print = printOf(body);
    const remembered = head.requests.get(print);
    if (!remembered) return { print, digest: digestOf(body) };
    const { known } = remembered;
    if (remembered.body) {
      if (!remembered.body.equals(body)) return { print, digest: digestOf(body) };
    } else {
      const digest = digestOf(body);
      if (digest !== known.name.digest) return { print, digest };
      // Not out of Node's pool, of which the rest would be kept with it.
      remembered.body = Buffer.allocUnsafeSlow(body.length);
      remembered.body.set(body);
    }
    this.#requests.get(remembered);
    return known;
  }

  /** `bytes`: of the answer's body. */
  remember(head: KnownHead, known: Known, bytes: number): void {
    this.#forget(head.requests.get(known.name.print));
    const remembered = { known, head, body: null };
    head.requests.set(known.name.print, remembered);
    this.#requests.set(remembered, true, { size: entryBytes + bytes + head.bodyBytes });
    if (!this.#requests.has(remembered)) head.requests.delete(known.name.print);
  }

  /** An answer's body in the form that Node sends best. */
  bodyOf(answer: WholeResponse): string | Buffer {
    if (answer.body.length < longLength) return answer.body;
    const known = this.#longBodies.get(answer);
    if (known) return known;
    const body = Buffer.from(answer.body);
    this.#longBodies.set(answer, body);
    return body;
  }

  #forget(remembered: Remembered | undefined): void {
    if (remembered) this.#requests.delete(remembered);
  }

  #drop({ known, head }: Remembered): void {
    if (head.requests.get(known.name.print)?.known === known) head.requests.delete(known.name.print);
    const answer = known.answer.deref();
    if (answer) this.#longBodies.delete(answer);
  }
}

/** At most so many words of a body are looked at, evenly spread, beside its last ones: what is said last differs most. */
const printWords = 128;
const lastWords = 16;

function printOf(body: Uint8Array): number {
  const words = new DataView(body.buffer, body.byteOffset, body.length);
  const end = body.length - 4;
  const step = Math.max(4, Math.floor(body.length / printWords));
  let print = body.length;
  for (let at = 0; at <= end; at += step) print = mix(print, words.getInt32(at));
  for (let at = Math.max(0, end - 4 * lastWords); at <= end; at += 4) print = mix(print, words.getInt32(at));
  return end < 0 ? print : mix(print, words.getInt32(end));
}

/** A step of FNV-1a, on words. http://www.isthe.com/chongo/tech/comp/fnv/ */
function mix(print: number, word: number): number {
  const mixed = Math.imul(print ^ word, 0x01000193);
  return mixed ^ (mixed >>> 15);
}

function digestOf(body: Uint8Array): string {
  return hash('sha256', body, 'base64');
}

/** Of a length that was announced and is not large. */
export function isPlain(request: IncomingMessage): boolean {
  const { method, httpVersion, headers } = request;
  return method === 'POST' && httpVersion === '1.1' && headers.expect === undefined && bodyBytesOf(request) < largeBytes;
}

function bodyBytesOf({ headers }: IncomingMessage): number {
  return Number(headers['content-length']);
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}

/** No header's value holds a line's end or this. */
const absent = '\0';

function valueOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return value === undefined ? absent : String(value);
}
