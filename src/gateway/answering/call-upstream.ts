// Makes one call of the chosen upstream, over HTTP or played by the sandbox. Failures have one
// shape.
import type { FailedReply } from '../../canonical/make-failure.ts';
import { readVendorError } from '../../formats/error-message.ts';
import { upstreamFormats } from '../../formats/registry.ts';
import { playExchange } from '../../providers/sandbox/play-exchange.ts';
import { wordedFailure } from '../../providers/worded-failure.ts';
import { withFetchedImages } from './fetched-images.ts';
import { failedCall, type FailedCall } from '../calling/failed-call.ts';
import type { Called } from '../stages.ts';
import { readPassed } from '../calling/read-reply.ts';
import { timeoutsFor } from '../calling/timeouts.ts';
import type { AnswerTo, UpstreamReply } from '../../providers/upstream-call.ts';
import type { ChosenRoute } from '../routing/route.ts';

type Answered = Exclude<UpstreamReply, FailedReply>;

/** `spentMs`: the part of the answer's time that earlier calls took. */
export async function callUpstream<Stream extends boolean>(
  called: Called,
  stream: Stream,
  spentMs = 0,
): Promise<AnswerTo<Stream> | FailedCall> {
  const { route } = called.call.attempt;
  const call = called.asked.passed?.answer ? read : send;
  const body = await bodyOf(called);
  const reply =
    typeof body === 'string'
      ? await (route.isSandbox ? play : call)(called, { body, stream, spentMs })
      : body;
  if (reply.kind !== 'failure') return shown(reply, route) as AnswerTo<Stream>;
  const billed =
    reply.failure.status === null
      ? upstreamFormats[route.format].readBilledAnswer(shownBody(reply.body, route))
      : null;
  const failure = { ...reply.failure, ...readVendorError(reply.body) };
  const worded = wordedFailure({ ...reply, failure }, route.kind);
  const failed = failedCall(worded, billed, reply.requestSent);
  return failed.failure.status === 400 ? { ...failed, refusal: reply.body } : failed;
}

/** The sandbox plays every host in server-sent events, and adds nothing. */
function shown(reply: Answered, route: ChosenRoute): Answered {
  const { kind, isSandbox } = route;
  if (reply.kind !== 'stream') return { ...reply, body: shownBody(reply.body, route) };
  const chunks = isSandbox ? undefined : kind.toServerSentEvents?.(reply.chunks);
  return { ...reply, chunks: chunks ?? reply.chunks };
}

function shownBody(body: unknown, { kind, isSandbox }: ChosenRoute): unknown {
  return (isSandbox ? undefined : kind.shownAnswer?.(body)) ?? body;
}

function bodyOf({
  gateway,
  caller,
  running: { run },
  call,
}: Called): string | Promise<string | FailedReply> {
  const { route, written } = call.attempt;
  if (!route.provider.isInside) return written.body;
  const memory = gateway.images.enter(caller.key.accountId);
  run.whenClosed(memory.leave);
  return withFetchedImages(gateway.images, {
    text: written.body,
    route,
    signal: run.waiting,
    memory,
    fetched: run.fetched,
  });
}

type Sending = { readonly body: string; readonly stream: boolean; readonly spentMs: number };

function send(called: Called, { body, stream, spentMs }: Sending): Promise<UpstreamReply> {
  const { gateway, asked, running, call } = called;
  const { model } = asked;
  const { attempt, trace } = call;
  const { route, written } = attempt;
  const timeouts = timeoutsFor(route.provider.timeouts, { model, stream });
  const { path, origin, headers } = written;
  return gateway.hosts.upstreams.send({
    provider: route.provider,
    path,
    ...(origin !== undefined && { origin }),
    headers,
    trace,
    body,
    stream,
    timeouts: { ...timeouts, total_ms: Math.max(timeouts.total_ms - spentMs, 1) },
    signal: running.run.waiting,
  });
}

async function read({ gateway, asked }: Called): Promise<UpstreamReply<false>> {
  return readPassed(asked.passed!.answer!, gateway.clock.nowMs());
}

/** Answers from the sandbox. It has no timeouts: a test may take as long as it wants. */
function play(
  { gateway, caller, asked, running, call }: Called,
  { body, stream }: Sending,
): Promise<UpstreamReply> {
  const { model } = asked;
  const { route } = call.attempt;
  return playExchange({
    format: route.format,
    body,
    stream,
    requestId: caller.requestId.slice('req_'.length),
    model: route.upstreamModel,
    maxInputTokens: Math.min(model.maxInputTokens, route.contextTokens ?? model.contextTokens),
    maxOutputTokens: model.maxOutputTokens,
    thinking: model.supports.thinking,
    signal: running.run.waiting,
    clock: gateway.clock,
  });
}
