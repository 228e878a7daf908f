// Makes one call of the chosen upstream, over HTTP or played by the sandbox. Failures have one
// shape.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { OutputMeter } from '../../canonical/output-bytes.ts';
import { readErrorMessage, readVendorError } from '../../formats/error-message.ts';
import type { BilledAnswer } from '../../formats/billed-answer.ts';
import type { StreamPipe, StreamProgress } from '../../formats/format.ts';
import { upstreamFormats } from '../../formats/registry.ts';
import { playExchange } from '../../providers/registry.ts';
import type { Called } from '../stages.ts';
import { timeoutsFor } from './timeouts.ts';
import type { UpstreamReply } from './upstream-call.ts';

export type CallReply =
  | { readonly kind: 'answer'; readonly body: unknown }
  | { readonly kind: 'stream'; readonly chunks: AsyncIterable<Uint8Array> }
  | CallFailed;

export type CallFailed = {
  readonly kind: 'failure';
  /** The failure of this call. It decides what the call may have cost. */
  readonly failure: UpstreamFailure;
  /** False when nothing reached the upstream, so nothing can have been generated. */
  readonly requestSent: boolean;
  /** True when a stream had begun with a status of success; left out: none had. */
  readonly hasStreamed?: boolean;
  /** True when the answer was complete, so its counts are final; left out: it was not. */
  readonly isWhole?: boolean;
  /** The host's words when it refused the request with a 400; left out: it did not. */
  readonly refusal?: unknown;
  /** What had arrived by then. */
  readonly progress: Pick<StreamProgress, 'usage' | 'output' | 'searches' | 'isComplete'>;
  /**
   * Ends what has already been sent of the answer; null: nothing was sent, so another call may
   * replace this one.
   */
  readonly begun: Pick<StreamPipe<never>, 'fail'> | null;
};

type FailedOptions = { readonly requestSent?: boolean; readonly billed?: BilledAnswer | null };

/**
 * Returns the failure of a call whose answer could not be read. `billed`: the answer that arrived
 * nevertheless.
 */
export function failedCall(
  failure: UpstreamFailure,
  { requestSent = true, billed = null }: FailedOptions = {},
): CallFailed {
  const usage = billed?.usage ?? null;
  const output = new OutputMeter();
  // Without usage, the output is estimated by the answer's duration instead of its bytes.
  if (billed && usage) output.addBytes(billed.writtenBytes);
  return {
    kind: 'failure',
    failure: billed ? { ...failure, isBilled: true } : failure,
    requestSent,
    isWhole: usage !== null,
    progress: { usage, output },
    begun: null,
  };
}

/** `spentMs`: the part of the answer's time that earlier calls took. */
export async function callUpstream(called: Called, spentMs = 0): Promise<CallReply> {
  const { route } = called.attempt;
  const reply = await (route.isPlayed ? play(called) : send(called, spentMs));
  if (reply.kind !== 'failure') return reply;
  const message = readErrorMessage(reply.body) ?? reply.failure.message;
  const billed =
    reply.failure.status === null
      ? upstreamFormats[route.format].readBilledAnswer(reply.body)
      : null;
  const failure = { ...reply.failure, message, ...readVendorError(reply.body) };
  const failed = failedCall(route.kind.readFailure?.(failure, reply.body) ?? failure, {
    requestSent: reply.requestSent,
    billed,
  });
  return failed.failure.status === 400 ? { ...failed, refusal: reply.body } : failed;
}

function send(called: Called, spentMs: number): Promise<UpstreamReply> {
  const { gateway, attempt, run, model, request, trace, span } = called;
  const { route, written } = attempt;
  const timeouts = timeoutsFor(route.provider.timeouts, { model, stream: request.stream });
  const { path, headers, body } = written;
  return gateway.upstreams.send({
    provider: route.provider,
    path,
    headers,
    trace: span?.trace ?? trace,
    body,
    stream: request.stream,
    timeouts: { ...timeouts, total_ms: Math.max(timeouts.total_ms - spentMs, 1) },
    signal: run.waiting,
  });
}

/** Answers from the sandbox. It has no timeouts: a test may take as long as it wants. */
function play({
  gateway,
  attempt,
  run,
  model,
  request,
  requestId,
}: Called): Promise<UpstreamReply> {
  const { route, written } = attempt;
  return playExchange({
    format: route.format,
    body: written.body,
    stream: request.stream,
    requestId: requestId.slice('req_'.length),
    model: route.upstreamModel,
    maxInputTokens: Math.min(model.maxInputTokens, route.contextTokens ?? model.contextTokens),
    maxOutputTokens: model.maxOutputTokens,
    thinking: model.supports.thinking,
    signal: run.waiting,
    clock: gateway.clock,
  });
}
