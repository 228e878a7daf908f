// Sends one request of a model that does not answer conversations, such as an embedding model.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Model } from '../../domain/catalog/model.ts';
import { readErrorMessage } from '../../formats/error-message.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import type { ChosenRoute } from '../routing/route.ts';
import { makeFailure } from '../calling/failure.ts';
import { withoutProvider } from '../calling/failure-message.ts';
import { timeoutsFor } from '../calling/timeouts.ts';
import type { Upstreams } from '../calling/upstreams.ts';

type TaskCall = {
  readonly path: string;
  /** The path is the whole path, not below the base URL's. */
  readonly isAtOrigin?: boolean;
  readonly body: JsonObject;
};

type Sending = {
  readonly upstreams: Upstreams;
  readonly model: Model;
  readonly route: ChosenRoute;
  readonly trace: TraceContext | null;
  readonly signal: AbortSignal;
};

export type TaskReply =
  | { readonly kind: 'answer'; readonly body: JsonObject; readonly inputTokens?: number }
  | {
      readonly kind: 'failure';
      readonly failure: UpstreamFailure;
      /** The provider may bill it: it broke off, or we left, when it had the request. */
      readonly mayBeBilled: boolean;
    };

export async function sendTask(
  { upstreams, model, route, trace, signal }: Sending,
  { path, isAtOrigin = false, body }: TaskCall,
): Promise<TaskReply> {
  const { provider, kind } = route;
  const reply = await upstreams.send({
    provider,
    path,
    ...(isAtOrigin && { origin: new URL(provider.baseUrl).origin }),
    headers: kind.headers(provider.apiKey, {}),
    body: JSON.stringify(body),
    stream: false,
    timeouts: timeoutsFor(provider.timeouts, { model, stream: false }),
    trace,
    signal,
  });
  if (reply.kind === 'answer') {
    const { body: answer, ...counted } = reply;
    return isObject(answer) ? { ...counted, body: answer } : unreadable('the answer is no object');
  }
  const message = readErrorMessage(reply.body) ?? reply.failure.message;
  const named = { ...reply.failure, message: withoutProvider(message, provider) };
  return {
    kind: 'failure',
    failure: kind.readFailure?.(named, reply.body) ?? named,
    mayBeBilled: reply.requestSent && reply.failure.kind !== 'status',
  };
}

/** The answer of a provider that cannot be used, and is billed. */
export function unreadable(problem: string): Extract<TaskReply, { kind: 'failure' }> {
  return { kind: 'failure', failure: makeFailure('unreadable', problem), mayBeBilled: true };
}
