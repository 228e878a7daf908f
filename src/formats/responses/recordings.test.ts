// Relays every answer in the Responses format, our own and the recorded ones, and compares it with
// what the upstream sent. tests/recordings.test.ts compares what clients of all formats read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collect } from '../../../tests/support/canonical/answers.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import type { Answer } from '../../canonical/answer.ts';
import type { AssistantPart } from '../../canonical/request.ts';
import type { SseEvent } from '../../lib/sse.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { Json } from '../../../tests/support/plain/reading.ts';
import { loadRecordings, type Recording } from '../../../tests/support/recordings.ts';
import {
  contextFor,
  payloadsOf,
  readAll,
  runPipe,
} from '../../../tests/support/formats/responses.ts';
import { parseRequest } from './parse-request.ts';
import { readAnswer } from './read-answer.ts';
import { readWithSdk } from '../../../tests/support/formats/responses-sdk.ts';
import { relayAnswer } from './relay-answer.ts';
import { relayStream } from './relay-stream.ts';

const answers = loadRecordings().filter(
  ({ format, status }) => format === 'responses' && status === 200,
);
const streams = answers.filter(({ stream }) => stream);

for (const { file, bytes } of answers.filter(({ stream }) => !stream)) {
  const body = JSON.parse(bytes.toString('utf8')) as JsonObject;
  if (body.status === 'failed') continue;
  test(`${file}: the answer is relayed with only the documented edits`, () => {
    const answer = readAnswer(body);
    const relayed = relayAnswer(body, contextFor({ reasoning: { effort: 'low' } }));
    assert.deepEqual([relayed.usage, relayed.stop], [answer.usage, answer.stop]);
    assert.equal(relayed.searches, countSearches(body));
    checkEdits(body, relayed.body);
  });
}

for (const { file, bytes } of streams) {
  test(`${file}: the stream is relayed with only the documented edits`, () => {
    const events = firstResponse(parseSse(bytes));
    const last = JSON.parse(events.at(-1)!.data) as JsonObject;
    const body = wholeResponse(events, last.response as JsonObject);
    if (last.type === 'response.failed') return checkFailure(events, body);
    const answer = withoutSignatures(collect(readAll(events))!);
    assert.deepEqual(answer, withoutSignatures(readAnswer(body)));
    for (const effort of [null, 'low']) {
      const pipe = relayStream(contextFor({ reasoning: { effort } }));
      const frames = runPipe(pipe, events);
      const payloads = payloadsOf(frames);
      checkEdits(body, payloads.at(-1)?.response as JsonObject);
      assert.equal(pipe.progress.searches, countSearches(body));
      payloads.forEach((payload, index) => assert.equal(payload.sequence_number, index));
      assert.deepEqual(withoutSignatures(collect(readAll(parseSse(frames)))!), answer);
    }
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

/** Takes the items from their `done` events when the last response has none. */
function wholeResponse(events: readonly SseEvent[], last: JsonObject): JsonObject {
  const payloads = events.map(({ data }) => JSON.parse(data) as JsonObject);
  const items = payloads
    .filter(({ type }) => type === 'response.output_item.done')
    .map(({ item }) => item);
  return (last.output as unknown[]).length > 0 ? last : { ...last, output: items };
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
  const whole = {
    id,
    object,
    created_at: createdAt,
    ...original,
    output: originalOutput.map(mended),
  };
  assert.deepEqual(edited, { ...whole, usage: withoutCosts(usage) });
}

/** Adds the `call_id` and the arguments as text, which clients need and some hosts leave out. */
function mended(item: JsonObject): JsonObject {
  if (item.type !== 'function_call') return item;
  const { call_id: callId = item.id, arguments: given } = item;
  return { ...item, call_id: callId, arguments: isObject(given) ? JSON.stringify(given) : given };
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
