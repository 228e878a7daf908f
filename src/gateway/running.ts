// A request under way: what every later step needs of the earlier ones.
import type { Model } from '../catalog/model.ts';
import type { AppliedPrice } from '../catalog/price.ts';
import type { AnswerContext, ClientFormat, ClientRequest } from '../formats/format.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { TokenEstimate } from '../lib/tokens.ts';
import type { ForwardableHeaders } from '../providers/provider.ts';
import type { Client, Headers } from './client.ts';
import type { Gateway, RequestTrace } from './gateway.ts';
import { writeIgnored } from './headers.ts';
import type { Hold } from './hold.ts';
import type { ChosenRoute } from './route.ts';
import type { AskedSearch } from './search.ts';
import type { WrittenRequest } from './upstream-request.ts';

/** What was asked for, before anything is held. */
export type Asked = {
  readonly gateway: Gateway;
  readonly client: Client;
  readonly trace: RequestTrace;
  readonly key: ApiKey;
  readonly model: Model;
  readonly route: ChosenRoute;
  readonly price: AppliedPrice;
  /** null: the provider runs none. */
  readonly search: AskedSearch | null;
  readonly format: ClientFormat;
  readonly request: ClientRequest;
  readonly estimate: TokenEstimate;
  readonly forwardable: ForwardableHeaders;
};

export type Running = Asked & {
  readonly requestId: string;
  /** What goes upstream, unless the hold is reduced: then it is written anew. */
  readonly written: WrittenRequest;
  readonly hold: Hold;
  readonly rateHeaders: Headers;
  /** Stops the upstream. */
  readonly controller: AbortController;
  /** Whether the hold was settled or released. */
  isResolved: boolean;
};

/** The custom tools that went upstream as functions. */
export function loweredToolsOf({ written }: Running): ReadonlySet<string> {
  return written.transport === 'http' ? written.loweredTools : new Set();
}

export function answerContextOf({ requestId, model, request, estimate, gateway }: Running): AnswerContext {
  return {
    requestId: requestId.slice('req_'.length),
    model: model.id,
    createdAtSeconds: Math.floor(gateway.nowMs() / 1_000),
    request,
    estimatedInputTokens: estimate.likely,
  };
}

/** The headers of an answer's head that are known before the upstream has answered. */
export function headHeaders({ gateway, key, hold, rateHeaders }: Running, ignored: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = { ...rateHeaders };
  if (key.mode === 'test') headers[gateway.headers.mode] = 'test';
  if (hold.isReduced) headers[gateway.headers.outputLimit] = String(hold.maxOutputTokens);
  if (ignored.length > 0) headers[gateway.headers.ignored] = writeIgnored(ignored);
  return headers;
}

/** How long an upstream is read on for its usage after the client has left. */
const readOnMs = 5_000;

/** Stops the upstream some seconds after the client has left, unless it ends by itself before. */
export function stopWhenGone({ client, controller }: Running): void {
  client.onGone(() => {
    const timer = setTimeout(() => controller.abort(), readOnMs);
    timer.unref();
    controller.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
}

/** The upstream was stopped because its client had left, not by a failure of its own or the end of the program. */
export function wasStoppedByClient({ client, controller, gateway }: Running): boolean {
  return client.isGone() && controller.signal.aborted && !gateway.runs.isEnding;
}
