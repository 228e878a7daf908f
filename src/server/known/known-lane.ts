// A shorter way for requests whose answers are known: in front of the server's own handler, past its router, hooks and handlers. It answers
// what it is sure of, and hands on everything else as if it had not been there: a first such request, a key that has changed, a refusal.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { ApiError } from '../../canonical/errors.ts';
import { noteKey, noteWork } from '../../gateway/endpoint.ts';
import {
  type Counted,
  type KnownRequest,
  lastingHeaders,
  type RecalledAnswer,
  recallAnswer,
} from '../../gateway/known-request.ts';
import { noteReplay } from '../../gateway/replay.ts';
import type { Traced } from '../ended-requests.ts';
import { dropWhenStalled, jsonHeaders, streamHeaders } from '../http-client.ts';
import { readBytes, type BodyLimits } from '../middleware/body.ts';
import type { Tracing } from '../middleware/trace.ts';
import { ByteLane } from './byte-lane.ts';
import { KnownAnswers, type KnownContext } from './known-answers.ts';
import { isPlain, type Known, type KnownHead, KnownRequests } from './known-requests.ts';
import type { CancelTimer } from '../../lib/clock.ts';

/** A request that was begun here: whoever it is handed on to takes up what has been done. */
type Begun = {
  readonly traced: Traced;
  readonly head: KnownHead;
  /** Of its body; null until that has come. */
  name: string | null;
  arrived: Arrived;
};

/** A body that has come, or why it has not. */
type Arrived = { readonly error: ApiError | null; readonly bytes?: Buffer };
const nothing: Arrived = { error: null };

const sweepEveryMs = 60_000;

type LaneOptions = {
  readonly tracing: Tracing;
  readonly limits: BodyLimits;
  /** The headers that an answer may depend on. */
  readonly headerNames: readonly string[];
  /** Of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly keepAliveTimeoutMs: number;
};

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse; readonly handle: RequestListener };

type Found = { readonly known: Known; readonly answer: RecalledAnswer };

export class KnownLane {
  readonly #options: LaneOptions;
  readonly #answers: KnownAnswers;
  readonly #bytes: ByteLane;
  readonly #known: KnownRequests;
  readonly #begun = new WeakMap<IncomingMessage, Begun>();
  readonly #stopSweeping: CancelTimer;

  constructor(context: KnownContext, options: LaneOptions) {
    this.#options = options;
    this.#known = new KnownRequests(options.headerNames);
    this.#answers = new KnownAnswers(context);
    this.#bytes = new ByteLane({ ...options, answers: this.#answers, bodyOf: (answer) => this.#known.bodyOf(answer) });
    this.#stopSweeping = context.gateway.clock.every(sweepEveryMs, () => this.#sweep());
  }

  /** Whether there is an answer of which Node's server knows nothing. */
  get isAnswering(): boolean {
    return this.#bytes.isAnswering;
  }

  close(): void {
    this.#stopSweeping();
  }

  /** A listener that answers what is known, and lets `handle` do the rest. */
  before(handle: RequestListener): RequestListener {
    return (request, response) => {
      this.#bytes.note(request, response);
      const begun = this.#begin(request, response);
      if (!begun) {
        this.#bytes.forget(request);
        return handle(request, response);
      }
      const serve = (error: ApiError | null, bytes?: Buffer) => {
        begun.arrived = { error, bytes };
        this.#serve(begun, { request, response, handle });
      };
      readBytes(request, this.#options.limits, serve);
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
    if (request.key.allowedAddresses.length > 0 || !this.#answers.isValid(request.key)) return;
    const begun = this.#begun.get(raw);
    const answer = begun?.name && recallAnswer(this.#answers.gateway, request);
    if (begun && answer) this.#remember(begun, request, answer);
    else this.#known.rememberHead(raw, request.key);
  }

  /** null: its head is not known. */
  #begin(request: IncomingMessage, response: ServerResponse): Begun | null {
    if (!this.#answers.isOpen) return null;
    const head = this.#known.findHead(request);
    const key = head?.key;
    if (!head || !key) return null;
    if (!this.#answers.isValid(key)) {
      this.#known.forgetHead(head);
      return null;
    }
    // From here on a shutdown waits for it, also while its body is on its way.
    const leave = this.#answers.gateway.runs.enter();
    const traced = this.#options.tracing.follow(response, { method: 'POST', route: request.url! }, leave);
    noteKey(traced.trace, key);
    return { traced, head, name: null, arrived: nothing };
  }

  #sweep(): void {
    this.#known.sweep((key) => this.#answers.isValid(key));
    this.#bytes.sweep();
  }

  /** With its body here. */
  #serve(begun: Begun, exchange: Exchange): void {
    const known = this.#find(begun, exchange.request);
    const answer = known && this.#answers.recall(known.request);
    if (!answer) return this.#handOn(begun, exchange);
    const found = { known, answer };
    const counted = this.#answers.count(known.request);
    if (!(counted instanceof Promise)) return this.#answer(begun, exchange, found, counted);
    void counted.then((headers) => this.#answer(begun, exchange, found, headers));
  }

  #handOn(begun: Begun, { request, response, handle }: Exchange): void {
    this.#bytes.forget(request);
    // A client that has left has its line in the log; whoever took it over would wait for its end for ever.
    if (response.closed) return;
    this.#begun.set(request, begun);
    handle(request, response);
  }

  #answer(begun: Begun, exchange: Exchange, { known, answer }: Found, counted: Counted | null): void {
    if (!counted) return this.#handOn(begun, exchange);
    begun.arrived = nothing;
    const { response } = exchange;
    const { trace } = begun.traced;
    noteWork(trace, known.request);
    noteReplay(trace, answer);
    if (response.closed) return;
    const isSame = known.answer.deref() === answer.response;
    const current = isSame ? known : this.#remember(begun, known.request, answer);
    begun.traced.kind = current;
    const headers = current.headers.concat(this.#answers.headersOf(counted, begun.traced));
    response.writeHead(200, headers).end(this.#known.bodyOf(answer.response), current.encoding);
    dropWhenStalled(response, this.#answers.gateway.config.limits.stream_stall_ms);
    this.#bytes.learn(exchange, current);
  }

  #remember({ head, name }: Begun, request: KnownRequest, answer: RecalledAnswer): Known {
    const { response } = answer;
    const bytes = Buffer.byteLength(response.body);
    const headers = Object.entries({
      ...this.#options.headers,
      ...lastingHeaders(this.#answers.gateway, request, answer),
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
    begun.name = this.#known.nameBody(bytes);
    return this.#known.find(begun.head, begun.name);
  }
}
