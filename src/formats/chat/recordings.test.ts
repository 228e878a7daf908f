// Every recorded Chat answer, read by the format and by a plain reading of the same bytes.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { collect } from '../../../tests/support/canonical/answers.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import type { Answer } from '../../canonical/answer.ts';
import { totalInputTokens } from '../../canonical/usage.ts';
import { SseParser } from '../../lib/sse.ts';
import { contextFor, readAll } from '../../../tests/support/formats/chat.ts';
import { readErrorMessage } from '../error-message.ts';
import { readAnswer } from './read-answer.ts';
import { relayAnswer } from './relay-answer.ts';
import { relayStream } from './relay-stream.ts';

const folder = new URL('../../../../shared/fixtures/openai-chat/', import.meta.url);
const isMissing = !existsSync(folder);

function recordings(kind: 'json' | 'stream'): { name: string; text: string }[] {
  if (isMissing) return [];
  const place = new URL(`${kind}/`, folder);
  const names = readdirSync(place).filter((name) => !name.endsWith('.request.json'));
  return names.map((name) => ({ name, text: readFileSync(new URL(name, place), 'utf8') }));
}

test('the recordings are there', (t) => {
  if (!isMissing) return;
  assert.ok(!process.env.CI, 'the recordings are missing');
  t.diagnostic(`no recordings in ${folder.pathname}: nothing was compared`);
  t.skip();
});

/** What anybody would read out of the chunks of one choice; no more is shared with the code under test than JSON. */
type Plain = {
  text: string;
  reasoning: string;
  /** The bytes of the reasoning that is sealed. */
  sealed: number;
  pages: string[];
  calls: string[];
  finish: string | null;
  usage: PlainUsage | null;
};
type PlainUsage = { prompt_tokens: number; completion_tokens: number; total_tokens: number };
type PlainMessage = {
  content?: string | null;
  reasoning?: string;
  reasoning_content?: string;
  reasoning_details?: { text?: string; data?: string; signature?: string | null }[];
  annotations?: { url_citation: { url: string } }[];
  tool_calls?: { index?: number; function: { name?: string; arguments?: string } }[] | null;
};
type PlainChunk = {
  usage?: PlainUsage | null;
  citations?: string[] | null;
  model?: string;
  choices: { index: number; delta?: PlainMessage; message?: PlainMessage; finish_reason?: string | null }[];
};

function readPlainly(chunks: readonly PlainChunk[], index = 0): Plain {
  const plain: Plain = { text: '', reasoning: '', sealed: 0, pages: [], calls: [], finish: null, usage: null };
  let sources: string[] = [];
  const calls = new Map<number, { name: string; arguments: string }>();
  for (const chunk of chunks) {
    plain.usage = chunk.usage ?? plain.usage;
    sources = chunk.citations ?? sources;
    for (const choice of chunk.choices.filter((candidate) => candidate.index === index)) {
      const added = choice.delta ?? choice.message ?? {};
      plain.text += added.content ?? '';
      plain.reasoning += added.reasoning_content ?? added.reasoning ?? added.reasoning_details?.[0]?.text ?? '';
      for (const { data, signature } of added.reasoning_details ?? []) {
        for (const value of [data, signature]) plain.sealed += Math.floor(((value ?? '').length * 3) / 4);
      }
      plain.pages.push(...(added.annotations ?? []).map((annotation) => annotation.url_citation.url));
      plain.finish = choice.finish_reason ?? plain.finish;
      for (const [place, call] of (added.tool_calls ?? []).entries()) {
        const known = calls.get(call.index ?? place) ?? { name: '', arguments: '' };
        known.name ||= call.function.name ?? '';
        known.arguments += call.function.arguments ?? '';
        calls.set(call.index ?? place, known);
      }
    }
  }
  if (plain.pages.length === 0) plain.pages = sources;
  plain.calls = [...calls.values()].map((call) => `${call.name}(${call.arguments})`);
  return plain;
}

function assertAgrees({ content, usage }: Answer, plain: Plain): void {
  const texts = (type: string) => content.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
  assert.equal(texts('text'), plain.text);
  assert.equal(texts('thinking'), plain.reasoning);
  const calls = content.flatMap((part) => (part.type === 'tool-call' ? [`${part.name}(${part.arguments})`] : []));
  assert.deepEqual(calls, plain.calls);
  const cited = content.flatMap((part) => (part.type === 'text' ? (part.citations ?? []) : []));
  assert.deepEqual(
    cited.map((citation) => citation.type === 'url' && citation.url),
    plain.pages,
  );
  assert.equal(usage && totalInputTokens(usage), plain.usage && plain.usage.prompt_tokens);
  // Whatever a host counts where, its total is right.
  assert.equal(usage && totalInputTokens(usage) + usage.outputTokens, plain.usage && plain.usage.total_tokens);
}

function chunksOf(text: string): PlainChunk[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as PlainChunk);
}

const stops: Record<string, Answer['stop']['reason']> = {
  stop: 'end',
  eos: 'end',
  length: 'length',
  tool_calls: 'tool-calls',
};

