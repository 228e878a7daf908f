// Cohere's own Chat, which the gateway speaks as a dialect of OpenAI's. Its compatible address cannot
// force calls, limit thinking or cite, and does not say what is billed.
// https://docs.cohere.com/reference/chat (npm `cohere-ai` 8.1, read 2026-11-29)
import { budgetOfEffort } from '../../canonical/effort.ts';
import { editItems } from '../../formats/edit-json.ts';
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';
import { bearer } from '../../lib/key-headers.ts';
import { readAccountFailure } from '../account-failure.ts';
import type { HttpProviderKind } from '../provider.ts';
import { asCompletion, toServerSentEvents } from './answer.ts';

export const cohere: HttpProviderKind = {
  kind: 'cohere',
  path: () => '/v2/chat',
  headers: bearer,
  readFailure: readAccountFailure,
  adaptBody,
  shownAnswer: asCompletion,
  toServerSentEvents,
};

/** Fields and words that a host's wishes cannot say (config/known-providers.ts). */
function adaptBody(body: JsonObject): JsonObject {
  const { messages, tools, tool_choice: choice, response_format: format, ...rest } = body;
  const { reasoning_effort: effort, ...others } = rest;
  const hasTools = Array.isArray(tools) && tools.length > 0;
  // Cohere has no word for the model's own choice, and takes none where there are no tools.
  const isSaid =
    typeof choice === 'string' && choice !== 'auto' && (hasTools || !/none/i.test(choice));
  return {
    ...others,
    messages: editItems(messages, (message) => writeMessage(message)),
    ...(hasTools && { tools: offered(tools, choice) }),
    ...(isObject(choice) && { tool_choice: 'REQUIRED' }),
    ...(isSaid && { tool_choice: choice }),
    ...(isObject(format) && { response_format: writeFormat(format) }),
    ...(typeof effort === 'string' && { thinking: writeThinking(effort, body.max_tokens) }),
  };
}

/** It has no word for one tool: then only that one is offered. */
function offered(tools: unknown, choice: unknown): unknown {
  if (!isObject(choice) || !isObject(choice.function) || !Array.isArray(tools)) return tools;
  const { name } = choice.function;
  return tools.filter(
    (tool) => isObject(tool) && isObject(tool.function) && tool.function.name === name,
  );
}

function writeFormat(format: JsonObject): JsonObject {
  const { schema } = objectOf(format.json_schema);
  return format.type === 'json_schema' ? { type: 'json_object', json_schema: schema } : format;
}

/** High efforts have no budget. */
function writeThinking(effort: string, outputTokensMax: unknown): JsonObject {
  if (effort === 'none') return { type: 'disabled' };
  if (effort !== 'minimal' && effort !== 'low' && effort !== 'medium') return { type: 'enabled' };
  const budget = budgetOfEffort[effort];
  const most = typeof outputTokensMax === 'number' ? outputTokensMax : budget;
  return { type: 'enabled', token_budget: Math.min(budget, most) };
}

function writeMessage({
  content,
  reasoning_content: thoughts,
  ...message
}: JsonObject): JsonObject {
  const thinking =
    typeof thoughts === 'string' && thoughts !== ''
      ? [{ type: 'thinking', thinking: thoughts }]
      : [];
  if (thinking.length === 0) return { ...message, ...(content !== null && { content }) };
  const words =
    typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
  return {
    ...message,
    content: [...thinking, ...(Array.isArray(content) ? (content as unknown[]) : words)],
  };
}
