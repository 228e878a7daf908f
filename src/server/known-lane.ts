// A shorter way for requests whose answers are known: in front of the server's own handler, past its router, hooks and handlers. It answers
// what it is sure of, and hands on everything else as if it had not been there: a first such request, a key that has changed, a refusal.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { ApiError } from '../canonical/errors.ts';
import { noteWork } from '../gateway/endpoint.ts';
import { countKnown, lastingHeaders, recallAnswer, type KnownRequest, type RecalledAnswer } from '../gateway/known-request.ts';
import type { Headers } from '../gateway/client.ts';
import { noteReplay } from '../gateway/replay.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { ServerContext } from './context.ts';
import { dropWhenStalled, jsonHeaders, streamHeaders } from './http-client.ts';
import { KnownRequests, type Known } from './known-requests.ts';
import { largeBytes } from './large-bodies.ts';
import { readBytes, type BodyLimits } from './middleware/body.ts';
import { idHeaderNames, type BeginTrace, type Traced } from './middleware/trace.ts';

/** A request that was begun here: whoever it is handed on to takes up what has been done. */
type Begun = {
  readonly traced: Traced;
  /** Of its head. */
  readonly head: string;
  /** Of the whole; empty until its body has come. */
  name: string;
  arrived: Arrived;
};

/** A body that has come, or why it has not. */
type Arrived = { readonly error: ApiError | null; readonly bytes?: Buffer };
const nothing: Arrived = { error: null };

type LaneOptions = {
  readonly begin: BeginTrace;
  readonly limits: BodyLimits;
  /** The headers that an answer may depend on. */
  readonly headerNames: readonly string[];
};

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse; readonly handle: RequestListener };

type Found = { readonly known: Known; readonly answer: RecalledAnswer };

type LaneContext = Pick<ServerContext, 'gateway' | 'keys' | 'lifecycle' | 'overload'>;

export class KnownLane {
  readonly #context: LaneContext;
  readonly #options: LaneOptions;
  readonly #known: KnownRequests;
  readonly #begun = new WeakMap<IncomingMessage, Begun>();

  constructor(context: LaneContext, options: LaneOptions) {
    this.#context = context;
    this.#options = options;
    this.#known = new KnownRequests(options.headerNames);
  }

  /** A listener that answers what is known, and lets `handle` do the rest. */
  before(handle: RequestListener): RequestListener {
    return (request, response) => {
      const begun = this.#begin(request, response);
      if (!begun) return handle(request, response);
      readBytes(request, this.#options.limits, (error, bytes) => {
        begun.arrived = { error, bytes };
        void this.#serve(begun, { request, response, handle });
      });
    };
  }

  /** The trace of a request that was begun here and handed on; undefined of any other. */
  traceOf(request: IncomingMessage): Traced | undefined {
    return this.#begun.get(request)?.traced;
  }

  /** What has come of its body, to be taken once; undefined: it is still to be read. */
  takeBody(request: IncomingMessage): Arrived | undefined {
    const begun = this.#begun.get(request);
    const arrived = begun?.arrived;
    // A request lives as long as its answer, which may be a stream of half an hour: it must not keep its bytes for so long.
    if (begun) begun.arrived = nothing;
    return arrived;
  }

  /** Learns of a request that was answered with an earlier one's answer. Of others than those that carry their key it must know nothing. */
  learn({ raw, routeOptions }: FastifyRequest, request: KnownRequest): void {
    if (routeOptions.config.auth !== 'required' || raw.url !== routeOptions.url || !isPlain(raw)) return;
    if (request.key.allowedAddresses.length > 0 || !this.#isValid(request.key)) return;
    const begun = this.#begun.get(raw);
    const answer = begun && recallAnswer(this.#context.gateway, request);
    if (answer) this.#remember(begun.name, request, answer);
    else this.#known.rememberHead(this.#known.nameHead(raw), request.key);
  }

  /** null: its head is not known, or there is something about it that is not plain. */
  #begin(request: IncomingMessage, response: ServerResponse): Begun | null {
    const { gateway, lifecycle, overload } = this.#context;
    if (this.#known.isEmpty || !isPlain(request) || lifecycle.phase !== 'serving' || overload.reason !== null) return null;
    const head = this.#known.nameHead(request);
    const key = this.#known.keyUnder(head);
    if (!key) return null;
    if (!this.#isValid(key)) {
      this.#known.forgetHead(head);
      return null;
    }
    const traced = this.#options.begin(response, { method: 'POST', route: request.url! });
    traced.trace.keyId = key.id;
    traced.trace.accountId = key.accountId;
    traced.trace.mode = key.mode;
    // From here on a shutdown waits for it, also while its body is on its way.
    response.once('close', gateway.runs.enter());
    return { traced, head, name: '', arrived: nothing };
  }

  #isValid(key: ApiKey): boolean {
    return this.#context.keys.isCurrent(key) && (key.expiresAtMs === null || this.#context.gateway.nowMs() < key.expiresAtMs);
  }

  /** With its body here. */
  async #serve(begun: Begun, exchange: Exchange): Promise<void> {
    const { request, response, handle } = exchange;
    const known = this.#find(begun, request);
    const answer = known && recallAnswer(this.#context.gateway, known.request);
    if (answer && (await this.#answer(begun, response, { known, answer }))) return;
    // A client that has left has its line in the log; whoever took it over would wait for its end for ever.
    if (response.closed) return;
    this.#begun.set(request, begun);
    handle(request, response);
  }

  /** Whether it could. What goes wrong here goes wrong the full way as well, and is told there. */
  async #answer(begun: Begun, response: ServerResponse, { known, answer }: Found): Promise<boolean> {
    const { gateway } = this.#context;
    let counted: Headers;
    try {
      counted = await countKnown(gateway, known.request);
    } catch {
      return false;
    }
    const { trace, route } = begun.traced;
    noteWork(trace, known.request);
    noteReplay(trace, answer);
    if (response.closed) return true;
    const isSame = known.answer.deref() === answer.response;
    const { head } = isSame ? known : this.#remember(begun.name, known.request, answer);
    const headers = [...head];
    for (const name of idHeaderNames(route)) headers.push(name, trace.requestId);
    for (const name in counted) headers.push(name, counted[name]!);
    response.writeHead(200, headers).end(this.#known.bodyOf(answer.response));
    dropWhenStalled(response, gateway.config.limits.stream_stall_ms);
    return true;
  }

  #remember(name: string, request: KnownRequest, answer: RecalledAnswer): Known {
    const { response } = answer;
    const bytes = Buffer.byteLength(response.body);
    const head = Object.entries({
      ...lastingHeaders(this.#context.gateway, request, answer),
      ...(request.stream ? streamHeaders : { ...jsonHeaders, 'content-length': String(bytes) }),
    }).flat();
    const known = { request, answer: new WeakRef(response), head };
    this.#known.remember(name, known, bytes);
    return known;
  }

  #find(begun: Begun, { socket }: IncomingMessage): Known | undefined {
    const { bytes } = begun.arrived;
    // Whoever was told that the body came too late, and sent the rest all the same, is answered no more.
    if (!bytes || !socket.writable) return undefined;
    begun.name = this.#known.nameRequest(begun.head, bytes);
    const known = this.#known.find(begun.name);
    return known && this.#isValid(known.request.key) ? known : undefined;
  }
}

/** What may be known at all: of a length that was announced and is not large. */
function isPlain({ method, httpVersion, headers }: IncomingMessage): boolean {
  if (method !== 'POST' || httpVersion !== '1.1') return false;
  return headers.expect === undefined && Number(headers['content-length']) < largeBytes;
}
