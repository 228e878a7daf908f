// A shorter way for requests whose answers are known: in front of the server's own handler, past its router, hooks and handlers. It answers
// what it is sure of, and hands on everything else as if it had not been there: a first such request, a key that has changed, a refusal.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { ApiError } from '../canonical/errors.ts';
import { noteWork } from '../gateway/endpoint.ts';
import {
  type Counted,
  countKnown,
  type KnownRequest,
  lastingHeaders,
  type RecalledAnswer,
  recallAnswer,
} from '../gateway/known-request.ts';
import { balanceHeaders, noteReplay } from '../gateway/replay.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { Balance } from '../ledger/queries.ts';
import type { ServerContext } from './context.ts';
import type { Traced } from './ended-requests.ts';
import { dropWhenStalled, jsonHeaders, streamHeaders } from './http-client.ts';
import { type BodyName, isPlain, type Known, type KnownHead, KnownRequests } from './known-requests.ts';
import { readBytes, type BodyLimits } from './middleware/body.ts';
import { type BeginTrace, idHeaderNames } from './middleware/trace.ts';

/** A request that was begun here: whoever it is handed on to takes up what has been done. */
type Begun = {
  readonly traced: Traced;
  readonly head: KnownHead;
  /** null until its body has come. */
  name: BodyName | null;
  arrived: Arrived;
};

/** A body that has come, or why it has not. */
type Arrived = { readonly error: ApiError | null; readonly bytes?: Buffer };
const nothing: Arrived = { error: null };

const sweepEveryMs = 60_000;

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
  readonly #timer: NodeJS.Timeout;
  /** A balance stays the same for many requests: what is told of it is written once. */
  readonly #balanceHeaders = new WeakMap<Balance, readonly string[]>();

  constructor(context: LaneContext, options: LaneOptions) {
    this.#context = context;
    this.#options = options;
    this.#known = new KnownRequests(options.headerNames);
    this.#timer = setInterval(() => this.#known.sweep((key) => this.#isValid(key)), sweepEveryMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** A listener that answers what is known, and lets `handle` do the rest. */
  before(handle: RequestListener): RequestListener {
    return (request, response) => {
      const begun = this.#begin(request, response);
      if (!begun) return handle(request, response);
      const serve = (error: ApiError | null, bytes?: Buffer) => {
        begun.arrived = { error, bytes };
        this.#serve(begun, { request, response, handle });
      };
      readBytes(request, this.#options.limits, serve, begun.head.bodyBytes);
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
    const answer = begun?.name && recallAnswer(this.#context.gateway, request);
    if (begun && answer) this.#remember(begun, request, answer);
    else this.#known.rememberHead(raw, request.key);
  }

  /** null: its head is not known. */
  #begin(request: IncomingMessage, response: ServerResponse): Begun | null {
    const { gateway, lifecycle, overload } = this.#context;
    if (lifecycle.phase !== 'serving' || overload.reason !== null) return null;
    const head = this.#known.findHead(request);
    const key = head?.key;
    if (!head || !key) return null;
    if (!this.#isValid(key)) {
      this.#known.forgetHead(head);
      return null;
    }
    // From here on a shutdown waits for it, also while its body is on its way.
    const traced = this.#options.begin(response, { method: 'POST', route: request.url!, onClose: gateway.runs.enter() });
    traced.trace.keyId = key.id;
    traced.trace.accountId = key.accountId;
    traced.trace.mode = key.mode;
    return { traced, head, name: null, arrived: nothing };
  }

  #isValid(key: ApiKey): boolean {
    return this.#context.keys.isCurrent(key) && (key.expiresAtMs === null || this.#context.gateway.nowMs() < key.expiresAtMs);
  }

  /** With its body here. */
  #serve(begun: Begun, exchange: Exchange): void {
    const known = this.#find(begun, exchange.request);
    const answer = known && recallAnswer(this.#context.gateway, known.request);
    if (!answer) return this.#handOn(begun, exchange);
    const found = { known, answer };
    const counted = this.#count(known.request);
    // As a rule all that counts is in memory: nothing is waited for then.
    if (!(counted instanceof Promise)) return this.#answer(begun, exchange, found, counted);
    void counted.then((headers) => this.#answer(begun, exchange, found, headers));
  }

  #handOn(begun: Begun, { request, response, handle }: Exchange): void {
    // A client that has left has its line in the log; whoever took it over would wait for its end for ever.
    if (response.closed) return;
    this.#begun.set(request, begun);
    handle(request, response);
  }

  /** null: it could not be counted. What goes wrong here goes wrong the full way as well, and is told there. */
  #count(request: KnownRequest): Counted | null | Promise<Counted | null> {
    try {
      const counted = countKnown(this.#context.gateway, request);
      return counted instanceof Promise ? counted.catch(() => null) : counted;
    } catch {
      return null;
    }
  }

  #answer(begun: Begun, exchange: Exchange, { known, answer }: Found, counted: Counted | null): void {
    if (!counted) return this.#handOn(begun, exchange);
    const { response } = exchange;
    const { trace, route } = begun.traced;
    noteWork(trace, known.request);
    noteReplay(trace, answer);
    if (response.closed) return;
    const isSame = known.answer.deref() === answer.response;
    const current = isSame ? known : this.#remember(begun, known.request, answer);
    begun.traced.kind = current;
    const headers = [...current.headers, ...this.#balanceHeadersOf(counted)];
    for (const name in counted.rateHeaders) headers.push(name, counted.rateHeaders[name]!);
    for (const name of idHeaderNames(route)) headers.push(name, trace.requestId);
    response.writeHead(200, headers).end(this.#known.bodyOf(answer.response), current.encoding);
    dropWhenStalled(response, this.#context.gateway.config.limits.stream_stall_ms);
  }

  #balanceHeadersOf({ balance }: Counted): readonly string[] {
    if (!balance) return [];
    let headers = this.#balanceHeaders.get(balance);
    if (!headers)
      this.#balanceHeaders.set(balance, (headers = Object.entries(balanceHeaders(this.#context.gateway, balance)).flat()));
    return headers;
  }

  #remember({ head, name }: Begun, request: KnownRequest, answer: RecalledAnswer): Known {
    const { response } = answer;
    const bytes = Buffer.byteLength(response.body);
    const headers = Object.entries({
      ...lastingHeaders(this.#context.gateway, request, answer),
      ...(request.stream ? streamHeaders : { ...jsonHeaders, 'content-length': String(bytes) }),
    }).flat();
    const encoding = bytes === response.body.length ? 'latin1' : 'utf8';
    const known = { name: name!, request, answer: new WeakRef(response), headers, encoding } as const;
    this.#known.remember(head, known, bytes);
    return known;
  }

  #find(begun: Begun, { socket }: IncomingMessage): Known | undefined {
    const { bytes } = begun.arrived;
    // Whoever was told that the body came too late, and sent the rest all the same, is answered no more.
    if (!bytes || !socket.writable) return undefined;
    const found = this.#known.find(begun.head, bytes);
    const known = 'request' in found ? found : undefined;
    begun.name = known?.name ?? (found as BodyName);
    return known && this.#isValid(known.request.key) ? known : undefined;
  }
}
