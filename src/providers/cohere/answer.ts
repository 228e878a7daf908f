// Turns Cohere's answers and events into OpenAI's. The events of an answer are written as deltas; a whole
// answer is what its own deltas add up to.
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { readTokenCount } from '../../canonical/usage.ts';
import { parseEventData } from '../../formats/event-data.ts';
import { readErrorMessage } from '../../formats/error-message.ts';
import { brokenStream } from '../../formats/stream-progress.ts';
import { isObject, type JsonObject, objectOf, objectsOf } from '../../lib/json.ts';
import { formatSse, SseOverflow, SseParser } from '../../lib/sse.ts';

export async function* toServerSentEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, undefined> {
  const parser = new SseParser();
  const deltas = new DeltaWriter();
  const write = (events: ReturnType<SseParser['push']>) =>
    Buffer.from(events.map(({ data }) => frameOf(data, deltas)).join(''));
  for await (const chunk of chunks) {
    const frames = write(eventsIn(parser, chunk));
    if (frames.length > 0) yield frames;
  }
  const rest = write(parser.end());
  if (rest.length > 0) yield rest;
}

function eventsIn(parser: SseParser, chunk: Uint8Array) {
  try {
    return parser.push(chunk);
  } catch (error) {
    if (!(error instanceof SseOverflow)) throw error;
    throw new UpstreamBroken(brokenStream(error.message), { cause: error });
  }
}

/** Older answers end without `[DONE]`, so it follows the last event, and theirs is dropped. */
function frameOf(data: string, deltas: DeltaWriter): string {
  if (data === '[DONE]') return '';
  const event = parseEventData(data);
  if (!isObject(event)) return formatSse(null, data);
  const { type, delta } = event;
  if (type === undefined) return formatChunk({ error: { message: readErrorMessage(event) } });
  const end = type === 'message-end' && isObject(delta) ? delta : null;
  const written = deltas.write(event);
  if (written === null && end === null) return '';
  const reason = end && finishReasonOf(end.finish_reason);
  const choice = { index: 0, delta: written ?? {}, finish_reason: reason };
  const chunk = { object: 'chat.completion.chunk', choices: [choice], ...(end && usageOf(end)) };
  return formatChunk(chunk) + (end ? formatSse(null, '[DONE]') : '');
}

function formatChunk(chunk: JsonObject): string {
  return formatSse(null, JSON.stringify(chunk));
}

/** Returns what is no answer, such as an error, unchanged. */
export function asCompletion(body: unknown): unknown {
  if (!isObject(body) || !isObject(body.message)) return body;
  const { tool_plan: plan, content, tool_calls: calls, citations } = body.message;
  const deltas = new DeltaWriter();
  const each = (type: string, name: string, parts: unknown) =>
    objectsOf(parts).map((part, index) => ({ type, index, delta: { message: { [name]: part } } }));
  const written = [
    { type: 'tool-plan-delta', delta: { message: { tool_plan: plan } } },
    ...each('content-start', 'content', content),
    ...each('tool-call-start', 'tool_calls', calls),
    ...each('citation-start', 'citations', citations),
  ]
    .map((event) => deltas.write(event))
    .filter((delta) => delta !== null);
  const joined = (name: string) => written.map(({ [name]: text = '' }) => text).join('');
  const listed = (name: string) => written.flatMap(({ [name]: list = [] }) => list);
  const [text, thoughts] = [joined('content'), joined('reasoning_content')];
  const [toolCalls, annotations] = [listed('tool_calls'), listed('annotations')];
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    refusal: null,
    ...(thoughts !== '' && { reasoning_content: thoughts }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    ...(annotations.length > 0 && { annotations }),
  };
  const reason = finishReasonOf(body.finish_reason);
  return { choices: [{ index: 0, message, finish_reason: reason }], ...usageOf(body) };
}

class DeltaWriter {
  /** By the index of its event: which call it is. */
  readonly #calls = new Map<unknown, number>();
  #callsCount = 0;
  #text = '';
  /** By the index of its event: where a block of the text begins, and where its last citation does. */
  readonly #blocks = new Map<unknown, { readonly begin: Place; reached: Place }>();
  #lastBlock: unknown;

