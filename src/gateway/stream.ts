// A request that is answered as a stream. The frame that tells of success is kept back until the charge is durable.
import type { UpstreamFailure } from '../canonical/event.ts';
import { ApiError } from '../canonical/errors.ts';
import type { StreamProgress } from '../formats/format.ts';
import { tryRoutes, type Tried } from './attempts.ts';
import { callUpstream, type CallFailed } from './call.ts';
import { endFailed, takenOver, toldOfDatabase } from './failed.ts';
import { openFrames, type OpenFrames } from './frames.ts';
import { elapsedMs } from './gateway.ts';
import { HoldGrowth } from './hold-growth.ts';
import { Output } from './output.ts';
import { answerContextOf, endingOf, responseToStore, stopWhenForsaken, wasForsaken, type Running } from './running.ts';
import { settleHold, type Charge } from './settle.ts';
import { UpstreamBroken } from './upstream.ts';
import { finalUse, useSoFar, type Used } from './used.ts';

export async function streamAnswer(running: Running): Promise<void> {
  stopWhenForsaken(running);
  const [output, growth] = [new Output(running), new HoldGrowth(running)];
  try {
    const tried = await tryRoutes(running, async (noteAnswer) => {
      const reply = await callUpstream(running);
      if (reply.kind === 'failure') return reply;
      const noteFirst = () => {
        running.trace.firstByteMs = elapsedMs(running.trace, running.gateway.clock);
        noteAnswer();
      };
      return relay(running, openFrames(running, reply, answerContextOf(running)), { output, growth, noteAnswer: noteFirst });
    });
    if (tried.kind === 'failure') await fail(running, tried, output);
  } finally {
    output.close();
  }
}

type Copying = { readonly output: Output; readonly growth: HoldGrowth; readonly noteAnswer: () => void };

/** A failure that it returns has yet to be told: where nothing of the answer has gone out, another call may take its place. */
async function relay(running: Running, opened: OpenFrames, copying: Copying): Promise<Tried<void>> {
  const { pipe } = opened;
  const { output, growth } = copying;
  const stopWatching = running.gateway.growths.watch(growth, {
    outputBytes: () => pipe.progress.output.bytes,
    onRefused: () => running.controller.abort(),
  });
  const failure = await copyFrames(running, opened, copying).finally(stopWatching);
  if (growth.isRefused && pipe.progress.status === 'running') await endAtLimit(running, pipe, output);
  else if (failure === null && pipe.progress.status === 'finished') await finish(running, pipe, output);
  else return brokenOff(pipe, failure ?? failureOf(pipe.progress), { hasBegun: output.hasFrames });
  return { kind: 'answered', answer: undefined };
}

function brokenOff(pipe: OpenFrames['pipe'], failure: UpstreamFailure, { hasBegun }: { readonly hasBegun: boolean }): CallFailed {
  return {
    kind: 'failure',
    failure,
    requestSent: true,
    hasStreamed: true,
    progress: pipe.progress,
    begun: hasBegun ? pipe : null,
  };
}

/** Nothing more can be held: the upstream is stopped, and the answer so far is charged and ends as at its length limit. */
async function endAtLimit(running: Running, pipe: OpenFrames['pipe'], output: Output): Promise<void> {
  running.controller.abort();
  const used = useSoFar(running, pipe.progress);
  // A stream of which nothing has come yet is still begun properly.
  const ending = output.hasFrames ? pipe : running.format.writeStream(answerContextOf(running));
  // The client is shown what it is charged.
  ending.progress.usage = used.usage;
  await output.write(ending.limit());
  await finish(running, ending, output, { used, isLimited: true });
}

/**
 * Copies until the stream has ended, or nothing more can be held for it, and on for some seconds when the client has left. Returns how the
 * upstream failed, if it did.
 */
