// Reads answers in the Responses format, our own and the recorded ones of OpenAI, Azure, Bedrock,
// DeepSeek and xAI, with the format and with a simple independent reader.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collect } from '../../../tests/support/canonical/answers.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import type { Answer } from '../../canonical/answer.ts';
import type { AssistantPart } from '../../canonical/request.ts';
import { SseParser, type SseEvent } from '../../lib/sse.ts';
import type { JsonObject } from '../../lib/json.ts';
import { UnreadableAnswer } from '../format.ts';
import type { Json } from '../../../tests/support/plain/reading.ts';
import { loadRecordings, type Recording } from '../../../tests/support/recordings.ts';
import {
  contextFor,
  payloadsOf,
  readAll,
  runPipe,
  streamAnswer,
} from '../../../tests/support/formats/responses.ts';
import { readErrorMessage } from '../error-message.ts';
import { parseRequest } from './parse-request.ts';
import { readAnswer } from './read-answer.ts';
import { readWithSdk } from '../../../tests/support/formats/responses-sdk.ts';
import { relayAnswer } from './relay-answer.ts';
import { relayStream } from './relay-stream.ts';
import { writeAnswer } from './write-answer.ts';

const answers = loadRecordings().filter(({ format }) => format === 'responses');
const wholeAnswers = answers.filter(({ stream }) => !stream);
const streams = answers.filter(({ stream }) => stream);

for (const recording of wholeAnswers) {
  const body = readBody(recording);
  if (recording.status !== 200 || body.status === 'failed') {
    test(`${recording.file}: the error has a message and is not read as an answer`, () => {
      const { error } = body as { error: string | { message: string } };
      assert.equal(readErrorMessage(body), typeof error === 'string' ? error : error.message);
      assert.throws(() => readAnswer(body), UnreadableAnswer);
    });
    continue;
  }
  test(`${recording.file}: the answer is read in full and relayed with only the documented edits`, () => {
    const answer = readAnswer(body);
    assert.deepEqual(summarise(answer), plainReading(body));
    const relayed = relayAnswer(body, contextFor({ reasoning: { effort: 'low' } }));
    assert.deepEqual(relayed.usage, answer.usage);
    assert.deepEqual(relayed.stop, answer.stop);
    assert.equal(relayed.searches, countSearches(body));
    checkEdits(body, relayed.body);
    checkAgain(readAnswer(writeAnswer(answer, contextFor())), answer);
  });
}

for (const { file, bytes } of streams) {
  test(`${file}: the stream is read however it is split, and relayed with only the documented edits`, () => {
    const events = firstResponse(parseSse(bytes));
    const last = JSON.parse(events.at(-1)!.data) as JsonObject;
    const body = wholeResponse(events, last.response as JsonObject);
    if (last.type === 'response.failed') return checkFailure(events, body);
    const answer = collect(readAll(events))!;
    assert.deepEqual(summarise(answer), plainReading(body));
    assert.deepEqual(withoutSignatures(answer), withoutSignatures(readAnswer(body)));
    for (const effort of [null, 'low']) {
      const context = contextFor({ reasoning: { effort } });
      const pipe = relayStream(context);
      const frames = runPipe(pipe, events);
      const payloads = payloadsOf(frames);
      checkEdits(body, payloads.at(-1)?.response as JsonObject);
      assert.equal(pipe.progress.searches, countSearches(body));
      payloads.forEach((payload, index) => assert.equal(payload.sequence_number, index));
      assert.deepEqual(
        withoutSignatures(collect(readAll(parseSse(frames)))!),
        withoutSignatures(answer),
      );
      assert.equal(runPipe(relayStream(context), firstResponse(parseSplit(bytes))), frames);
    }
    checkAgain(collect(readAll(parseSse(streamAnswer(answer, contextFor()))))!, answer);
  });

  test(`${file}: without its last event, the stream fails`, () => {
    const events = firstResponse(parseSse(bytes));
    const end = events.findIndex(({ data }) => /"type":\s*"(?:response\.failed|error)"/.test(data));
    const cut = events.slice(0, end === -1 ? -1 : end);
    assert.equal(readAll(cut).at(-1)?.type, 'error');
    const pipe = relayStream(contextFor());
    runPipe(pipe, cut);
    assert.equal(pipe.progress.status, 'failed');
  });
}

for (const { file, bytes } of streams.filter(isPlain)) {
  test(`${file}: the official SDK reads the relayed stream as it reads the original`, async () => {
    const events = parseSse(bytes).filter(({ data }) => data !== '[DONE]');
    const original = await readWithSdk(
      events.map(({ data }) => `data: ${data.replaceAll('\n', ' ')}\n\n`).join(''),
    );
    const relayed = await readWithSdk(
      runPipe(relayStream(contextFor({ reasoning: { effort: 'low' } })), events),
    );
    assert.equal(relayed.output_text, original.output_text);
    assert.equal(relayed.output.at(-1)?.type, original.output.at(-1)?.type);
  });
}

for (const { file, request } of answers) {
  if (!request) continue;
  test(`${file}: the request is accepted`, () => {
    const body = JSON.parse(request.toString('utf8')) as JsonObject;
    assert.equal(parseRequest(body, { chatMaxTokens: null }).model, body.model);
  });
}

function readBody({ bytes }: Recording): JsonObject {
  return JSON.parse(bytes.toString('utf8')) as JsonObject;
}

