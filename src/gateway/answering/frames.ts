// Turns an upstream's stream into the client's frames: on the straight path, or translated.
import type { StreamEvent } from '../../canonical/event.ts';
import { UnreadableAnswer, type StreamPipe } from '../../formats/format.ts';
import { upstreamFormats } from '../../formats/registry.ts';
import { translateStream } from '../../formats/translate.ts';
import type { Clock } from '../../lib/clock.ts';
import { SseOverflow, SseParser, type SseEvent } from '../../lib/sse.ts';
import type { Called } from '../stages.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { makeFailure } from '../../canonical/make-failure.ts';
import { answerContextOf } from './head.ts';

/**
 * The client's side of a stream. `frames` yields the frames for each piece of the upstream's
 * stream, perhaps '', and throws UpstreamBroken.
 */
export type OpenFrames = {
  readonly frames: AsyncIterable<string>;
  readonly pipe: Omit<StreamPipe<never>, 'push' | 'end'>;
};

/** `chunks`: the upstream's stream. `writer`: of a translated stream. */
export function openFrames(
  called: Called,
  chunks: AsyncIterable<Uint8Array>,
  writer?: StreamPipe<StreamEvent>,
): OpenFrames {
  const { format } = called.asked;
  const { attempt } = called.call;
  const { route, written } = attempt;
  const context = answerContextOf(called);
  const pipe = written.isTranslated
    ? translateStream(
        upstreamFormats[route.format].readStream(),
        writer ?? format.writeStream(context),
        written,
      )
    : format.relay.relayStream(context);
  return { frames: chunkFrames(chunks, pipe, called.gateway.clock), pipe };
}

/**
 * Stops an upstream that never ends. No real answer is this long: half a million tokens, with an
 * event for each, are about 200 MB.
 */
const streamBytesMax = 512 * 1024 * 1024;

async function* chunkFrames(
  chunks: AsyncIterable<Uint8Array>,
  pipe: StreamPipe<SseEvent>,
  clock: Clock,
): AsyncGenerator<string> {
  const parser = new SseParser();
  const iterator = chunks[Symbol.asyncIterator]();
  let bytes = 0;
  let lastEventMs = clock.elapsedMs();
  try {
    for (;;) {
      const next = await (pipe.progress.isComplete
        ? nextWithin(lastEventMs + graceMs - clock.elapsedMs(), iterator, clock)
        : iterator.next());
      bytes += next.value?.length ?? 0;
      if (bytes > streamBytesMax)
        throw new UnreadableAnswer(`the stream is over ${streamBytesMax} bytes`);
      const events = next.done ? parser.end() : parser.push(next.value);
      if (events.length > 0) lastEventMs = clock.elapsedMs();
      yield pushAll(events, pipe) + (next.done ? pipe.end() : '');
      if (next.done) return;
      if (pipe.progress.status !== 'running') break;
    }
  } catch (error) {
    throw asBroken(error);
  } finally {
    void readToEnd(iterator, clock);
  }
}

/** A complete answer is over when no event has followed for this long. Comments are no events. */
const graceMs = 5_000;

/** Reads on behind a complete answer, which nothing can spoil: silence and failures are its end. */
async function nextWithin(
  waitMs: number,
  iterator: AsyncIterator<Uint8Array, undefined>,
  clock: Clock,
): Promise<IteratorResult<Uint8Array, undefined>> {
  const cancel = clock.after(Math.max(waitMs, 0), () => void iterator.return?.());
  try {
    return await iterator.next();
  } catch (error) {
    if (error instanceof UpstreamBroken) return { done: true, value: undefined };
    throw error;
  } finally {
    cancel();
  }
}

function pushAll(events: readonly SseEvent[], pipe: StreamPipe<SseEvent>): string {
  if (events.length === 1) return pipe.push(events[0]!);
  let frames = '';
  for (const event of events) frames += pipe.push(event);
  return frames;
}

/**
 * Reads the rest after the last event. An upstream usually closes the answer at once, and then the
 * connection can be reused.
 */
async function readToEnd(iterator: AsyncIterator<Uint8Array>, clock: Clock): Promise<void> {
  const cancel = clock.after(1_000, () => void iterator.return?.());
  try {
    while (!(await iterator.next()).done);
  } catch {
    // The answer was complete, whatever ends the connection now.
  } finally {
    cancel();
  }
}

function asBroken(error: unknown): unknown {
  const isUpstreams = error instanceof SseOverflow || error instanceof UnreadableAnswer;
  if (!isUpstreams) return error;
  return new UpstreamBroken({
    ...makeFailure('unreadable', error.message),
    isBilled: true,
    isCausedByAccount: true,
  });
}
