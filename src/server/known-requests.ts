// Requests whose answers were known, by their bytes, within a budget of memory. First by their heads, so that no body is read for nothing: a
// head is known once a request under it was answered with an earlier one's answer, a body with the second time. All that decides about the
// answer is named here; no text of a key or a body is kept.
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { WholeResponse } from '../canonical/stored-response.ts';
import type { KnownRequest } from '../gateway/known-request.ts';
import type { ApiKey } from '../keys/api-key.ts';

/** A known request, and the head of the answer that it was given last. */
export type Known = {
  readonly request: KnownRequest;
  /** Whoever keeps the answer may forget it at any time: then it is forgotten here as well. */
  readonly answer: WeakRef<WholeResponse>;
  /** The headers that the answer has each time, names and values in turn. */
  readonly head: readonly string[];
};

const headsMax = 10_000;
const memoryBytesDefault = 32 * 1024 * 1024;
/** From here on Node sends bytes faster than text, which it joins with the head. */
const longLength = 16 * 1024;
/** Of a request beside its answer. */
const entryBytes = 1_024;

export class KnownRequests {
  readonly #headerNames: readonly string[];
  readonly #heads = new LRUCache<string, ApiKey>({ max: headsMax });
  readonly #requests: LRUCache<string, Known>;
  readonly #longBodies = new WeakMap<WholeResponse, Buffer>();

  /** `headerNames`: those that an answer may depend on, in lower case. */
  constructor(headerNames: readonly string[], { memoryBytes = memoryBytesDefault } = {}) {
    this.#headerNames = headerNames;
    this.#requests = new LRUCache({ maxSize: memoryBytes, dispose: ({ answer }) => this.#drop(answer.deref()) });
  }

  /** The name of a request's head: its path and all that its answer may depend on. */
  nameHead({ url, headers }: Pick<IncomingMessage, 'url' | 'headers'>): string {
    let text = url ?? '';
    for (const name of this.#headerNames) text += `\n${valueOf(headers, name)}`;
    return hash('sha256', text, 'base64url');
  }

  /** The name of a request: of its head and its body. */
  nameRequest(head: string, body: Uint8Array): string {
    return head + hash('sha256', body, 'base64url');
  }

  get isEmpty(): boolean {
    return this.#heads.size === 0;
  }

  /** The key whose requests have that head. */
  keyUnder(head: string): ApiKey | undefined {
    return this.#heads.get(head);
  }

  rememberHead(head: string, key: ApiKey): void {
    this.#heads.set(head, key);
  }

  forgetHead(head: string): void {
    this.#heads.delete(head);
  }

  find(name: string): Known | undefined {
    return this.#requests.get(name);
  }

  /** `bytes`: of the answer's body. */
  remember(name: string, known: Known, bytes: number): void {
    this.#requests.set(name, known, { size: entryBytes + bytes });
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

  #drop(answer: WholeResponse | undefined): void {
    if (answer) this.#longBodies.delete(answer);
  }
}

/** No header's value holds a line's end or this. */
const absent = '\0';

function valueOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return value === undefined ? absent : String(value);
}