async function copyFrames(
  running: Running,
  { frames, pipe }: OpenFrames,
  { output, growth, noteAnswer }: Copying,
): Promise<UpstreamFailure | null> {
  const { unseen } = running;
  try {
    for await (const text of frames) {
      const outputBytes = pipe.progress.output.bytes;
      unseen.note(pipe.progress);
      const written = passOn(text, { output, pipe, noteAnswer });
      if (written) await written.finally(() => unseen.noteOwnWait());
      const granted = pipe.progress.status === 'running' ? growth.cover(outputBytes) : undefined;
      if (granted && !(await granted.finally(() => unseen.noteOwnWait()))) return null;
    }
    return null;
  } catch (error) {
    if (!(error instanceof UpstreamBroken)) throw error;
    return growth.isRefused ? null : error.failure;
  }
}

type Passing = Pick<Copying, 'output' | 'noteAnswer'> & Pick<OpenFrames, 'pipe'>;

function passOn(text: string, { output, pipe, noteAnswer }: Passing): Promise<void> | void {
  if (text === '') return;
  if (!output.hasFrames) {
    // A stream that fails with its first piece has said nothing worth a frame: another route may still serve, or the error have a status.
    if (pipe.progress.status === 'failed') return;
    noteAnswer();
  }
  return output.write(text);
}

async function finish(
  running: Running,
  pipe: OpenFrames['pipe'],
  output: Output,
  { used = usedIn(running, pipe.progress), isLimited = false }: { readonly used?: Used; readonly isLimited?: boolean } = {},
): Promise<void> {
  const { client, gateway } = running;
  // The last frames can be asked for once only, and are stored with the charge that the comment among them tells of.
  const place = `: ${running.requestId}`;
  const lastFrames = pipe.close(place);
  const response = responseToStore(running, {
    body: output.recordedWith(lastFrames.replace(`${place}\n\n`, '')),
    contentType: 'text/event-stream; charset=utf-8',
  });
  const charge = await settleHold(running, { used, isLimited, ending: endingOf(running) }, response).catch(unbooked);
  if (client.isGone()) return;
  if (!charge || charge instanceof ApiError) return tell(running, pipe, output, charge ?? takenOver());
  output.end(lastFrames.replace(place, costComment(charge)), {
    [gateway.headers.cost]: String(charge.costMicros),
    [gateway.headers.balance]: String(charge.balanceCents),
  });
}

/** The charge could not be made durable in time, and will not be made any more: the stream ends with an error, and is free. */
function unbooked(error: unknown): ApiError {
  const told = toldOfDatabase(error);
  if (told instanceof ApiError) return told;
  throw error;
}

function usedIn(running: Running, { usage, searches, output }: StreamProgress): Used {
  return finalUse(running, { usage, searches, outputBytes: output.bytes });
}

function costComment({ costMicros, balanceCents }: Charge): string {
  return `: cost_micros=${costMicros} balance_cents=${balanceCents}`;
}

async function fail(running: Running, failed: CallFailed, output: Output): Promise<void> {
  const error = await endWithoutSuccess(running, failed);
  if (error) tell(running, failed.begun ?? running.format.writeStream(answerContextOf(running)), output, error);
}

/** In an answer of its own, or in the stream where that has begun or a keep-alive has opened it. */
function tell(running: Running, pipe: Pick<OpenFrames['pipe'], 'fail'>, output: Output, error: ApiError): void {
  if (!output.hasBegun) throw error;
  running.trace.errorCode = error.code;
  output.end(pipe.fail(error, running.requestId), {});
}

/** A stream that we stopped because its client left is paid for as far as it came; a failure is free. Returns the error to tell. */
async function endWithoutSuccess(running: Running, failed: CallFailed): Promise<ApiError | null> {
  if (wasForsaken(running, failed)) {
    await settleHold(running, { used: useSoFar(running, failed.progress), ending: 'cut-off' });
    return null;
  }
  return endFailed(running, failed);
}

function failureOf(progress: StreamProgress): UpstreamFailure {
  return progress.failure ?? { kind: 'broken-stream', status: null, message: 'the stream ended early', retryAfterSeconds: null };
}