/** Takes the items from their `done` events when the last response has none. */
function wholeResponse(events: readonly SseEvent[], last: JsonObject): JsonObject {
  const payloads = events.map(({ data }) => JSON.parse(data) as JsonObject);
  const items = payloads
    .filter(({ type }) => type === 'response.output_item.done')
    .map(({ item }) => item);
  return (last.output as unknown[]).length > 0 ? last : { ...last, output: items };
}

/** Our own count is written when the upstream counted nothing. */
function checkAgain({ usage, ...again }: Answer, { usage: counted, ...answer }: Answer): void {
  assert.deepEqual(again, answer);
  if (counted) assert.deepEqual(usage, counted);
  else assert.ok(usage!.inputTokens > 0 && usage!.outputTokens > 0);
}

function countSearches(body: JsonObject): number {
  const calls = (body.output as Json[]).filter(
    (item) => item['type'] === 'web_search_call' && item['status'] === 'completed',
  );
  return calls.filter(({ action }) => !action?.type || action.type === 'search').length;
}

/**
 * Texts, reasoning and calls: what clients can request here. The SDK's accumulator does not know
 * every event of hosted tools.
 */
function isPlain({ file }: Recording): boolean {
  return /stream_propagation|bedrock|deepseek|pdf|azure|text|tools|refusal/.test(file);
}

/** One recording holds two streams in sequence. */
function firstResponse(events: readonly SseEvent[]): SseEvent[] {
  const end = events.findIndex(({ data }) =>
    /"type":\s*"response\.(?:completed|incomplete|failed)"/.test(data),
  );
  return events.slice(0, end + 1);
}

/** Splits the bytes into pieces of one to seven, inside lines, events and characters. */
function parseSplit(bytes: Uint8Array): SseEvent[] {
  const parser = new SseParser();
  const events: SseEvent[] = [];
  for (let start = 0, size = 1; start < bytes.length; start += size, size = (size % 7) + 1) {
    events.push(...parser.push(bytes.subarray(start, start + size)));
  }
  return [...events, ...parser.end()];
}

/** The simple reader of a response. */
function plainReading(body: JsonObject): object {
  const output = body.output as Json[];
  const usage = body.usage as Record<string, number> | null;
  return {
    texts: output.flatMap((item) =>
      item['type'] === 'message'
        ? (item['content'] as Json[]).map((part) => part['text'] ?? { refusal: part['refusal'] })
        : [],
    ),
    calls: output
      .filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
      .map((item) => [
        item['call_id'] ?? item['id'],
        item['name'],
        plainArguments(item['arguments'] ?? item['input']),
      ]),
    encrypted: output.filter(
      (item) => item['type'] === 'reasoning' && typeof item['encrypted_content'] === 'string',
    ).length,
    tokens: usage && [usage.input_tokens, usage.output_tokens],
  };
}

function plainArguments(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function summarise({ content, usage }: Answer): object {
  return {
    texts: content.flatMap((part): unknown[] => {
      if (part.type === 'refusal') return [{ refusal: part.text }];
      return part.type === 'text' ? [part.text] : [];
    }),
    calls: content.flatMap((part) =>
      part.type === 'tool-call' ? [[part.id, part.name, part.arguments]] : [],
    ),
    encrypted: content.filter(
      (part) => part.type === 'thinking' && part.signature?.vendor === 'openai',
    ).length,
    tokens: usage && [
      usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
      usage.outputTokens,
    ],
  };
}

/** OpenAI encrypts the same reasoning anew in each event. */
function withoutSignatures({ content, ...answer }: Answer): object {
  return {
    ...answer,
    content: content.map((part): AssistantPart =>
      part.type === 'thinking' ? { ...part, signature: null } : part,
    ),
  };
}

/** Undoes the documented edits, which must give the upstream's response. */
function checkEdits(original: JsonObject, relayed: JsonObject): void {
  const originalOutput = original.output as JsonObject[];
  const output = (relayed.output as JsonObject[]).slice(
    (relayed.output as JsonObject[]).length - originalOutput.length,
  );
  assert.equal(relayed.model, 'catalogue/model');
  for (const item of output)
    if (item.type === 'function_call') assert.equal(item.id, item.call_id ?? item.id);
  const undone = output.map((item, index) => ({ ...item, id: originalOutput[index]?.id }));
  // Our own count is written when the upstream counted nothing.
  const usage = original.usage ?? relayed.usage;
  assert.ok(usage);
  const edited = {
    ...relayed,
    usage: withoutCosts(relayed.usage),
    model: original.model,
    output: undone,
  };
  const { id, object, created_at: createdAt } = relayed;
  const whole = { id, object, created_at: createdAt, ...original };
  assert.deepEqual(edited, { ...whole, usage: withoutCosts(usage) });
}

/** Removes our cost and xAI's. */
function withoutCosts(usage: unknown): JsonObject {
  const { cost: _cost, cost_in_usd_ticks: _ticks, ...counts } = usage as JsonObject;
  return counts;
}

function checkFailure(events: readonly SseEvent[], body: JsonObject): void {
  const read = readAll(events);
  assert.equal(read.at(-1)?.type, 'error');
  const pipe = relayStream(contextFor());
  const frames = runPipe(pipe, events);
  assert.equal(pipe.progress.status, 'failed');
  assert.equal(pipe.progress.failure?.message, (body.error as JsonObject).message);
  assert.ok(!frames.includes('quota'));
}
