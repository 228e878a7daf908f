// Reads the server-sent events of a task, such as speech, each of them JSON.
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { readErrorMessage } from '../../formats/error-message.ts';
import { isObject, parseJson, type JsonObject } from '../../lib/json.ts';
import { SseOverflow, SseParser, type SseEvent } from '../../lib/sse.ts';
import { makeFailure } from '../calling/failure.ts';

/** Throws UpstreamBroken, also for an event that is an error. */
export async function* readTaskEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<JsonObject> {
  try {
    for await (const { data } of parseSse(chunks)) {
      if (data === '[DONE]') continue;
      const parsed = parseJson(Buffer.from(data));
      if (!parsed.ok || !isObject(parsed.value))
        throw broken('unreadable', 'an event of the stream cannot be read');
      if (isObject(parsed.value.error))
        throw broken('broken-stream', readErrorMessage(parsed.value) ?? 'the stream failed');
      yield parsed.value;
    }
  } catch (error) {
    throw error instanceof SseOverflow ? broken('unreadable', error.message) : error;
  }
}

function broken(kind: 'unreadable' | 'broken-stream', message: string): UpstreamBroken {
  return new UpstreamBroken(makeFailure(kind, message));
}

async function* parseSse(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SseEvent> {
  const parser = new SseParser();
  for await (const chunk of chunks) yield* parser.push(chunk);
  yield* parser.end();
}
