// Reads server-sent events that are JSON, of other answers than a model's.
import { makeFailure } from '../../canonical/make-failure.ts';
import { unreadable, UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { readErrorMessage } from '../../formats/error-message.ts';
import { brokenStream } from '../../formats/stream-progress.ts';
import { isObject, parseJson, type JsonObject } from '../../lib/json.ts';
import { SseOverflow, SseParser } from '../../lib/sse.ts';

/**
 * Throws UpstreamBroken, also for one that is an error. `charactersMax`: of one; left out: the
 * usual bound.
 */
export async function* readJsonEvents(
  chunks: AsyncIterable<Uint8Array>,
  charactersMax?: number,
): AsyncGenerator<JsonObject> {
  try {
    const parser = new SseParser(charactersMax);
    for await (const chunk of chunks)
      for (const event of parser.push(chunk)) yield* readEvent(event);
    for (const event of parser.end()) yield* readEvent(event);
  } catch (error) {
    throw error instanceof SseOverflow ? unreadable(error.message) : error;
  }
}

function* readEvent({ data }: { readonly data: string }): Generator<JsonObject> {
  if (data === '[DONE]') return;
  const parsed = parseJson(Buffer.from(data));
  if (!parsed.ok || !isObject(parsed.value))
    throw unreadable('an event of the stream cannot be read');
  const { error } = parsed.value;
  if (!isObject(error)) return yield parsed.value;
  const message = readErrorMessage(error) ?? 'the stream failed';
  const isRefused = error.type === refusedImage || error.code === 'moderation_blocked';
  throw new UpstreamBroken(isRefused ? makeFailure(400, message) : brokenStream(message));
}

/** The `type` of OpenAI's error when it refuses a prompt or an image. Its `code` may not say so. */
const refusedImage = 'image_generation_user_error';
