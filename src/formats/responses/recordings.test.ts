// Recorded answers of OpenAI, Azure, Bedrock, DeepSeek and xAI, read by the code under test and by a few plain lines here.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { collect } from '../../../tests/support/canonical/answers.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import type { Answer } from '../../canonical/answer.ts';
import type { AssistantPart } from '../../canonical/request.ts';
import { SseParser, type SseEvent } from '../../lib/sse.ts';
import { UnreadableAnswer, type JsonObject } from '../format.ts';
import { contextFor, payloadsOf, readAll, runPipe, streamAnswer } from '../../../tests/support/formats/responses.ts';
import { readErrorMessage } from '../error-message.ts';
import { parseRequest } from './parse-request.ts';
import { readAnswer } from './read-answer.ts';
import { readWithSdk } from '../../../tests/support/formats/responses-sdk.ts';
import { relayAnswer } from './relay-answer.ts';
import { relayStream } from './relay-stream.ts';
import { writeAnswer } from './write-answer.ts';

const folder = new URL('../../../../shared/fixtures/', import.meta.url);
type Recording = {
  readonly file: string;
  readonly request_file: string | null;
  readonly format: string;
  readonly stream: boolean;
  readonly status: number;
};

test('every recorded answer is read and relayed as it is', async (t) => {
  for (const { file } of findRecordings(t, (recording) => !recording.stream && recording.status === 200)) {
    await t.test(file, () => {
      const body = JSON.parse(readText(file)) as JsonObject;
      const answer = readAnswer(body);
      assert.deepEqual(summarise(answer), plainReading(body));
      const relayed = relayAnswer(body, contextFor({ reasoning: { effort: 'low' } }));
      assert.deepEqual(relayed.usage, answer.usage);
      assert.deepEqual(relayed.stop, answer.stop);
      checkEdits(body, relayed.body);
      assert.deepEqual(readAnswer(writeAnswer(answer, contextFor())), answer);
    });
  }
});

test('every recorded stream is read, split anywhere, and relayed as it is', async (t) => {
  for (const { file } of findRecordings(t, (recording) => recording.stream)) {
    await t.test(file, async () => {
      const bytes = readFileSync(new URL(file, folder));
      const events = firstResponse(parseSse(bytes));
      const last = JSON.parse(events.at(-1)!.data) as JsonObject;
      const body = last.response as JsonObject;
      if (last.type === 'response.failed') return checkFailure(events, body);
      const answer = collect(readAll(events))!;
      assert.deepEqual(summarise(answer), plainReading(body));
      assert.deepEqual(withoutSignatures(answer), withoutSignatures(readAnswer(body)));
      for (const effort of [null, 'low']) {
        const context = contextFor({ reasoning: { effort } });
        const frames = runPipe(relayStream(context), events);
        const payloads = payloadsOf(frames);
        checkEdits(body, payloads.at(-1)?.response as JsonObject);
        payloads.forEach((payload, index) => assert.equal(payload.sequence_number, index));
        assert.deepEqual(withoutSignatures(collect(readAll(parseSse(frames)))!), withoutSignatures(answer));
        assert.equal(runPipe(relayStream(context), firstResponse(parseSplit(bytes))), frames);
      }
      assert.deepEqual(collect(readAll(parseSse(streamAnswer(answer, contextFor())))), answer);
    });
  }
});

test('the official SDK reads a relayed recording as it reads the recording', async (t) => {
  for (const { file } of findRecordings(t, (recording) => recording.stream && isPlain(recording))) {
    await t.test(file, async () => {
      const events = parseSse(readText(file));
      const original = await readWithSdk(events.map(({ data }) => `data: ${data}\n\n`).join(''));
      const relayed = await readWithSdk(runPipe(relayStream(contextFor({ reasoning: { effort: 'low' } })), events));
      assert.equal(relayed.output_text, original.output_text);
      assert.equal(relayed.output.at(-1)?.type, original.output.at(-1)?.type);
    });
  }
});

