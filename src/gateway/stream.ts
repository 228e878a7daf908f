// A request that is answered as a stream. The frame that tells of success is kept back until the charge is durable.
import type { UpstreamFailure } from '../canonical/event.ts';
import type { ApiError } from '../canonical/errors.ts';
import type { StreamProgress } from '../formats/format.ts';
import { callUpstream, noteFailure, type CallFailed } from './call.ts';
import type { ClientStream } from './client.ts';
import { endFailed } from './failed.ts';
import { openFrames, type OpenFrames } from './frames.ts';
import { answerContextOf, headHeaders, stopWhenGone, wasStoppedByClient, type Running } from './running.ts';
import { settleHold, type Charge } from './settle.ts';
import { UpstreamBroken } from './upstream.ts';

export async function streamAnswer(running: Running): Promise<void> {
  stopWhenGone(running);
  const { reply, ignored } = await callUpstream(running);
  if (reply.kind === 'failure') {
    const error = await endWithoutSuccess(running, reply, { earlyUsage: null, outputBytes: 0 });
    if (error) throw error;
    return;
  }
  const output = new Output(running, ignored);
  const { frames, pipe } = openFrames(running, reply, answerContextOf(running));
  const failure = await copyFrames(running, frames, output);
  if (failure === null && pipe.progress.status === 'finished') await finish(running, pipe, output);
  else await fail(running, pipe, output, failure ?? failureOf(pipe.progress));
}

/** Opens the client's stream with the first frames, so that what fails before them is still an error with its own status. */
class Output {
  readonly #running: Running;
  readonly #ignored: readonly string[];
  #stream: ClientStream | null = null;

  constructor(running: Running, ignored: readonly string[]) {
    this.#running = running;
    this.#ignored = ignored;
  }

  get hasBegun(): boolean {
    return this.#stream !== null;
  }

  open(): ClientStream {
    if (this.#stream) return this.#stream;
    const { gateway, client, hold } = this.#running;
    const { headers } = gateway;
    this.#stream = client.startStream(
      { ...headHeaders(this.#running, this.#ignored), [headers.reserved]: String(hold.amountMicros) },
      [headers.cost, headers.balance],
    );
    return this.#stream;
  }
}

/** Copies until the stream has ended, and on for some seconds when the client has left. Returns how the upstream failed, if it did. */
async function copyFrames(running: Running, frames: AsyncIterable<string>, output: Output): Promise<UpstreamFailure | null> {
  try {
    for await (const text of frames) {
      if (text === '' || running.client.isGone()) continue;
      const written = output.open().write(text);
      if (written) await written;
    }
    return null;
  } catch (error) {
    if (!(error instanceof UpstreamBroken)) throw error;
    const { failure } = error;
    if (!running.controller.signal.aborted) noteFailure(running, failure);
    return failure;
  }
}

async function finish(running: Running, pipe: OpenFrames['pipe'], output: Output): Promise<void> {
  const { client, gateway } = running;
  const charge = await settleHold(running, { ...pipe.progress, ending: client.isGone() ? 'cut-off' : 'complete' });
  if (client.isGone()) return;
  output.open().end(pipe.close(costComment(charge)), {
    [gateway.headers.cost]: String(charge.costMicros),
    [gateway.headers.balance]: String(charge.balanceCents),
  });
}

function costComment({ costMicros, balanceCents }: Charge): string {
  return `: cost_micros=${costMicros} balance_cents=${balanceCents}`;
}

async function fail(running: Running, pipe: OpenFrames['pipe'], output: Output, failure: UpstreamFailure): Promise<void> {
  const error = await endWithoutSuccess(running, { failure, requestSent: true }, pipe.progress);
  if (!error) return;
  if (!output.hasBegun) throw error;
  running.trace.errorCode = error.code;
  output.open().end(pipe.fail(error, running.requestId), {});
}

/** A stream that we stopped because its client left is paid for as far as it came; a failure is free. Returns the error to tell. */
async function endWithoutSuccess(
  running: Running,
  { failure, requestSent }: Pick<CallFailed, 'failure' | 'requestSent'>,
  { earlyUsage, outputBytes }: Pick<StreamProgress, 'earlyUsage' | 'outputBytes'>,
): Promise<ApiError | null> {
  if (wasStoppedByClient(running) && requestSent) {
    await settleHold(running, { usage: null, earlyUsage, outputBytes, ending: 'cut-off' });
    return null;
  }
  return endFailed(running, failure, outputBytes);
}

function failureOf(progress: StreamProgress): UpstreamFailure {
  return progress.failure ?? { kind: 'broken-stream', status: null, message: 'the stream ended early', retryAfterSeconds: null };
}
