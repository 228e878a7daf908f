// The sandbox's host for Chat Completions, and for requests in Cohere's dialect of it. It also continues
// prompts, all in one: what it answers, in Chat's shape, is the answer to each.
import type { Message, OutputFormat } from '../../canonical/request.ts';
import { chat as format } from '../../formats/chat/index.ts';
import type { AnswerContext } from '../../formats/format.ts';
import { isObject, type JsonObject, objectOf, objectsOf, textOf } from '../../lib/json.ts';
import { splitIntoDeltas } from '../sandbox/deltas.ts';
import type { SandboxRequest } from '../sandbox/request.ts';
import { changeFrames, writeEvents } from './frames.ts';
import type { Host } from './host.ts';
import {
  booleanOf,
  choicesIn,
  jsonSchema,
  numberOf,
  readMessage,
  readParts,
  readStop,
  readTool,
  readTools,
} from './reading.ts';

export const chat: Host = {
  readRequest,
  writeAnswer: (answer, { context, hasUsage }) => {
    const { usage, ...body } = format.writeAnswer(answer, context);
    return changeBody({ ...body, ...(hasUsage && { usage }) }, context);
  },
  writeStream: ({ context, hasUsage }) => {
    const body = { ...context.request.body, stream_options: { include_usage: hasUsage } };
    const asked = { ...context, request: { ...context.request, body } };
    const write = writeEvents(format.writeStream(asked));
    if (context.request.choices === 1 && !wantsLogprobs(context.request.body)) return write;
    return (event) => changeFrames(write(event), (chunk) => changeBody(chunk, context));
  },
};

function readRequest(body: JsonObject): SandboxRequest {
  const olderTools = objectsOf(body.functions).map((made) => ({ function: made }));
  return {
    system: [],
    messages: objectsOf(body.messages ?? messageOf(body.prompt)).flatMap(readTurn),
    ...readTools(
      [...objectsOf(body.tools), ...olderTools].flatMap(readTool),
      body.tool_choice ?? body.function_call,
    ),
    parallelToolCalls: booleanOf(body.parallel_tool_calls),
    maxOutputTokens: outputTokensMaxOf(body),
    stopSequences: readStop(body.stop ?? body.stop_sequences),
    asksToThink: asksToThink(body),
    outputFormat: readOutputFormat(objectOf(body.response_format)),
  };
}

/**
 * The most tokens of all choices, and of those with log probabilities, which take thirty times as much
 * memory. Otherwise one short request could fill it.
 */
const copiedTokensMax = 131_072;
const loggedTokensMax = 4_096;

function outputTokensMaxOf(body: JsonObject): number | null {
  const asked = numberOf(body.max_completion_tokens) ?? numberOf(body.max_tokens);
  const choices = choicesIn(body);
  if (choices === 1 && !wantsLogprobs(body)) return asked;
  const tokensMax = wantsLogprobs(body) ? loggedTokensMax : copiedTokensMax;
  return Math.min(asked ?? Infinity, Math.max(Math.floor(tokensMax / choices), 1));
}

function messageOf(prompt: unknown): readonly JsonObject[] {
  const prompts: readonly unknown[] = Array.isArray(prompt) ? prompt : [prompt];
  return [{ role: 'user', content: prompts.map(String).join('\n') }];
}

/** A number in a request to continue a prompt. */
function wantsLogprobs({ logprobs }: JsonObject): boolean {
  return logprobs === true || typeof logprobs === 'number';
}

function readTurn(message: JsonObject): Message[] {
  const { role, content, reasoning_content: thinking, refusal, function_call: older } = message;
  switch (role) {
    case 'assistant':
      return readMessage(role, [
        ...readParts([{ thinking }]),
        ...readParts(content),
        ...readParts([{ refusal }]),
        ...readParts(message.tool_calls),
        ...objectsOf([older]).flatMap((call) => readParts([{ id: call.name, function: call }])),
      ]);
    case 'tool':
    case 'function': {
      const id = message.tool_call_id ?? message.name;
      return readMessage('user', readParts([{ type: 'tool_result', tool_use_id: id, content }]));
    }
    default:
      return readMessage(role, readParts(content));
  }
}

/** Reads OpenAI's field, then OpenRouter's and DeepSeek's. */
function asksToThink({ reasoning_effort: effort, reasoning, thinking }: JsonObject): boolean {
  const wanted = textOf(effort) || textOf(objectOf(reasoning).effort);
  return wanted === '' ? objectOf(thinking).type === 'enabled' : wanted !== 'none';
}

function readOutputFormat({ type, json_schema: made }: JsonObject): OutputFormat {
  if (type === 'json_object') return isObject(made) ? jsonSchema(made) : { type: 'json' };
  const { schema, name } = objectOf(made);
  return type === 'json_schema' ? jsonSchema(schema, name) : { type: 'text' };
}

/** Changes an answer or a chunk: one choice for each requested one, with log probabilities. */
function changeBody(body: JsonObject, context: AnswerContext): JsonObject {
  const choices = objectsOf(body.choices).flatMap((choice) =>
    Array.from({ length: context.request.choices }, (_choice, index) => ({
      ...choice,
      index,
      ...writeLogprobs(choice, context),
    })),
  );
  return {
    ...body,
    choices,
    ...(isObject(body.usage) && { usage: usageOfAll(body.usage, context.request.choices) }),
  };
}

/** Every choice is the same, and all are billed. */
function usageOfAll(usage: JsonObject, choices: number): JsonObject {
  const { reasoning_tokens: reasoning } = objectOf(usage.completion_tokens_details);
  const output = (numberOf(usage.completion_tokens) ?? 0) * choices;
  return {
    ...usage,
    completion_tokens: output,
    total_tokens: (numberOf(usage.prompt_tokens) ?? 0) + output,
    completion_tokens_details: { reasoning_tokens: (numberOf(reasoning) ?? 0) * choices },
  };
}

/** The sandbox is certain of every word. */
function writeLogprobs(
  { message, delta }: JsonObject,
  { request: { body } }: AnswerContext,
): JsonObject {
  const { content } = objectOf(message ?? delta);
  if (!wantsLogprobs(body) || typeof content !== 'string' || content === '') return {};
  const words = splitIntoDeltas(content).map((token) => ({
    token,
    logprob: 0,
    bytes: [...Buffer.from(token, 'utf8')],
  }));
  const wantsTop = (numberOf(body.top_logprobs) ?? numberOf(body.logprobs) ?? 0) > 0;
  return {
    logprobs: {
      content: words.map((word) => ({ ...word, top_logprobs: wantsTop ? [word] : [] })),
      refusal: null,
    },
  };
}
