// POST /v1/completions, OpenAI's older format. A host that has the endpoint continues the prompt. At any
// other, the prompt becomes the user's message of a Chat request, and Chat's answer is written as a
// completion. Both ways share Chat's code: a host's completion is read as Chat's, text by text.
import { Type } from 'typebox';
import { invalidRequest, refuseProblem, type ApiError } from '../../canonical/errors.ts';
import { isObject, type JsonObject, objectOf, objectsOf } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import { formatSse, type SseEvent } from '../../lib/sse.ts';
import type { CompletionWishes } from '../../terms/host-wishes.ts';
import { parseEventData } from '../event-data.ts';
import type {
  AnswerContext,
  ClientFormat,
  ClientRequest,
  StreamPipe,
  UpstreamRequest,
  UpstreamTarget,
} from '../format.ts';
import { mapFrames } from '../map-frames.ts';
import { readText } from './content.ts';
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
        push: (event) => reader.push(eventAsChat(event)),
        end: () => reader.end(),
        get usageSoFar() {
          return reader.usageSoFar;
        },
      };
    },
  },
  parseRequest(given, limits) {
    refuseProblem(findProblem(given));
    const asked = given as JsonObject;
    const prompts = readPrompts(asked.prompt);
    const { body, ignored } = toChat(asked, prompts);
    const request = chat.parseRequest(body, limits);
    return { ...request, ...countAnswers(request, asked, prompts), ignored, given: asked };
  },
  readRequest(request, unknown) {
    const problem = problemInChat(request.given!);
    if (problem) throw problem;
    return chat.readRequest(request, unknown);
  },
  writeAnswer: (answer, context) =>
    toCompletion(chat.writeAnswer(answer, context), newWriting(context)),
  writeStream: (context) => toCompletions(chat.writeStream(context), newWriting(context)),
  relay: {
    ...chat.relay,
    writeRequest(request, target) {
      const { completions: way } = target;
      const problem = problemInChat(request.given!);
      if (way && (problem || !way.onlyIfNeeded)) return writeNative(request, target, way);
      if (problem) throw problem;
      return chat.relay.writeRequest(request, target);
    },
    relayAnswer(body, context) {
      const relayed = chat.relay.relayAnswer(asChat(body, 'message'), context);
      const writing = { ...newWriting(context), isNative: isCompletion(body) };
      return { ...relayed, body: toCompletion(relayed.body, writing) };
    },
    relayStream(context) {
      const relay = chat.relay.relayStream(context);
      const writing = newWriting(context);
      const push = (event: SseEvent) => {
        const read = eventAsChat(event);
        writing.isNative ||= read !== event;
        return relay.push(read);
      };
      return toCompletions({ ...relay, push }, writing);
    },
  },
};

/** A text, or tokens. */
type Prompt = string | readonly number[];

/** Chat checks the other fields. */
const findProblem = compileSchema(Type.Object(ownFields));

/** Throws ApiError `invalid_request`. */
function readPrompts(prompt: unknown): readonly Prompt[] {
  const isTokens = (value: unknown): value is number[] =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((token) => Number.isSafeInteger(token) && token >= 0);
  const isPrompt = (value: unknown): value is Prompt =>
    typeof value === 'string' || isTokens(value);
  if (isPrompt(prompt)) return [prompt];
  if (Array.isArray(prompt) && prompt.length > 0 && prompt.every(isPrompt)) return prompt;
  throw invalidRequest(
    'prompt',
    'prompt must be a text or a list of tokens, or a list of such prompts: `"Once"`, `[9527]`',
  );
}

function toChat(
  given: JsonObject,
  prompts: readonly Prompt[],
): { body: JsonObject; ignored: readonly string[] } {
  const { max_tokens: limit, logprobs } = given;
  const others = Object.entries(given).filter(
    ([name]) => name !== 'prompt' && !Object.hasOwn(ownFields, name),
  );
  // Chat's own fields, such as tools, have no place in the answer.
  const isForeign = ([name]: [string, unknown]) =>
    Object.hasOwn(verdictTable.request, name) && !Object.hasOwn(sharedFields, name);
  const body = {
    ...Object.fromEntries(others.filter((field) => !isForeign(field))),
    // Tokens are counted, not read; too many prompts are refused.
    messages: prompts.slice(0, answersMax + 1).map((prompt) => ({
      role: 'user',
      content: typeof prompt === 'string' ? prompt : '',
    })),
    ...(typeof limit === 'number' && { max_completion_tokens: limit }),
    ...(typeof logprobs === 'number' && { logprobs: true }),
    ...(typeof logprobs === 'number' && logprobs > 0 && { top_logprobs: logprobs }),
  };
  return { body, ignored: others.filter(isForeign).map(([name]) => name) };
}

