// Reads every Chat answer, our own and the recorded ones, with the format and with a simple
// independent reader.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { collect } from '../../../tests/support/canonical/answers.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import type { Answer } from '../../canonical/answer.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import { totalInputTokens } from '../../canonical/usage.ts';
import { SseParser } from '../../lib/sse.ts';
import { contextFor, readAll } from '../../../tests/support/formats/chat.ts';
import { gatherCalls, readContent } from '../../../tests/support/plain/chat.ts';
import { eventsOf, type Json } from '../../../tests/support/plain/reading.ts';
import { readPlainly as readWholly } from '../../../tests/support/plain/read-plainly.ts';
import { loadRecordings } from '../../../tests/support/recordings.ts';
import { readErrorMessage } from '../error-message.ts';
import { readAnswer } from './read-answer.ts';
import { relayAnswer } from './relay-answer.ts';
import { relayStream } from './relay-stream.ts';

const answers = loadRecordings()
  .filter(({ format }) => format === 'chat')
  .map(({ file, stream, status, bytes }) => ({
    name: file,
    stream,
    status,
    text: bytes.toString('utf8'),
  }));

/**
 * The simple reader's result for the chunks of one choice. It shares only JSON with the code under
 * test.
 */
type Plain = {
  text: string;
  refusal: string;
  reasoning: string;
  /** Bytes of sealed reasoning. */
  sealed: number;
  pages: string[];
  calls: string[];
  finish: string | null;
  usage: PlainUsage | null;
};
type PlainUsage = { prompt_tokens: number; completion_tokens?: number; total_tokens?: number };
type PlainMessage = {
  content?: unknown;
  refusal?: string | null;
  reasoning?: string;
  reasoning_content?: string | null;
  reasoning_details?: { text?: string; data?: string; signature?: string | null }[];
  annotations?: { url_citation: { url: string } }[];
  tool_calls?: Json[] | null;
};
type PlainChunk = {
  usage?: PlainUsage | null;
  citations?: string[] | null;
  model?: string;
  choices: {
    index: number;
    delta?: PlainMessage;
    message?: PlainMessage;
    finish_reason?: string | null;
  }[];
};

function readPlainly(chunks: readonly PlainChunk[], index = 0): Plain {
  const plain: Plain = {
    text: '',
    refusal: '',
    reasoning: '',
    sealed: 0,
    pages: [],
    calls: [],
    finish: null,
    usage: null,
  };
  let sources: string[] = [];
  const messages: PlainMessage[] = [];
  for (const chunk of chunks) {
    plain.usage = chunk.usage ?? plain.usage;
    sources = chunk.citations ?? sources;
    for (const choice of chunk.choices.filter((candidate) => candidate.index === index)) {
      const added = choice.delta ?? choice.message ?? {};
      messages.push(added);
      plain.text += readContent(added.content);
      plain.refusal += added.refusal ?? '';
      plain.reasoning +=
        added.reasoning_content ?? added.reasoning ?? added.reasoning_details?.[0]?.text ?? '';
      plain.reasoning += readContent(added.content, 'thinking');
      for (const { data, signature } of added.reasoning_details ?? []) {
        for (const value of [data, signature])
          plain.sealed += Math.floor(((value ?? '').length * 3) / 4);
      }
      plain.pages.push(
        ...(added.annotations ?? []).map((annotation) => annotation.url_citation.url),
      );
      plain.finish = choice.finish_reason ?? plain.finish;
    }
  }
  if (plain.pages.length === 0) plain.pages = sources;
  plain.calls = gatherCalls(messages).map((call) => `${call.name}(${call.text})`);
  return plain;
}

function assertAgrees({ content, usage }: Answer, plain: Plain): void {
  const texts = (type: string) =>
    content.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
  assert.equal(texts('text'), plain.text);
  assert.equal(texts('refusal'), plain.refusal);
  assert.equal(texts('thinking'), plain.reasoning);
  const calls = content.flatMap((part) =>
    part.type === 'tool-call' ? [`${part.name}(${part.arguments})`] : [],
  );
  assert.deepEqual(calls, withArguments(plain.calls));
  const cited = content.flatMap((part) => (part.type === 'text' ? (part.citations ?? []) : []));
  assert.deepEqual(
    cited.map((citation) => citation.type === 'url' && citation.url),
    plain.pages,
  );
  assert.equal(usage && totalInputTokens(usage), plain.usage && plain.usage.prompt_tokens);
  // Hosts assign counts differently, but the total is right.
  const total = plain.usage && (plain.usage.total_tokens ?? plain.usage.prompt_tokens);
  assert.equal(usage && totalInputTokens(usage) + usage.outputTokens, total);
}

/** A call without arguments gets an empty object. */
function withArguments(calls: readonly string[]): string[] {
  return calls.map((call) => call.replace(/\(\)$/, '({})'));
}