  /** Returns null for an event without words, a call or a page. */
  write({ type, index, delta }: JsonObject): JsonObject | null {
    const { message } = objectOf(delta);
    const { content, tool_plan: plan, tool_calls: call, citations } = objectOf(message);
    switch (type) {
      case 'message-start':
        return { role: 'assistant', content: '' };
      case 'content-start':
        this.#beginBlock(index);
        return this.#words(content);
      case 'content-delta':
        return this.#words(content);
      case 'tool-plan-delta':
        return thoughtOf(plan);
      case 'tool-call-start':
        this.#calls.set(index, this.#callsCount++);
        return this.#call(index, call);
      case 'tool-call-delta':
        return this.#call(index, call);
      case 'citation-start':
        return this.#pages(citations);
      default:
        return null;
    }
  }

  #words(content: unknown): JsonObject | null {
    const { text, thinking } = objectOf(content);
    if (typeof text !== 'string' || text === '') return thoughtOf(thinking);
    this.#text += text;
    return { content: text };
  }

  #call(index: unknown, call: unknown): JsonObject | null {
    const place = this.#calls.get(index) ?? this.#callsCount - 1;
    return isObject(call) ? { tool_calls: [{ ...call, index: place }] } : null;
  }

  /** Pages that a document or the result of a tool names. Plans and thoughts are no text of Chat. */
  #pages(citation: unknown): JsonObject | null {
    if (!isObject(citation) || (citation.type ?? 'TEXT_CONTENT') !== 'TEXT_CONTENT') return null;
    const places = this.#placesOf(citation);
    const annotations = objectsOf(citation.sources).flatMap((source) => {
      const { url, title } = (source.document ?? source.tool_output ?? {}) as JsonObject;
      if (typeof url !== 'string' || !/^https?:\/\//i.test(url)) return [];
      return [{ type: 'url_citation', url_citation: { url, title: title ?? '', ...places } }];
    });
    return annotations.length > 0 ? { annotations } : null;
  }

  #beginBlock(index: unknown): void {
    const begin = { characters: 0, units: this.#text.length };
    this.#blocks.set(index, { begin, reached: begin });
    this.#lastBlock = index;
  }

  /** Cohere counts the characters of a block, OpenAI the code units of the message. */
  #placesOf({ start, end, content_index: index }: JsonObject): JsonObject {
    const block = this.#blocks.get(index) ?? this.#blocks.get(this.#lastBlock);
    const [first, last] = [readTokenCount(start), readTokenCount(end)];
    if (!block || first === null || last === null) return { start_index: null, end_index: null };
    const { begin, reached } = block;
    // Citations come in the order of the text, so it is walked through once.
    block.reached = walk(this.#text, first < reached.characters ? begin : reached, first);
    const { units } = walk(this.#text, block.reached, last);
    return { start_index: block.reached.units, end_index: units };
  }
}

type Place = { readonly characters: number; readonly units: number };

/** Returns the place of the character `to`; behind the text, characters have one unit each. */
function walk(text: string, { characters, units }: Place, to: number): Place {
  while (characters < to && units < text.length) {
    units += text.codePointAt(units)! > 0xffff ? 2 : 1;
    characters++;
  }
  return { characters: to, units: units + to - characters };
}

function thoughtOf(text: unknown): JsonObject | null {
  return typeof text === 'string' && text !== '' ? { reasoning_content: text } : null;
}

/** An unknown reason counts as a normal end. */
function finishReasonOf(reason: unknown): string | null {
  if (typeof reason !== 'string') return null;
  return Object.hasOwn(finishReasons, reason) ? finishReasons[reason]! : 'stop';
}

const finishReasons: Readonly<Record<string, string>> = {
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool_calls',
  ERROR_TOXIC: 'content_filter',
  ERROR_LIMIT: 'length',
  ERROR: 'error',
  USER_CANCEL: 'error',
  TIMEOUT: 'error',
};

/**
 * Returns Cohere's billed units. They leave out the texts that Cohere adds to the prompt: a recorded
 * answer has 506 input tokens, 11 of them billed. `cached_tokens` have no price of their own.
 */
function usageOf({ usage }: JsonObject): { readonly usage?: JsonObject } {
  if (!isObject(usage)) return {};
  const { billed_units: billed, tokens } = usage;
  const count = (name: string) => countIn(billed, name) ?? countIn(tokens, name) ?? 0;
  const [input, output] = [count('input_tokens'), count('output_tokens')];
  const reasoning = Math.min(countIn(tokens, 'reasoning_tokens') ?? 0, output);
  return {
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      completion_tokens_details: { reasoning_tokens: reasoning },
    },
  };
}

function countIn(counts: unknown, name: string): number | null {
  return readTokenCount(objectOf(counts)[name]);
}
