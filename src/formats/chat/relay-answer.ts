// The straight path down, for a whole answer: everything of the upstream's stays but the model's name.
import { countUsage } from '../../canonical/usage.ts';
import { isObject } from '../../lib/json.ts';
import { utf8Length } from '../../lib/tokens.ts';
import type { AnswerContext, JsonObject, RelayedAnswer } from '../format.ts';
import { readText, readThinkingInContent } from './content.ts';
import { checkAnswer, type Choice } from './read-answer.ts';
import { readReasoningText } from './reasoning.ts';
import { readStop } from './stop.ts';
import { readUsage, writeUsage } from './usage.ts';

/** Throws UnreadableAnswer. */
export function relayAnswer(body: unknown, context: AnswerContext): RelayedAnswer {
  const { answer, choices } = checkAnswer(body);
  const outputBytes = choices.reduce((sum, choice) => sum + countOutputBytes(choice.message), 0);
  const usage = readUsage(answer.usage);
  return {
    body: {
      ...answer,
      model: context.model,
      usage: usage ? answer.usage : writeUsage(countUsage({ ...context, outputBytes, early: null })),
    },
    usage,
    stop: readChoiceStop(choices[0]!),
    outputBytes,
  };
}

/** UTF-8 bytes of what a message or delta adds to an answer. */
export function countOutputBytes(message: JsonObject): number {
  const { content, refusal, tool_calls: toolCalls, function_call: legacyCall } = message;
  let bytes = byteLength(content);
  if (Array.isArray(content)) bytes += utf8Length(readText(content)) + utf8Length(readThinkingInContent(content));
  bytes += byteLength(refusal) + countReasoningBytes(message);
  if (Array.isArray(toolCalls)) for (const call of toolCalls) bytes += countCallBytes(call);
  return isObject(legacyCall) ? bytes + byteLength(legacyCall.arguments) : bytes;
}

/** Details repeat the plain text where there is one. */
function countReasoningBytes(message: JsonObject): number {
  const text = readReasoningText(message);
  if (text !== '' || !Array.isArray(message.reasoning_details)) return utf8Length(text);
  return message.reasoning_details.reduce<number>(
    (sum, detail) => (isObject(detail) ? sum + byteLength(detail.text) + byteLength(detail.summary) : sum),
    0,
  );
}

function countCallBytes(call: unknown): number {
  if (!isObject(call)) return 0;
  if (isObject(call.custom)) return byteLength(call.custom.input);
  if (!isObject(call.function)) return 0;
  const { arguments: text } = call.function;
  return isObject(text) ? utf8Length(JSON.stringify(text)) : byteLength(text);
}

function byteLength(text: unknown): number {
  return typeof text === 'string' ? utf8Length(text) : 0;
}

function readChoiceStop({ message, finish_reason: finishReason }: Choice) {
  return readStop(finishReason, {
    hasToolCalls: Array.isArray(message.tool_calls) && message.tool_calls.length > 0,
    hasRefusal: typeof message.refusal === 'string' && message.refusal !== '',
  });
}
