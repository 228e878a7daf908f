// Requests whose answers were known, within a budget of memory. First by their heads, so that no body is read for nothing: a head is known
// once a request under it was answered with an earlier one's answer, a body with the second time. What is kept are digests of all that decides
// about the answer.
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { WholeResponse } from '../../canonical/stored-response.ts';
import type { KnownRequest } from '../../gateway/known-request.ts';
import type { ApiKey } from '../../keys/api-key.ts';
import { largeBytes } from '../large-bodies.ts';

/** A known request, and the headers of the answer that it was given last. */
export type Known = {
  /** A digest of its body. */
  readonly name: string;
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
  /** By the digests of their bodies. */
  readonly requests: Map<string, Remembered>;
};

type Remembered = { readonly known: Known; readonly head: KnownHead };

const headsMax = 10_000;
const memoryBytesDefault = 32 * 1024 * 1024;
/** From here on Node sends bytes faster than text, which it joins with the head. */
const longLength = 16 * 1024;
/** Of a request beside its answer. */
const entryBytes = 1_024;

export class KnownRequests {
  readonly #headerNames: readonly string[];
  readonly #heads: LRUCache<string, KnownHead>;
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
    return this.#heads.size > 0 && isPlain(request) ? this.#heads.get(this.nameHead(request)) : undefined;
  }

  rememberHead(request: IncomingMessage, key: ApiKey): void {
    const name = this.nameHead(request);
    const known = this.#heads.get(name);
    if (known) known.key = key;
    else this.#heads.set(name, { name, key, requests: new Map() });
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

  nameBody(body: Uint8Array): string {
    return hash('sha256', body, 'base64');
  }

  find(head: KnownHead, name: string): Known | undefined {
    const remembered = head.requests.get(name);
    if (remembered) this.#requests.get(remembered);
    return remembered?.known;
  }

  /** `bytes`: of the answer's body. */
  remember(head: KnownHead, known: Known, bytes: number): void {
    this.#forget(head.requests.get(known.name));
    const remembered = { known, head };
    head.requests.set(known.name, remembered);
    this.#requests.set(remembered, true, { size: entryBytes + bytes });
    if (!this.#requests.has(remembered)) head.requests.delete(known.name);
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
    if (head.requests.get(known.name)?.known === known) head.requests.delete(known.name);
    const answer = known.answer.deref();
    if (answer) this.#longBodies.delete(answer);
  }
}

/** Of a length that was announced and is not large. */
export function isPlain(request: IncomingMessage): boolean {
  const { method, httpVersion, headers } = request;
  return (
    method === 'POST' && httpVersion === '1.1' && headers.expect === undefined && Number(headers['content-length']) < largeBytes
  );
}

/** No header's value holds a line's end or this. */
const absent = '\0';

function valueOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return value === undefined ? absent : String(value);
}