/** Chat's own limit of `n`. */
const answersMax = 128;
/** The most characters of prompts that answers repeat. An answer is in memory as a whole. */
const echoedMax = 1_000_000;

/** Counts what is held: every answer may use the whole limit, shown or not. Throws ApiError. */
function countAnswers(
  { choices: n, stream }: ClientRequest,
  { best_of: bestOf, suffix, ...given }: JsonObject,
  prompts: readonly Prompt[],
) {
  const each = Math.max(n, typeof bestOf === 'number' ? bestOf : 1);
  const choices = prompts.length * each;
  if (choices > answersMax)
    throw invalidRequest(
      'prompt',
      `prompt: ${prompts.length} prompts with ${each} answers each are over ${answersMax} answers. Send fewer prompts, or a lower \`n\` and \`best_of\`.`,
    );
  if (stream && each > n)
    throw invalidRequest('best_of', 'best_of must be at most n in a stream: leave out `stream`');
  if (stream && isEchoedByHost(given))
    throw invalidRequest(
      'echo',
      'echo must be false in a stream with logprobs or tokens: leave out `stream` or `echo`',
    );
  const echoed = prompts.reduce((sum, prompt) => sum + prompt.length * n, 0);
  if (given.echo === true && n > 1 && echoed > echoedMax)
    throw invalidRequest(
      'echo',
      `echo must be false for ${n} answers that repeat ${echoed} characters or tokens in sum, over ${echoedMax}. Leave it out, or send a lower \`n\`.`,
    );
  const listed = prompts.reduce(
    (sum, prompt) => sum + (typeof prompt === 'string' ? 0 : prompt.length),
    0,
  );
  return {
    choices,
    prompts: prompts.length,
    addedTokens: listed,
    ...(typeof suffix === 'string' && { addedText: suffix }),
  };
}

/** We add a text ourselves, so that nobody counts it as output. */
function isEchoedByHost({ echo, logprobs, prompt }: JsonObject): boolean {
  if (echo !== true) return false;
  return typeof logprobs === 'number' || readPrompts(prompt).some((one) => typeof one !== 'string');
}

/** Writes the request for a host that continues prompts. */
function writeNative(
  request: ClientRequest,
  target: UpstreamTarget,
  { path = '/completions', isAtOrigin, tokensMax = Infinity }: CompletionWishes,
): UpstreamRequest {
  const given = request.given!;
  const written = chat.relay.writeRequest(request, target);
  const shared = Object.entries(written.body).filter(([name]) => !ofChat.has(name));
  const own = ['logprobs', 'suffix', 'best_of'].filter((name) => (given[name] ?? null) !== null);
  const [first, ...others] = readPrompts(given.prompt);
  return {
    ...written,
    at: { path, ...(isAtOrigin && { isAtOrigin }) },
    body: {
      ...Object.fromEntries(shared),
      // Several hosts take no list.
      prompt: others.length === 0 ? first : given.prompt,
      max_tokens: Math.min(target.maxOutputTokens, tokensMax),
      ...Object.fromEntries(own.map((name) => [name, given[name]])),
      ...(isEchoedByHost(given) && { echo: true }),
    },
  };
}

const ofChat = new Set([
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'logprobs',
  'top_logprobs',
]);

/** Returns the refusal of what a conversation cannot express; null: it can be asked in Chat. */
function problemInChat(given: JsonObject): ApiError | null {
  const { prompt, logprobs, echo, suffix, best_of: bestOf, n } = given;
  if (typeof suffix === 'string' && suffix !== '')
    return invalidRequest(
      'suffix',
      'suffix must be left out: this model is asked in Chat, which fills no gaps. Say in the prompt what comes after.',
    );
  if (echo === true && typeof logprobs === 'number')
    return invalidRequest(
      'echo',
      'echo must be false with logprobs: this model is asked in Chat, where the tokens of the prompt have none. Leave out one of them.',
    );
  if (typeof bestOf === 'number' && bestOf > (typeof n === 'number' ? n : 1))
    return invalidRequest(
      'best_of',
      'best_of must be at most n: this model is asked in Chat, which chooses none. Raise `n`, and choose one.',
    );
  const prompts = readPrompts(prompt);
  if (prompts.some((one) => typeof one !== 'string'))
    return invalidRequest(
      'prompt',
      'prompt must be a text: this model is asked in Chat, which takes no tokens. Decode them first.',
    );
  if (prompts.length > 1)
    return invalidRequest(
      'prompt',
      `prompt must be one text; got ${prompts.length}: this model is asked in Chat. Send each in a request of its own; \`n\` asks for several answers to one.`,
    );
  return null;
}

