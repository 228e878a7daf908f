// POST /v1/completions, OpenAI's older format. Hardly a model still continues a text by itself, so the
// prompt becomes the user's message of a Chat request, and Chat's answer is written as a completion.
import { Type } from 'typebox';
import { invalidRequest, refuseProblem } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import { formatSse } from '../../lib/sse.ts';
import type { AnswerContext, ClientFormat, ClientRequest, StreamPipe } from '../format.ts';
import { ownFields, sharedFields } from './completions-schema.ts';
import { verdictTable } from './field-verdicts.ts';
import { chat } from './index.ts';

/** Chat, for clients that send a prompt. */
export const completions: ClientFormat = {
  ...chat,
  endpoint: 'completions',
  emulates: { prompt: true },
  fieldNames: {
    messages: 'prompt',
    max_completion_tokens: 'max_tokens',
    top_logprobs: 'logprobs',
  },
  outputLimitField: () => 'max_tokens',
  answerReader: {
    readAnswer: (body) => chat.readAnswer(asChat(body, 'message')),
    readStream() {
      const reader = chat.readStream();
      return {
        push: (event) => reader.push({ ...event, data: chunkAsChat(event.data) }),
        end: () => reader.end(),
        usageSoFar: () => reader.usageSoFar(),
      };
    },
  },
  parseRequest(given, limits) {
    refuseProblem(findProblem(given));
    const { body, ignored } = toChat(given as JsonObject);
    return { ...chat.parseRequest(body, limits), ignored, given: given as JsonObject };
  },
  writeAnswer: (answer, context) => toCompletion(chat.writeAnswer(answer, context), context),
  writeStream: (context) => toCompletions(chat.writeStream(context), context),
  relay: {
    ...chat.relay,
    relayAnswer(body, context) {
      const relayed = chat.relay.relayAnswer(body, context);
      return { ...relayed, body: toCompletion(relayed.body, context) };
    },
    relayStream: (context) => toCompletions(chat.relay.relayStream(context), context),
  },
};

/** Chat checks the other fields. */
const findProblem = compileSchema(Type.Object(ownFields));

/** Throws ApiError `invalid_request` for what a conversation cannot express. */
function toChat(given: JsonObject): { body: JsonObject; ignored: readonly string[] } {
  const { prompt, max_tokens: limit, logprobs, echo, suffix, best_of: bestOf, n } = given;
  if (typeof suffix === 'string' && suffix !== '')
    throw invalidRequest(
      'suffix',
      'suffix must be left out: models are asked in Chat, which fills no gaps. Say in the prompt what comes after.',
    );
  if (echo === true && typeof logprobs === 'number')
    throw invalidRequest(
      'echo',
      'echo must be false with logprobs: the tokens of the prompt have none here. Leave out one of them.',
    );
  if (typeof bestOf === 'number' && bestOf > (typeof n === 'number' ? n : 1))
    throw invalidRequest(
      'best_of',
      'best_of must be at most n: answers that are not returned cannot be charged. Raise `n`, and choose one.',
    );
  const others = Object.entries(given).filter(
    ([name]) => name !== 'prompt' && !Object.hasOwn(ownFields, name),
  );
  // Chat's own fields, such as tools, have no place in the answer.
  const isForeign = ([name]: [string, unknown]) =>
    Object.hasOwn(verdictTable.request, name) && !Object.hasOwn(sharedFields, name);
  const body = {
    ...Object.fromEntries(others.filter((field) => !isForeign(field))),
    messages: [{ role: 'user', content: readPrompt(prompt) }],
    ...(typeof limit === 'number' && { max_completion_tokens: limit }),
    ...(typeof logprobs === 'number' && { logprobs: true }),
    ...(typeof logprobs === 'number' && logprobs > 0 && { top_logprobs: logprobs }),
  };
  return { body, ignored: others.filter(isForeign).map(([name]) => name) };
}

function readPrompt(prompt: unknown): string {
  if (typeof prompt === 'string') return prompt;
  const prompts: readonly unknown[] = Array.isArray(prompt) ? prompt : [];
  const [first] = prompts;
  if (prompts.length === 1 && typeof first === 'string') return first;
  if (prompts.length > 1 && prompts.every((one) => typeof one === 'string'))
    throw invalidRequest(
      'prompt',
      `prompt must be one text; got ${prompts.length}. Send each in a request of its own; \`n\` asks for several answers to one.`,
    );
  if (typeof first === 'number' || Array.isArray(first))
    throw invalidRequest(
      'prompt',
      'prompt must be a text: models are asked in Chat, which takes no tokens. Decode them first.',
    );
  throw invalidRequest('prompt', 'prompt must be a text');
}

