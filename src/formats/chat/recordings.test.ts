// Relays every Chat answer, our own and the recorded ones, and compares it with what the upstream
// sent. tests/recordings.test.ts compares what clients of all formats read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collect } from '../../../tests/support/canonical/answers.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import { contextFor, readAll } from '../../../tests/support/formats/chat.ts';
import { gatherCalls, readContent } from '../../../tests/support/plain/chat.ts';
import { eventsOf, type Json } from '../../../tests/support/plain/reading.ts';
import { readPlainly as readWholly } from '../../../tests/support/plain/read-plainly.ts';
import { loadRecordings } from '../../../tests/support/recordings.ts';
import { readAnswer } from './read-answer.ts';
import { relayAnswer } from './relay-answer.ts';
import { relayStream } from './relay-stream.ts';

const answers = loadRecordings()
  .filter(({ format, status }) => format === 'chat' && status === 200)
  .map(({ file, stream, bytes }) => ({ name: file, stream, text: bytes.toString('utf8') }))
  .filter(({ stream, text }) => readWholly('chat', stream, text).stop !== 'failed');

/** What the chunks of one choice hold. It shares only JSON with the code under test. */
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
  x_groq?: { usage?: PlainUsage };
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
    plain.usage = chunk.usage ?? chunk.x_groq?.usage ?? plain.usage;
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

/** A call without arguments gets an empty object. */
function withArguments(calls: readonly string[]): string[] {
  return calls.map((call) => call.replace(/\(\)$/, '({})'));
}

/**
 * Recordings with calls that some clients cannot read unchanged. The calls are repaired; everything
 * else stays.
 */
const broken = [
  'odd-tools.json',
  'odd-tools.sse',
  'index-zero.sse',
  'no-index.sse',
  'ai--alibaba-tool-call.sse',
];

function asRelayed(name: string, chunk: object): unknown {
  if (!broken.some((file) => name.endsWith(file))) return chunk;
  return JSON.parse(
    JSON.stringify(chunk, (field, value: unknown) => (field === 'tool_calls' ? undefined : value)),
  );
}

/** Mistral's parts as text, and its thinking where other hosts have it. */
function withText<Delta extends object>(delta: Delta): Delta {
  const { content } = delta as { content?: unknown };
  if (!Array.isArray(content)) return delta;
  const parts = content as { type: string; text?: string; thinking?: { text: string }[] }[];
  const thinking = parts.flatMap((part) => part.thinking ?? []).map(({ text }) => text);
  return {
    ...delta,
    content: parts.map(({ text = '' }) => text).join(''),
    ...(thinking.length > 0 && { reasoning_content: thinking.join('') }),
  };
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
      const { delta } = choice;
      return { ...choice, ...(delta && { delta: withText(delta) }), finish_reason: reason };
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

for (const { name, text } of answers.filter(({ stream }) => !stream)) {
  test(`${name}: the answer is relayed with only model and cost changed`, () => {
    const body = JSON.parse(text) as PlainChunk;
    const plain = readPlainly([body]);
    const relayed = relayAnswer(body, contextFor());
    // Our own count is added when the upstream counted nothing.
    const isCounted = plain.usage?.completion_tokens !== undefined;
    const usage = isCounted ? asShown(plain.usage!) : relayed.body.usage;
    assert.deepEqual(
      asRelayed(name, relayed.body),
      asRelayed(name, { ...withOneFinish([body])[0], model: 'catalogue/model', usage }),
    );
    assert.deepEqual(readPlainly([relayed.body as PlainChunk]).calls, withArguments(plain.calls));
    const answer = readAnswer(body);
    assert.deepEqual([relayed.usage, relayed.stop], [answer.usage, answer.stop]);
    assert.equal(relayed.outputBytes, bytesOf([body], body.choices.length));
  });
}

for (const { name, text } of answers.filter(({ stream }) => stream)) {
  const chunks = eventsOf(text) as unknown as PlainChunk[];
  const plain = readPlainly(chunks);
  const choices = Math.max(
    1,
    ...chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.index + 1)),
  );

  test(`${name}: a client that asked for usage gets every chunk with only the model and Mistral's parts changed, and the usage last`, () => {
    const { frames, progress } = relay(text, {
      n: choices,
      stream_options: { include_usage: true },
    });
    const relayed = eventsOf(frames) as unknown as PlainChunk[];
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
    const relayed = eventsOf(frames) as unknown as PlainChunk[];
    for (let index = 0; index < choices; index++) {
      const { usage: _all, ...recorded } = readPlainly(withOneFinish(chunks), index);
      const expected = { ...recorded, calls: withArguments(recorded.calls) };
      const { usage: _left, ...seen } = readPlainly(relayed, index);
      assert.deepEqual(seen, expected);
    }
    assert.ok(!relayed.some((chunk) => 'usage' in chunk));
    assert.deepEqual(progress.usage, collect(readAll(parseSse(text)))!.usage);
    assert.equal(progress.output.bytes, bytesOf(chunks, choices));
  });
}

/**
 * Without the prices of OpenRouter and xAI, and with reasoning in the output where the total counts
 * it beside.
 */
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

function bytesOf(chunks: readonly PlainChunk[], choices: number): number {
  return Array.from({ length: choices }, (_, index) => {
    const plain = readPlainly(chunks, index);
    const args = plain.calls.map((call) => call.slice(call.indexOf('(') + 1, -1));
    return (
      Buffer.byteLength([plain.text, plain.refusal, ...args].join('')) +
      Math.max(Buffer.byteLength(plain.reasoning), plain.sealed)
    );
  }).reduce((sum, bytes) => sum + bytes);
}