/**
 * Recordings with calls that no client could read unchanged. The calls are repaired; everything
 * else stays.
 */
const broken = ['odd-tools.json', 'odd-tools.sse', 'index-zero.sse', 'no-index.sse'];

function asRelayed(name: string, chunk: object): unknown {
  if (!broken.some((file) => name.endsWith(file))) return chunk;
  return JSON.parse(
    JSON.stringify(chunk, (field, value: unknown) => (field === 'tool_calls' ? undefined : value)),
  );
}

/**
 * Returns the chunks with one finish for each choice, in OpenAI's words. No recorded host goes on
 * after its finish.
 */
function withOneFinish(chunks: readonly PlainChunk[]): PlainChunk[] {
  const open = new Map<number, boolean>();
  const sent: PlainChunk[] = [];
  for (const chunk of chunks) {
    const isRepeat = ({ index, finish_reason: reason }: PlainChunk['choices'][number]) =>
      reason && open.get(index) === false;
    if (chunk.choices.some(isRepeat)) continue;
    const choices = chunk.choices.map((choice) => {
      const reason = finishOf(chunks, choice);
      open.set(choice.index, reason === null);
      return { ...choice, finish_reason: reason };
    });
    sent.push({ ...chunk, choices });
  }
  const { id, object, created } = chunks.at(-1) as Json;
  for (const [index, isOpen] of open) {
    const last = { index, delta: {} };
    const reason = finishOf(chunks, { ...last, finish_reason: 'stop' });
    const added = { id, object, created, choices: [{ ...last, finish_reason: reason }] };
    if (isOpen) sent.push(added);
  }
  return sent;
}

function finishOf(
  chunks: readonly PlainChunk[],
  { index, finish_reason: reason }: PlainChunk['choices'][number],
): string | null {
  if (!reason) return null;
  if (!['stop', 'eos'].includes(reason)) return reason;
  return readPlainly(chunks, index).calls.length > 0 ? 'tool_calls' : 'stop';
}

function chunksOf(text: string): PlainChunk[] {
  return eventsOf(text) as unknown as PlainChunk[];
}

function stopOf(plain: Plain): Answer['stop']['reason'] {
  if (plain.finish === 'length') return 'length';
  if (plain.finish === 'content_filter') return 'content-filter';
  if (plain.calls.length > 0) return 'tool-calls';
  return plain.refusal === '' ? 'end' : 'refusal';
}

for (const { name, status, text } of answers.filter(({ stream }) => !stream)) {
  const body = JSON.parse(text) as PlainChunk & { error?: unknown };
  if (status !== 200 || body.error) {
    test(`${name}: the error has a message and is not read as an answer`, () => {
      const message = readErrorMessage(body);
      assert.ok(message && text.includes(message));
      assert.throws(() => readAnswer(body), /./);
      assert.throws(() => relayAnswer(body, contextFor()), /./);
    });
    continue;
  }
  test(`${name}: the answer is read in full, and relayed with only model and cost changed`, () => {
    const plain = readPlainly([body]);
    const answer = readAnswer(body);
    assertAgrees(answer, plain);
    assert.equal(answer.stop.reason, stopOf(plain));
    const relayed = relayAnswer(body, contextFor());
    // Our own count is added when the upstream counted nothing.
    const isCounted = plain.usage?.completion_tokens !== undefined;
    const usage = isCounted ? asShown(plain.usage!) : relayed.body.usage;
    assert.deepEqual(
      asRelayed(name, relayed.body),
      asRelayed(name, { ...withOneFinish([body])[0], model: 'catalogue/model', usage }),
    );
    assert.deepEqual(readPlainly([relayed.body as PlainChunk]).calls, withArguments(plain.calls));
    assert.deepEqual(relayed.usage, answer.usage);
    assert.deepEqual(relayed.stop, answer.stop);
    const all = body.choices.map(({ index }) => byteLengthOf(readPlainly([body], index)));
    assert.equal(
      relayed.outputBytes,
      all.reduce((sum, bytes) => sum + bytes),
    );
  });
}

const streams = answers.filter(({ stream, text }) => stream && !isFailure(text));

