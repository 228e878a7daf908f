// The client's frames out of an upstream's reply: along the straight path, in translation, or from the sandbox's events.
import type { StreamEvent } from '../canonical/event.ts';
import { UnreadableAnswer, type AnswerContext, type StreamPipe } from '../formats/format.ts';
import { upstreamFormats } from '../formats/registry.ts';
import { translateStream } from '../formats/translate.ts';
import type { Clock } from '../lib/clock.ts';
import { SseOverflow, SseParser, type SseEvent } from '../lib/sse.ts';
import type { CallReply } from './call.ts';
import { loweredToolsOf, type Running } from './running.ts';
import { UpstreamBroken } from './upstream.ts';
import { makeFailure } from './upstream-failure.ts';

/** `frames` yields what one piece of the upstream's stream gives, perhaps ''; it throws UpstreamBroken. */
export type OpenFrames = { readonly frames: AsyncIterable<string>; readonly pipe: Omit<StreamPipe<never>, 'push'> };

export function openFrames(running: Running, reply: CallReply, context: AnswerContext): OpenFrames {
  const { format, attempt } = running;
  const { route } = attempt;
  if (reply.kind === 'events') {
    const pipe = format.writeStream(context);
    return { frames: eventFrames(reply.events, pipe), pipe };
  }
  if (reply.kind !== 'stream' || route.transport !== 'http') throw new Error(`no stream in a reply of kind ${reply.kind}`);
  const pipe =
    route.format === format.name
      ? format.relay.relayStream(context)
      : translateStream(upstreamFormats[route.format].readStream(), format.writeStream(context), loweredToolsOf(running));
  return { frames: chunkFrames(reply.chunks, pipe, running.gateway.clock), pipe };
}

async function* eventFrames(events: AsyncIterable<StreamEvent>, pipe: StreamPipe<StreamEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    yield pipe.push(event);
    if (pipe.progress.status !== 'running') return;
  }
  yield pipe.end();
}

/** No answer is so long: half a million tokens, each in an event of its own, are about 200 MB. An upstream that never ends is stopped. */
const streamBytesMax = 512 * 1024 * 1024;

async function* chunkFrames(chunks: AsyncIterable<Uint8Array>, pipe: StreamPipe<SseEvent>, clock: Clock): AsyncGenerator<string> {
  const parser = new SseParser();
  const iterator = chunks[Symbol.asyncIterator]();
  let bytes = 0;
  try {
    for (;;) {
      const next = await iterator.next();
      bytes += next.value?.length ?? 0;
      if (bytes > streamBytesMax) throw new UnreadableAnswer(`the stream is over ${streamBytesMax} bytes`);
      yield pushAll(next.done ? parser.end() : parser.push(next.value), pipe) + (next.done ? pipe.end() : '');
      if (next.done) return;
      if (pipe.progress.status !== 'running') break;
    }
  } catch (error) {
    throw asBroken(error);
  } finally {
    void readToEnd(iterator, clock);
  }
}

function pushAll(events: readonly SseEvent[], pipe: StreamPipe<SseEvent>): string {
  if (events.length === 1) return pipe.push(events[0]!);
  let frames = '';
  for (const event of events) frames += pipe.push(event);
  return frames;
}

/** After its last event an upstream usually closes the answer at once; reading that keeps the connection for the next request. */
async function readToEnd(iterator: AsyncIterator<Uint8Array>, clock: Clock): Promise<void> {
  const cancel = clock.after(1_000, () => void iterator.return?.());
  try {
    while (!(await iterator.next()).done);
  } catch {
    // Whatever ends the connection now, the answer was complete.
  } finally {
    cancel();
  }
}

/** A RangeError is V8's stack at its end: JSON that is nested thousands of levels deep can be parsed, but not written again. */
function asBroken(error: unknown): unknown {
  const isUpstreams = error instanceof SseOverflow || error instanceof UnreadableAnswer || error instanceof RangeError;
  if (!isUpstreams) return error;
  return new UpstreamBroken({ ...makeFailure('unreadable', error.message), isBilled: true, isProvoked: true });
}
