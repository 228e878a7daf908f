// One call of the chosen upstream, sandbox or HTTP, with its failure in one shape.
import type { StreamEvent, UpstreamFailure } from '../canonical/event.ts';
import { readErrorMessage } from '../formats/error-message.ts';
import type { StreamPipe, StreamProgress } from '../formats/format.ts';
import type { Running } from './running.ts';
import { timeoutsFor } from './timeouts.ts';

export type CallReply =
  | { readonly kind: 'answer'; readonly body: unknown }
  | { readonly kind: 'stream'; readonly chunks: AsyncIterable<Uint8Array> }
  | { readonly kind: 'events'; readonly events: AsyncIterable<StreamEvent> }
  | CallFailed;

/** `requestSent` is false when nothing reached the upstream, so that nothing can have been generated. */
export type CallFailed = {
  readonly kind: 'failure';
  readonly failure: UpstreamFailure;
  readonly requestSent: boolean;
  /** What had come by then. */
  readonly progress: Pick<StreamProgress, 'earlyUsage' | 'outputBytes' | 'searches'>;
  /** What has gone out of the answer can only be ended; null: nothing has, so that another call may take its place. */
  readonly begun: Pick<StreamPipe<never>, 'fail'> | null;
};

const nothingYet = { progress: { earlyUsage: null, outputBytes: 0 }, begun: null } as const;

/** A failure before anything of the answer was seen. */
export function failedCall(failure: UpstreamFailure, requestSent = true): CallFailed {
  return { kind: 'failure', failure, requestSent, ...nothingYet };
}

/** Calls the route of the present attempt. */
export async function callUpstream(running: Running): Promise<CallReply> {
  const { gateway, attempt, controller, model, hold, request } = running;
  const { route, written } = attempt;
  if (written.transport === 'sandbox' || route.transport === 'sandbox') {
    if (written.transport !== 'sandbox' || route.transport !== 'sandbox')
      throw new Error('a request was written for another route');
    const events = route.provider.run(written.request, {
      model: model.id,
      maxOutputTokens: hold.maxOutputTokens,
      thinking: model.supports.thinking,
      signal: controller.signal,
      clock: gateway.clock,
    });
    return { kind: 'events', events };
  }
  const { path, headers, body } = written;
  const reply = await gateway.upstreams.send({
    provider: route.provider,
    path,
    headers,
    body,
    stream: request.stream,
    timeouts: timeoutsFor(route.provider.timeouts, { model, stream: request.stream }),
    signal: controller.signal,
  });
  if (reply.kind !== 'failure') return reply;
  const message = readErrorMessage(reply.body) ?? reply.failure.message;
  const failure = { ...reply.failure, message };
  return failedCall(route.kind.readFailure?.(failure, reply.body) ?? failure, reply.requestSent);
}