for (const { name, text } of streams) {
  const chunks = chunksOf(text);
  const plain = readPlainly(chunks);
  const choices = Math.max(
    1,
    ...chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.index + 1)),
  );

  test(`${name}: the stream is read in full`, () => {
    const events = readAll(parseSse(text));
    const answer = collect(events);
    assert.ok(answer);
    assertAgrees(answer, plain);
    assert.equal(answer.stop.reason, stopOf(plain));
    assert.equal(events[0]!.type, 'start');
    assert.equal(events.filter((event) => event.type === 'finish').length, 1);
  });

  test(`${name}: a client that asked for usage gets every chunk with only the model changed, and the usage last`, () => {
    const { frames, progress } = relay(text, {
      n: choices,
      stream_options: { include_usage: true },
    });
    const relayed = chunksOf(frames);
    const [last, ...earlier] = relayed.toReversed();
    const others = withOneFinish(chunks).filter(
      ({ choices: some, usage }) => !usage || some.length > 0,
    );
    assert.deepEqual(
      earlier.toReversed().map((chunk) => asRelayed(name, chunk)),
      others.map((chunk) =>
        asRelayed(name, {
          ...chunk,
          model: 'catalogue/model',
          ...('usage' in chunk && { usage: null }),
        }),
      ),
    );
    assert.equal(progress.usage !== null, plain.usage !== null);
    assert.deepEqual(last!.choices, []);
    // Our own count is sent when the upstream counted nothing.
    if (plain.usage) assert.deepEqual(last!.usage, { ...asShown(plain.usage), cost: 0.5 });
    else assert.ok(last!.usage);
    assert.ok(frames.endsWith('}\n\ndata: [DONE]\n\n'));
  });

  test(`${name}: a client that did not ask for usage gets the same answer without it`, () => {
    const { frames, progress } = relay(text, { n: choices });
    const relayed = chunksOf(frames);
    for (let index = 0; index < choices; index++) {
      const { usage: _all, ...recorded } = readPlainly(withOneFinish(chunks), index);
      const expected = { ...recorded, calls: withArguments(recorded.calls) };
      const { usage: _left, ...seen } = readPlainly(relayed, index);
      assert.deepEqual(seen, expected);
    }
    assert.ok(!relayed.some((chunk) => 'usage' in chunk));
    assert.deepEqual(progress.usage, collect(readAll(parseSse(text)))!.usage);
    const all = Array.from({ length: choices }, (_, index) => readPlainly(chunks, index));
    assert.equal(
      progress.output.bytes,
      all.map(byteLengthOf).reduce((sum, bytes) => sum + bytes),
    );
  });

  test(`${name}: splitting the bytes anywhere changes nothing`, () => {
    const bytes = Buffer.from(text);
    const whole = relay(text, {}).frames;
    const events = withoutNewIds(readAll(parseSse(text)));
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
        const parser = new SseParser();
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const split = places
          .slice(1)
          .flatMap((end, index) => parser.push(bytes.subarray(places[index], end)));
        split.push(...parser.end());
        const pipe = relayStream(contextFor());
        assert.equal(split.map(pipe.push).join('') + pipe.end() + pipe.close(0.5), whole);
        assert.deepEqual(withoutNewIds(readAll(split)), events);
      }),
      { numRuns: 10 },
    );
  });

  test(`${name}: without its end, the stream fails on both paths`, () => {
    const events = parseSse(text);
    const end = events.findIndex(
      ({ data }) => data === '[DONE]' || /"finish_reason":\s*"/.test(data),
    );
    const cut = events.slice(0, end);
    assert.equal(readAll(cut).at(-1)!.type, 'error');
    const pipe = relayStream(contextFor());
    for (const event of cut) pipe.push(event);
    pipe.end();
    assert.equal(pipe.progress.status, 'failed');
  });
}

/** Removes the prices of OpenRouter and xAI. */
/** Without the host's price, and with reasoning in the output where the total counts it beside. */
function asShown(usage: PlainUsage): object {
  const own = ['cost', 'cost_details', 'cost_in_usd_ticks'];
  const { prompt_tokens: prompt, total_tokens: total } = usage;
  const shown = Object.entries(usage).filter(([name]) => !own.includes(name));
  return { ...Object.fromEntries(shown), ...(total && { completion_tokens: total - prompt }) };
}

function relay(text: string, fields: Record<string, unknown>) {
  const pipe = relayStream(contextFor(fields));
  const frames = parseSse(text).map(pipe.push).join('') + pipe.end();
  assert.equal(pipe.progress.status, 'finished');
  assert.ok(!frames.includes('[DONE]'));
  return { frames: frames + pipe.close(0.5), progress: pipe.progress };
}

/** A failure inside the stream, whose message is in the text. */
function isFailure(text: string): boolean {
  return readWholly('chat', true, text).stop === 'failed';
}

/** A call without an id gets a new one in each reading. */
function withoutNewIds(events: readonly StreamEvent[]): readonly StreamEvent[] {
  return events.map((event) =>
    event.type === 'tool-call-start'
      ? { ...event, id: event.id.replace(/^call_[0-9a-z]{26}$/, 'new') }
      : event,
  );
}

function byteLengthOf(plain: Plain): number {
  const args = plain.calls.map((call) => call.slice(call.indexOf('(') + 1, -1));
  return (
    Buffer.byteLength([plain.text, plain.refusal, ...args].join('')) +
    Math.max(Buffer.byteLength(plain.reasoning), plain.sealed)
  );
}