type Writing = {
  readonly context: AnswerContext;
  /** The end of what has been written of each choice, by its index. */
  readonly written: Map<number, { offset: number }>;
  /** The host's answer is a completion. */
  isNative: boolean;
};

function newWriting(context: AnswerContext): Writing {
  return { context, written: new Map(), isNative: false };
}

function toCompletion(answer: JsonObject, writing: Writing): JsonObject {
  return {
    ...answer,
    ...headOf(writing.context),
    choices: objectsOf(answer.choices).map((choice) =>
      toTextChoice(choice, choice.message, writing),
    ),
  };
}

function headOf({ requestId }: AnswerContext): JsonObject {
  return { id: `cmpl-${requestId}`, object: 'text_completion' };
}

/** Writes the chunks of a stream of Chat as those of a completion. */
function toCompletions<Input>(pipe: StreamPipe<Input>, writing: Writing): StreamPipe<Input> {
  return mapFrames(pipe, (frames) =>
    frames
      .split('\n\n')
      .map((frame) => (frame === '' ? '' : writeFrame(frame, writing)))
      .join(''),
  );
}

const dataStart = 'data: ';

/** Errors and `[DONE]` are the same in both. */
function writeFrame(frame: string, writing: Writing): string {
  const same = `${frame}\n\n`;
  if (!frame.startsWith(`${dataStart}{`)) return same;
  const chunk = JSON.parse(frame.slice(dataStart.length)) as JsonObject;
  if (!Array.isArray(chunk.choices)) return same;
  const given = objectsOf(chunk.choices);
  const choices = given
    .map((choice) => toTextChoice(choice, choice.delta, writing))
    .filter(
      ({ text, finish_reason: reason }) => writing.isNative || text !== '' || reason !== null,
    );
  // A role or reasoning is nothing here.
  if (given.length > 0 && choices.length === 0) return '';
  return formatSse(null, JSON.stringify({ ...chunk, ...headOf(writing.context), choices }));
}

function toTextChoice(choice: JsonObject, said: unknown, writing: Writing): JsonObject {
  const { index: place, logprobs, finish_reason: reason = null, ...others } = choice;
  const { context, written, isNative } = writing;
  const index = typeof place === 'number' ? place : 0;
  const prompt = promptOf(context.request, index);
  const before = written.get(index);
  const state = before ?? { offset: prompt.length };
  written.set(index, state);
  const { given = {} } = context.request;
  const echoed = !before && given.echo === true && !isEchoedByHost(given) ? prompt : '';
  const text = echoed + textOf(said);
  if (isNative) {
    const { message: _, delta: __, ...shown } = others;
    return { ...shown, text, index, logprobs: logprobs ?? null, finish_reason: reason };
  }
  return {
    text,
    index,
    logprobs: isObject(logprobs) ? writeProbabilities(logprobs.content, state) : null,
    finish_reason: reason,
  };
}

/** As it was asked, for the places of tokens in the text. The answers of each prompt come together. */
function promptOf({ body }: ClientRequest, index: number): string {
  const { messages, n } = body;
  const { content } =
    objectsOf(messages)[Math.floor(index / (typeof n === 'number' ? n : 1))] ?? {};
  return typeof content === 'string' ? content : '';
}

function textOf(said: unknown): string {
  const { content, refusal } = objectOf(said);
  return readText(content) || readText(refusal);
}

function writeProbabilities(content: unknown, state: { offset: number }): JsonObject {
  const tokens = objectsOf(content).filter(({ token }) => typeof token === 'string');
  return {
    tokens: tokens.map(({ token }) => token),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ top_logprobs: top }) =>
      Object.fromEntries(objectsOf(top).map(({ token, logprob }) => [String(token), logprob])),
    ),
    text_offset: tokens.map(({ token }) => {
      const { offset } = state;
      state.offset += String(token).length;
      return offset;
    }),
  };
}

function isCompletion(body: unknown): boolean {
  return isObject(body) && objectsOf(body.choices).some(({ text }) => typeof text === 'string');
}

/** Writes an answer or a chunk of a completion as Chat's; any other stays the same object. */
function asChat(body: unknown, part: 'message' | 'delta'): unknown {
  if (!isObject(body) || !isCompletion(body)) return body;
  const choices = objectsOf(body.choices).map(({ text, ...choice }) => ({
    ...choice,
    [part]: { role: 'assistant', content: text },
  }));
  return { ...body, choices };
}

function eventAsChat(event: SseEvent): SseEvent {
  // Chat's chunks have no such field.
  if (!event.data.includes('"text"')) return event;
  const chunk = parseEventData(event.data);
  const read = asChat(chunk, 'delta');
  return read === chunk ? event : { ...event, data: JSON.stringify(read) };
}
