// A request under way: what every later step needs of the earlier ones.
import type { Model } from '../catalog/model.ts';
import type { StoredResponse } from '../canonical/stored-response.ts';
import type { AnswerContext, ClientFormat, ClientRequest } from '../formats/format.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { InputEstimate } from '../lib/tokens.ts';
import type { ForwardableHeaders } from '../providers/provider.ts';
import type { CallFailed } from './call.ts';
import type { Client, Headers } from './client.ts';
import type { Gateway, RequestTrace } from './gateway.ts';
import { writeIgnored } from './headers.ts';
import type { Hold } from './hold.ts';
import type { Keeping } from './keeping.ts';
import { providerNameOf } from './route.ts';
import type { Attempt, RoutePlan } from './route-plan.ts';
import type { UnseenOutput } from './unseen-output.ts';

/** What was asked for, before anything is held. */
export type Asked = {
  readonly gateway: Gateway;
  readonly client: Client;
  readonly trace: RequestTrace;
  readonly key: ApiKey;
  readonly model: Model;
  readonly format: ClientFormat;
  readonly request: ClientRequest;
  readonly estimate: InputEstimate;
  readonly forwardable: ForwardableHeaders;
};

export type Running = Asked & {
  readonly requestId: string;
  readonly plan: RoutePlan;
  /** The route that is tried, and at last the one that served. */
  attempt: Attempt;
  readonly hold: Hold;
  readonly rateHeaders: Headers;
  /** What the present call may have written without showing it. */
  readonly unseen: UnseenOutput;
  /** Stops the upstream. */
  readonly controller: AbortController;
  /** Where a success is kept. While somebody may come for it there, the request runs on without its client. */
  readonly keeping: Keeping;
  /** Whether the upstream was stopped because nobody was left to be answered. */
  isForsaken: boolean;
  /** Whether the hold was settled or released. */
  isResolved: boolean;
};

/** The custom tools that went upstream as functions. */
export function loweredToolsOf({ attempt: { written } }: Running): ReadonlySet<string> {
  return written.transport === 'http' ? written.loweredTools : new Set();
}

export function answerContextOf({ requestId, model, request, estimate, gateway }: Running): AnswerContext {
  return {
    requestId: requestId.slice('req_'.length),
    model: model.id,
    createdAtSeconds: Math.floor(gateway.clock.nowMs() / 1_000),
    request,
    estimatedInputTokens: estimate.likely,
  };
}

/** The headers of an answer's head that are known before the upstream has answered to its end. */
export function headHeaders(running: Running): Record<string, string> {
  return { ...requestHeaders(running), ...answerHeaders(running), ...routeHeaders(running) };
}

/** Those that tell who has served: they change while nothing has come. */
export function routeHeaders({ gateway, attempt, trace }: Running): Record<string, string> {
  return {
    [gateway.headers.route]: providerNameOf(attempt.route),
    [gateway.headers.attempts]: String(trace.attempts ?? 0),
  };
}

/** Those that tell of the request and its key, whatever it is answered with. */
export function requestHeaders({
  gateway,
  key,
  rateHeaders,
}: Pick<Running, 'gateway' | 'key' | 'rateHeaders'>): Record<string, string> {
  return key.mode === 'test' ? { ...rateHeaders, [gateway.headers.mode]: 'test' } : { ...rateHeaders };
}

/** Those that tell of the answer, and stay with it when it is stored. */
export function answerHeaders({ gateway, hold, attempt }: Running): Record<string, string> {
  const headers: Record<string, string> = {};
  const { ignored } = attempt.written;
  if (hold.isReduced) headers[gateway.headers.outputLimit] = String(hold.maxOutputTokens);
  if (ignored.length > 0) headers[gateway.headers.ignored] = writeIgnored(ignored);
  return headers;
}

/** What is kept of a success for whoever sends the request again; null: nothing. */
export function responseToStore(running: Running, { body, contentType }: SentAnswer): StoredResponse | null {
  if (running.keeping.bodyBytesMax === null) return null;
  return { status: 200, contentType, headers: answerHeaders(running), body };
}

export type SentAnswer = {
  /** null: not kept, being too long. */
  readonly body: string | null;
  readonly contentType: string;
};

/** What somebody waits for is complete, also for a client who has left. */
export function endingOf({ client, keeping }: Pick<Running, 'client' | 'keeping'>): 'complete' | 'cut-off' {
  return client.isGone() && !keeping.isAwaited ? 'cut-off' : 'complete';
}

/** How long an upstream is read on for its usage after the client has left. */
const readOnMs = 5_000;

/** Stops the upstream some seconds after nobody is left to be answered, unless it ends by itself before. */
export function stopWhenForsaken(running: Pick<Running, 'gateway' | 'client' | 'controller' | 'keeping' | 'isForsaken'>): void {
  const { client, controller, keeping, gateway } = running;
  const isNeeded = () => !client.isGone() || keeping.isAwaited;
  const stop = () => {
    if (isNeeded()) return;
    running.isForsaken = true;
    controller.abort();
  };
  const stopSoon = () => {
    if (isNeeded()) return;
    const cancel = gateway.clock.after(readOnMs, stop);
    controller.signal.addEventListener('abort', cancel, { once: true });
  };
  client.onGone(stopSoon);
  keeping.onUnawaited(stopSoon);
}

/** The upstream ran and was stopped because nobody waited any more, not by a failure of its own or the end of the program. */
export function wasForsaken({ isForsaken, gateway }: Running, { requestSent, failure }: CallFailed): boolean {
  return isForsaken && !gateway.runs.isEnding && requestSent && failure.kind !== 'status';
}
