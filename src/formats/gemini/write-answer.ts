// Writes a whole answer for a client.
import { eventsOfPart, type Answer } from '../../canonical/answer.ts';
import { countOutputBytes } from '../../canonical/output-bytes.ts';
import type { AnswerPart } from '../../canonical/own-tools.ts';
import { countUsage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AnswerContext } from '../format.ts';
import { writeStop } from './stop.ts';
import { writeUsage } from './usage.ts';
import { PartWriter } from './write-parts.ts';

/** An answer without usage gets our own count, which is also what is charged. */
export function writeAnswer(
  { content, stop, usage }: Answer<AnswerPart>,
  context: AnswerContext,
): JsonObject {
  const writer = new PartWriter(context.request);
  const parts = content
    .flatMap((part) => [...eventsOfPart(part)])
    .flatMap((event) => writer.write(event));
  parts.push(...writer.end());
  const counted = countUsage(usage, { ...context, outputBytes: countOutputBytes(content) });
  return {
    ...writeChunk(parts, context, {
      finishReason: writeStop(stop, writer.hasRefusal),
      ...writer.sources.write(),
    }),
    usageMetadata: writeUsage(counted),
  };
}

/**
 * For a chunk that says nothing: in their chats, Google's SDKs forget a turn of which a chunk has no part
 * (npm `@google/genai` 3.3, PyPI `google-genai` 3.6).
 */
export const emptyPart: JsonObject = { text: '' };

/** `ending`: further fields of the candidate. */
export function writeChunk(
  parts: readonly JsonObject[],
  { model, requestId }: AnswerContext,
  ending: JsonObject = {},
): JsonObject {
  return {
    candidates: [{ content: { parts, role: 'model' }, ...ending, index: 0 }],
    modelVersion: model,
    responseId: requestId,
  };
}