for (const { name, text } of recordings('json')) {
  const body = JSON.parse(text) as PlainChunk & { error?: unknown; detail?: unknown };
  if (body.error || body.detail) {
    test(`${name}: the error has a message, and is no answer`, () => {
      const message = readErrorMessage(body);
      assert.ok(message && text.includes(message));
      assert.throws(() => readAnswer(body), /./);
      assert.throws(() => relayAnswer(body, contextFor()), /./);
    });
    continue;
  }
  test(`${name}: the answer is read as it stands, and relayed with nothing but the model changed`, () => {
    const plain = readPlainly([body]);
    const answer = readAnswer(body);
    assertAgrees(answer, plain);
    assert.equal(answer.stop.reason, stops[plain.finish!]);
    const relayed = relayAnswer(body, contextFor());
    assert.deepEqual(relayed.body, { ...body, model: 'catalogue/model' });
    assert.deepEqual(relayed.usage, answer.usage);
    assert.deepEqual(relayed.stop, answer.stop);
    assert.equal(relayed.outputBytes, byteLengthOf(plain));
  });
}

for (const { name, text } of recordings('stream')) {
  const chunks = chunksOf(text);
  const plain = readPlainly(chunks);
  const choices = Math.max(1, ...chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.index + 1)));

  test(`${name}: the stream is read as it stands`, () => {
    const events = readAll(parseSse(text));
    const answer = collect(events);
    assert.ok(answer);
    assertAgrees(answer, plain);
    assert.equal(answer.stop.reason, plain.finish === null ? 'end' : stops[plain.finish]);
    assert.equal(events[0]!.type, 'start');
    assert.equal(events.filter((event) => event.type === 'finish').length, 1);
  });

  test(`${name}: a client that asked for usage gets every chunk of the relay, with nothing but the model changed`, () => {
    const { frames, progress } = relay(text, { n: choices, stream_options: { include_usage: true } });
    const relayed = chunksOf(frames);
    assert.deepEqual(
      // Where the upstream counted nothing, a chunk with our own count is added.
      plain.usage ? relayed : relayed.slice(0, -1),
      chunks.map((chunk) => ({ ...chunk, model: 'catalogue/model' })),
    );
    assert.equal(progress.usage !== null, plain.usage !== null);
    assert.ok(relayed.at(-1)!.usage);
    assert.ok(frames.endsWith('\n\n: cost\n\ndata: [DONE]\n\n'));
  });

  test(`${name}: a client that did not ask gets the same answer without the usage chunk`, () => {
    const { frames, progress } = relay(text, { n: choices });
    const relayed = chunksOf(frames);
    for (let index = 0; index < choices; index++) {
      const { usage: _all, ...expected } = readPlainly(chunks, index);
      const { usage: _left, ...seen } = readPlainly(relayed, index);
      assert.deepEqual(seen, expected);
    }
    assert.ok(!relayed.some((chunk) => chunk.usage === null || (chunk.usage && chunk.choices.length === 0)));
    assert.deepEqual(progress.usage, collect(readAll(parseSse(text)))!.usage);
    const all = Array.from({ length: choices }, (_, index) => readPlainly(chunks, index));
    assert.equal(
      progress.outputBytes,
      all.map(byteLengthOf).reduce((sum, bytes) => sum + bytes),
    );
  });

  test(`${name}: splitting the bytes anywhere changes nothing`, () => {
    const bytes = Buffer.from(text);
    const whole = relay(text, {}).frames;
    const events = readAll(parseSse(text));
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
        const parser = new SseParser();
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const split = places.slice(1).flatMap((end, index) => parser.push(bytes.subarray(places[index], end)));
        split.push(...parser.end());
        const pipe = relayStream(contextFor());
        assert.equal(split.map(pipe.push).join('') + pipe.end() + pipe.close(': cost'), whole);
        assert.deepEqual(readAll(split), events);
      }),
      { numRuns: 10 },
    );
  });

  test(`${name}: cut before its end, it is a failure on both paths`, () => {
    const events = parseSse(text);
    const end = events.findIndex(({ data }) => data === '[DONE]' || /"finish_reason":\s*"/.test(data));
    const cut = events.slice(0, end);
    assert.equal(readAll(cut).at(-1)!.type, 'error');
    const pipe = relayStream(contextFor());
    for (const event of cut) pipe.push(event);
    pipe.end();
    assert.equal(pipe.progress.status, 'failed');
  });
}

function relay(text: string, fields: Record<string, unknown>) {
  const pipe = relayStream(contextFor(fields));
  const frames = parseSse(text).map(pipe.push).join('') + pipe.end();
  assert.equal(pipe.progress.status, 'finished');
  assert.ok(!frames.includes('[DONE]'));
  return { frames: frames + pipe.close(': cost'), progress: pipe.progress };
}

function byteLengthOf(plain: Plain): number {
  const args = plain.calls.map((call) => call.slice(call.indexOf('(') + 1, -1));
  return Buffer.byteLength([plain.text, ...args].join('')) + Math.max(Buffer.byteLength(plain.reasoning), plain.sealed);
}