test('every recorded error gives its message', async (t) => {
  for (const { file } of findRecordings(t, (recording) => recording.status !== 200)) {
    await t.test(file, () => {
      const body = JSON.parse(readText(file)) as { error: string | { message: string } };
      assert.equal(readErrorMessage(body), typeof body.error === 'string' ? body.error : body.error.message);
      assert.throws(() => readAnswer(body), UnreadableAnswer);
    });
  }
});

test('every recorded request is accepted', async (t) => {
  for (const { request_file: file } of findRecordings(t, (recording) => recording.request_file !== null)) {
    await t.test(file!, () => {
      const body = JSON.parse(readText(file!)) as JsonObject;
      assert.equal(parseRequest(body, { chatMaxTokens: null }).model, body.model);
    });
  }
});

/** Texts, reasoning and calls, which are what can be asked for here; the SDK's accumulator does not know every event of hosted tools. */
function isPlain({ file }: Recording): boolean {
  return /stream_propagation|bedrock|deepseek|pdf|azure/.test(file);
}

function findRecordings(t: TestContext, isWanted: (recording: Recording) => boolean): Recording[] {
  const index = new URL('index.json', folder);
  if (!existsSync(index)) {
    assert.ok(!process.env.CI, 'the recordings are missing');
    t.diagnostic(`skipped: no recordings beside the repository`);
    return [];
  }
  const recordings = JSON.parse(readFileSync(index, 'utf8')) as Recording[];
  const found = recordings.filter((recording) => recording.format === 'openai-responses' && isWanted(recording));
  assert.ok(found.length > 0);
  return found;
}

function readText(file: string): string {
  return readFileSync(new URL(file, folder), 'utf8');
}

/** One recording holds two streams behind each other. */
function firstResponse(events: readonly SseEvent[]): SseEvent[] {
  const end = events.findIndex(({ data }) => /"type":\s*"response\.(?:completed|failed)"/.test(data));
  return events.slice(0, end + 1);
}

/** The same bytes in pieces of one to seven, which cut lines, events and characters. */
function parseSplit(bytes: Uint8Array): SseEvent[] {
  const parser = new SseParser();
  const events: SseEvent[] = [];
  for (let start = 0, size = 1; start < bytes.length; start += size, size = (size % 7) + 1) {
    events.push(...parser.push(bytes.subarray(start, start + size)));
  }
  return [...events, ...parser.end()];
}

/** What a reader of the JSON would say of a response. */
function plainReading(body: JsonObject): object {
  const output = body.output as JsonObject[];
  const usage = body.usage as Record<string, number>;
  return {
    texts: output.flatMap((item) =>
      item.type === 'message' ? (item.content as { text: string }[]).map(({ text }) => text) : [],
    ),
    calls: output.filter((item) => item.type === 'function_call').map((item) => [item.call_id, item.name, item.arguments]),
    encrypted: output.filter((item) => item.type === 'reasoning' && typeof item.encrypted_content === 'string').length,
    tokens: [usage.input_tokens, usage.output_tokens],
  };
}

function summarise({ content, usage }: Answer): object {
  return {
    texts: content.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
    calls: content.flatMap((part) => (part.type === 'tool-call' ? [[part.id, part.name, part.arguments]] : [])),
    encrypted: content.filter((part) => part.type === 'thinking' && part.signature?.vendor === 'openai').length,
    tokens: usage && [usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens, usage.outputTokens],
  };
}

/** OpenAI encrypts the same reasoning anew in each event that holds it. */
function withoutSignatures({ content, ...answer }: Answer): object {
  return {
    ...answer,
    content: content.map((part): AssistantPart => (part.type === 'thinking' ? { ...part, signature: null } : part)),
  };
}

/** The documented edits, undone, give the upstream's response again. */
function checkEdits(original: JsonObject, relayed: JsonObject): void {
  const originalOutput = original.output as JsonObject[];
  const output = (relayed.output as JsonObject[]).slice((relayed.output as JsonObject[]).length - originalOutput.length);
  assert.equal(relayed.model, 'catalogue/model');
  for (const item of output) if (item.type === 'function_call') assert.equal(item.id, item.call_id);
  const undone = output.map((item, index) => ({ ...item, id: originalOutput[index]?.id }));
  assert.deepEqual({ ...relayed, model: original.model, output: undone }, original);
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
