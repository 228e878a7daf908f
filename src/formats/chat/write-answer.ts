// Writes an answer as a chat completion.
import type { Answer } from '../../canonical/answer.ts';
import type { AnswerPart } from '../../canonical/own-tools.ts';
import type { ToolCallPart } from '../../canonical/request.ts';
import { countOutputBytes } from '../../canonical/output-bytes.ts';
import { countUsage, type Usage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AnswerContext } from '../format.ts';
import { writeAnnotations } from './citations.ts';
import { findCallSignatures, writeCallSignature } from './call-signatures.ts';
import { writeImages } from './images.ts';
import { writeReasoning } from './reasoning.ts';
import { shownTier } from '../service-tiers.ts';
import { writeFinishReason } from './stop.ts';
import { placeThinking } from './thinking-places.ts';
import { writeUsage } from './usage.ts';

/** Searches that the gateway ran are shown by their citations only: Chat has no field for them. */
export function writeAnswer(
  { content, stop, usage }: Answer<AnswerPart>,
  context: AnswerContext,
): JsonObject {
  const hasRefusal = content.some((part) => part.type === 'refusal');
  const annotations = writeAnnotations(content);
  const counted = countUsage(usage, { ...context, outputBytes: countOutputBytes(content) });
  return {
    ...completionHead(context),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          ...writeAssistantContent(content),
          ...(annotations.length > 0 && { annotations }),
        },
        logprobs: null,
        finish_reason: writeFinishReason(stop, { hasRefusal }),
      },
    ],
    ...writeTier(counted, context),
    usage: writeUsage(counted),
  };
}

/** Left out where nobody asked for a tier and the provider names none. */
export function writeTier(counted: Usage, { request }: AnswerContext): JsonObject {
  const isKnown = counted.tier !== undefined || request.tier !== undefined;
  return isKnown ? { service_tier: shownTier(counted, request) } : {};
}

/** Returns the fields of an answer, or of a chunk, that stand before its choices. */
export function completionHead(
  { requestId, createdAtSeconds, model }: AnswerContext,
  object: 'chat.completion' | 'chat.completion.chunk' = 'chat.completion',
): JsonObject {
  return { id: `chatcmpl-${requestId}`, object, created: createdAtSeconds, model };
}

/**
 * Returns the content fields of an assistant message. `content` is null only beside tool calls.
 * Several texts are joined, as in a stream.
 */
export function writeAssistantContent(
  content: readonly AnswerPart[],
  fitCallId = (id: string) => id,
): JsonObject {
  const text = joinTexts(content, 'text');
  const refusal = joinTexts(content, 'refusal');
  const thinking = content.filter((part) => part.type === 'thinking');
  const signatures = findCallSignatures(thinking);
  const toolCalls = content
    .filter((part) => part.type === 'tool-call')
    .map((call) => ({
      ...writeToolCall(call),
      id: fitCallId(call.id),
      ...writeCallSignature(signatures.get(call.id)),
    }));
  return {
    content: text === '' && toolCalls.length > 0 ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...writeReasoning(placeThinking(content)),
    ...(toolCalls.length === 0 ? null : { tool_calls: toolCalls }),
    ...writeImages(content.flatMap((part) => (part.type === 'image' ? part.source : []))),
  };
}

function joinTexts(content: readonly AnswerPart[], type: 'text' | 'refusal'): string {
  return content.map((part) => (part.type === type ? part.text : '')).join('');
}

function writeToolCall({ id, name, arguments: text, kind }: ToolCallPart): JsonObject {
  if (kind === 'custom') return { id, type: 'custom', custom: { name, input: text } };
  return { id, type: 'function', function: { name, arguments: text } };
}
