// Calls a model for a stream and passes it on. The frame that reports success waits until the charge is
// durable.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { ApiError } from '../../canonical/errors.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { StreamProgress } from '../../formats/format.ts';
import type { CancelTimer } from '../../lib/clock.ts';
import { usdFromMicros } from '../../lib/money.ts';
import { readOnMs } from '../active-runs.ts';
import { endingOf } from '../audience.ts';
import type { FailedCall } from '../calling/failed-call.ts';
import { callUpstream } from './call-upstream.ts';
import { makeFailure, refusedOne } from '../../canonical/make-failure.ts';
import { unaffordable } from '../calling/failure.ts';
import { HoldGrowth } from '../charging/hold-growth.ts';
import type { Charge } from '../charging/open-hold.ts';
import { soldBy, type Ended } from '../charging/model-bill.ts';
import type { Outcome } from '../charging/offer.ts';
import { finalUse, useSoFar, type Used } from '../charging/used.ts';
import { callModel, type CallResult } from './model-calls.ts';
import type { Called, Held } from '../stages.ts';
import { outcomeOfFailure } from './failed.ts';
import { openFrames, type OpenFrames } from './frames.ts';
import {
  answerContextOf,
  chargeHeaders,
  errorContextOf,
  responseToStore,
  streamHead,
} from './head.ts';
import { openTools } from './hosted-tools-stream.ts';
import { Output } from './output.ts';

export async function streamAnswer(held: Held): Promise<Outcome> {
  const output = new Output(held, held.asked.format);
  held.running.run.whenClosed(output.close);
  const growth = new HoldGrowth(held.running.hold, held.granted);
  const last = await callModel(held, (called, noteFirstByte) =>
    callAndRelay({ called, output, growth, noteFirstByte }),
  );
  if (last.kind === 'answered') return last.answer;
  const { called, begun } = last;
  const failed = outcomeOfFailure(last, output.firstByteMs);
  if (failed.kind === 'sold') return failed;
  const pipe = begun ?? called.asked.format.writeStream(answerContextOf(called));
  return { ...failed, fail: (error) => sendError({ called, output, pipe }, error) };
}

type Relay = OpenFrames & {
  readonly called: Called;
  readonly output: Output;
  readonly growth: HoldGrowth;
  readonly noteFirstByte: () => void;
};

/**
 * Returns a failure that the client has not seen. While nothing of the answer went out,
 * another call may replace this one.
 */
async function callAndRelay(calling: Omit<Relay, keyof OpenFrames>): Promise<CallResult<Outcome>> {
  const { called, output, growth } = calling;
  let pipe: OpenFrames['pipe'] | null = null;
  output.head = streamHead(called);
  const stopWatching = called.gateway.books.growths.watch(growth, {
    outputBytes: () => pipe?.progress.output.bytes ?? 0,
    unseen: called.call.unseen,
    onRefused: () => called.running.run.stop(),
  });
  try {
    const reply = await callUpstream(called, true);
    if (reply.kind === 'failure')
      return growth.isRefused ? { ...reply, failure: unaffordable } : reply;
    const own = called.call.attempt.tools?.own;
    const opened = own ? openTools(called, own, reply.chunks) : openFrames(called, reply.chunks);
    ({ pipe } = opened);
    return await relay({ ...calling, ...opened });
  } finally {
    stopWatching();
  }
}

async function relay(relayed: Relay): Promise<CallResult<Outcome>> {
  const { called, pipe, growth } = relayed;
  const failure = await copyFrames(relayed);
  const { status, stop, isCut = false } = pipe.progress;
  if (status === 'running' && growth.isRefused && !called.call.unseen.hasBegun)
    return brokenOff(relayed, unaffordable);
  if (status === 'running' && (growth.isRefused || isCut || isOwnEnd(relayed, failure)))
    return { kind: 'answered', ...(await endEarly(relayed)) };
  if (failure !== null) return brokenOff(relayed, failure);
  if (status !== 'finished') {
    const early = makeFailure('broken-stream', 'the stream ended early');
    return brokenOff(relayed, pipe.progress.failure ?? early);
  }
  called.caller.record.note({ withheld: stop?.withheld });
  const answer = await finish(relayed, {
    used: usedIn(called, pipe.progress),
    isLimited: stop?.brokeOff !== undefined,
  });
  return { kind: 'answered', answer, stop: stop?.reason ?? null };
}

/** A model whose last output is older than this has probably stopped writing. */
const writingMs = 2_000;

/**
 * Returns true when it is not the provider's fault that the answer is incomplete: its time ended
 * while the model was writing, or its client did not read it. Were it free, a client could get most
 * of each answer for nothing.
 */
function isOwnEnd({ called, pipe, output }: Relay, failure: UpstreamFailure | null): boolean {
  const { gateway } = called;
  const { unseen } = called.call;
  if (pipe.progress.output.bytes === 0 || gateway.runs.isEnding) return false;
  return (failure?.isOverdue && unseen.silentMs < writingMs) || output.isReadSlowly;
}

function brokenOff({ called, pipe, output }: Relay, failure: UpstreamFailure): FailedCall {
  const { kind } = called.call.attempt.route;
  const { message, vendor } = failure;
  return {
    kind: 'failure',
    // As of a whole answer. The credential was taken when the stream began.
    failure: refusedOne(kind.readFailure?.(failure, null) ?? failure),
    // A refusal, which may name reasoning to leave out. OpenRouter sends one as a stream's first event:
    // github.com/experientiallabs/experiential/pull/992 (read 2026-11-30)
    ...(failure.status === 400 && { refusal: { error: { message, ...vendor } } }),
    requestSent: true,
    hasStreamed: true,
    progress: pipe.progress,
    begun: output.hasFrames ? pipe : null,
  };
}

