// One call of the chosen upstream, sandbox or HTTP, with its failure in one shape.
import type { StreamEvent, UpstreamFailure } from '../canonical/event.ts';
import { OutputMeter } from '../canonical/output-bytes.ts';
import { readErrorMessage } from '../formats/error-message.ts';
import type { BilledAnswer } from '../formats/billed-answer.ts';
import type { StreamPipe, StreamProgress } from '../formats/format.ts';
import { upstreamFormats } from '../formats/registry.ts';
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
  /** How this call failed: what it may have cost is judged by it. */
  readonly failure: UpstreamFailure;
  /** The failure that the client is told, when it is that of an earlier call. */
  readonly told?: UpstreamFailure;
  readonly requestSent: boolean;
  /** Whether a stream had begun, with a status of success; left out: none had. */
  readonly hasStreamed?: boolean;
  /** Whether the answer had come whole, so that its counts are final; left out: it had not. */
  readonly isWhole?: boolean;
  /** What had come by then. */
  readonly progress: Pick<StreamProgress, 'usage' | 'output' | 'searches'>;
  /** What has gone out of the answer can only be ended; null: nothing has, so that another call may take its place. */
  readonly begun: Pick<StreamPipe<never>, 'fail'> | null;
};

type FailedOptions = { readonly requestSent?: boolean; readonly billed?: BilledAnswer | null };

/** A failure before anything of the answer could be read. `billed`: the answer that came nevertheless. */
export function failedCall(told: UpstreamFailure, { requestSent = true, billed = null }: FailedOptions = {}): CallFailed {
  const failure = billed ? { ...told, isBilled: true } : told;
  const usage = billed?.usage ?? null;
  return {
    kind: 'failure',
    failure,
    requestSent,
    isWhole: usage !== null,
    progress: { usage, output: new OutputMeter() },
    begun: null,
  };
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
  const billed = reply.failure.status === null ? upstreamFormats[route.format].readBilledAnswer(reply.body) : null;
  const failure = { ...reply.failure, message };
  return failedCall(route.kind.readFailure?.(failure, reply.body) ?? failure, { requestSent: reply.requestSent, billed });
}