/** What has been written of each choice, by its index. */
type Written = Map<number, { offset: number }>;

function toCompletion(answer: JsonObject, context: AnswerContext): JsonObject {
  const written: Written = new Map();
  return {
    ...answer,
    ...headOf(context),
    choices: listOf(answer.choices).map((choice) =>
      toTextChoice(choice, choice.message, { context, written }),
    ),
  };
}

function headOf({ requestId }: AnswerContext): JsonObject {
  return { id: `cmpl-${requestId}`, object: 'text_completion' };
}

/** Writes the chunks of a stream of Chat as those of a completion. */
function toCompletions<Input>(pipe: StreamPipe<Input>, context: AnswerContext): StreamPipe<Input> {
  const written: Written = new Map();
  const write = (frames: string) =>
    frames
      .split('\n\n')
      .map((frame) => (frame === '' ? '' : writeFrame(frame, { context, written })))
      .join('');
  return {
    push: (input) => write(pipe.push(input)),
    end: () => write(pipe.end()),
    limit: () => write(pipe.limit()),
    close: (costUsd) => write(pipe.close(costUsd)),
    fail: (error, asked) => write(pipe.fail(error, asked)),
    progress: pipe.progress,
  };
}

type Writing = { readonly context: AnswerContext; readonly written: Written };

const dataStart = 'data: ';

/** Errors and `[DONE]` are the same in both. */
function writeFrame(frame: string, writing: Writing): string {
  const same = `${frame}\n\n`;
  if (!frame.startsWith(`${dataStart}{`)) return same;
  const chunk = JSON.parse(frame.slice(dataStart.length)) as JsonObject;
  if (!Array.isArray(chunk.choices)) return same;
  const given = listOf(chunk.choices);
  const choices = given
    .map((choice) => toTextChoice(choice, choice.delta, writing))
    .filter(({ text, finish_reason: reason }) => text !== '' || reason !== null);
  // A role or reasoning is nothing here.
  if (given.length > 0 && choices.length === 0) return '';
  return formatSse(null, JSON.stringify({ ...chunk, ...headOf(writing.context), choices }));
}

function toTextChoice(
  { index: place, logprobs, finish_reason: reason = null }: JsonObject,
  said: unknown,
  { context: { request }, written }: Writing,
): JsonObject {
  const index = typeof place === 'number' ? place : 0;
  const prompt = promptOf(request);
  const before = written.get(index);
  const state = before ?? { offset: prompt.length };
  written.set(index, state);
  const echoed = !before && request.given?.echo === true ? prompt : '';
  return {
    text: echoed + textOf(said),
    index,
    logprobs: isObject(logprobs) ? writeProbabilities(logprobs.content, state) : null,
    finish_reason: reason,
  };
}

/** As it was asked, for the places of tokens in the text. */
function promptOf({ body }: ClientRequest): string {
  const [message] = listOf(body['messages']);
  return typeof message?.content === 'string' ? message.content : '';
}

/** Mistral sends blocks. */
function textOf(said: unknown): string {
  const { content, refusal } = isObject(said) ? said : {};
  const blocks = listOf(content).map(({ text }) => (typeof text === 'string' ? text : ''));
  const text = typeof content === 'string' ? content : blocks.join('');
  return text === '' && typeof refusal === 'string' ? refusal : text;
}

function writeProbabilities(content: unknown, state: { offset: number }): JsonObject {
  const tokens = listOf(content).filter(({ token }) => typeof token === 'string');
  return {
    tokens: tokens.map(({ token }) => token),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ top_logprobs: top }) =>
      Object.fromEntries(listOf(top).map(({ token, logprob }) => [String(token), logprob])),
    ),
    text_offset: tokens.map(({ token }) => {
      const { offset } = state;
      state.offset += String(token).length;
      return offset;
    }),
  };
}

/** Writes an answer or a chunk of a completion as Chat's. */
function asChat(body: unknown, part: 'message' | 'delta'): unknown {
  if (!isObject(body) || !Array.isArray(body.choices)) return body;
  const choices = listOf(body.choices).map(({ text, ...choice }) => ({
    ...choice,
    [part]: { role: 'assistant', content: text },
  }));
  return { ...body, choices };
}

function chunkAsChat(data: string): string {
  return data.startsWith('{') ? JSON.stringify(asChat(JSON.parse(data), 'delta')) : data;
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