/**
 * Copies frames until the stream ends or the hold cannot grow. When the client has left or the
 * answer was cut, reads on for some seconds. Returns null when the stream ended properly, or because
 * of us.
 */
async function copyFrames(relayed: Relay): Promise<UpstreamFailure | null> {
  const { called, frames, pipe, growth } = relayed;
  const { gateway, running } = called;
  const { unseen } = called.call;
  const { run } = running;
  const { clock } = gateway;
  let stopReading: CancelTimer | null = null;
  try {
    for await (const text of frames) {
      if (pipe.progress.isCut && !called.granted.wanted.isInputUnknown)
        stopReading ??= clock.after(readOnMs, () => run.stop());
      const outputBytes = pipe.progress.output.bytes;
      if (text !== '' || outputBytes > 0 || pipe.progress.isOpening !== undefined) unseen.begin();
      unseen.note(pipe.progress);
      const written = passOn(text, relayed);
      if (written) await written.finally(() => unseen.noteOwnWait());
      const granted =
        pipe.progress.status === 'running' ? growth.cover(outputBytes, unseen) : undefined;
      if (granted && !(await granted.finally(() => unseen.noteOwnWait()))) break;
    }
    return null;
  } catch (error) {
    if (!(error instanceof UpstreamBroken)) throw error;
    return growth.isRefused ? null : error.failure;
  } finally {
    stopReading?.();
  }
}

function passOn(text: string, { output, pipe, noteFirstByte }: Relay): Promise<void> | void {
  if (text === '') return;
  if (!output.hasFrames) {
    // A stream that fails with its first piece has sent nothing useful: another route may still
    // serve, or the error may have a status.
    if (pipe.progress.status === 'failed') return;
    output.noteFirstByte();
    noteFirstByte();
  }
  return output.write(text);
}

/**
 * Stops the upstream when the answer may not go on, or a cut answer was read for long enough. The
 * answer so far is sold, and ends as at its length limit or stop sequence.
 */
async function endEarly({ called, pipe, output }: Relay) {
  called.running.run.stop();
  const used = useSoFar(called, pipe.progress);
  const isLimited = !pipe.progress.isCut;
  // When nothing was sent yet, a new writer begins the stream as usual.
  const ending =
    output.hasFrames || !isLimited
      ? pipe
      : called.asked.format.writeStream(answerContextOf(called));
  // The client is shown what it is charged.
  ending.progress.usage = used.usage;
  await output.write(ending.limit());
  const answer = await finish({ called, pipe: ending, output }, { used, isLimited });
  return { answer, stop: isLimited ? 'length' : (pipe.progress.stop?.reason ?? null) } as const;
}

type Finishing = Pick<Relay, 'called' | 'pipe' | 'output'>;

/** Success is reported when the charge is durable. */
async function finish(
  { called, pipe, output }: Finishing,
  { used, isLimited }: Pick<Ended, 'used' | 'isLimited'>,
): Promise<Outcome> {
  const { gateway, running } = called;
  const { client } = running;
  // A replay of the stored answer costs nothing.
  const response = running.storage.isUsed
    ? responseToStore(called, {
        recorded: await output.recordedWith(pipe.close(0)),
        contentType: output.head.contentType,
      })
    : null;
  const { firstByteMs } = output;
  const ended = { used, isLimited, ending: endingOf(running), firstByteMs };
  return {
    ...soldBy(called, ended),
    response,
    deliver(charge) {
      if (client.isGone()) return;
      const frames = costComment(called, charge) + pipe.close(usdFromMicros(charge.costMicros));
      output.end(frames, chargeHeaders(gateway.headers, charge));
    },
    // The charge was given up, because it was not durable in time: the answer is free.
    fail(error) {
      if (!client.isGone()) sendError({ called, pipe, output }, error);
    },
  };
}

function usedIn(called: Called, progress: StreamProgress): Used {
  const { usage, searches, output, isCutShort } = progress;
  if (!isCutShort) return finalUse(called, { usage, searches, outputBytes: output.bytes });
  const used = useSoFar(called, progress);
  // The client is shown what it is charged.
  progress.usage = used.usage;
  return used;
}

/** Sent only on request, because some readers of event streams fail on comments. JSON has none. */
function costComment(
  { wantsComments, asked: { format } }: Called,
  { costMicros, balanceCents }: Charge,
): string {
  if (!wantsComments || format.streamType !== undefined) return '';
  return `: cost_micros=${costMicros} balance_cents=${balanceCents}\n\n`;
}

type ErrorTarget = Pick<Relay, 'called' | 'output'> & {
  readonly pipe: Pick<OpenFrames['pipe'], 'fail'>;
};

/**
 * Throws the error to be sent as an answer of its own, or writes it to a stream: one that has begun,
 * if only with a keep-alive, or one that the client wants it in.
 */
function sendError({ called, output, pipe }: ErrorTarget, error: ApiError): void {
  const { format, request } = called.asked;
  if (!output.hasBegun && !format.failsInStream?.(error, request)) throw error;
  output.fail(error, pipe.fail(error, errorContextOf(called)));
}
