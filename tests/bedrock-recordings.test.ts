// Everything recorded of Amazon Bedrock: binary streams cut anywhere and damaged, and answers of Converse
// and of Claude by `invoke`, read as they were written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerCollector, type Answer } from '../src/canonical/answer.ts';
import { UpstreamBroken } from '../src/canonical/upstream-broken.ts';
import { upstreamFormats } from '../src/formats/registry.ts';
import { DamagedEventStream, EventStreamParser } from '../src/lib/event-stream.ts';
import { isObject, type JsonObject } from '../src/lib/json.ts';
import { SseParser } from '../src/lib/sse.ts';
import { toServerSentEvents } from '../src/providers/bedrock/events.ts';
import { loadCloudRecordings, type CloudRecording } from './support/cloud-recordings.ts';

const streams = loadCloudRecordings('bedrock/converse-stream', 'bedrock/invoke-stream').filter(
  ({ file }) => file.endsWith('.b64'),
);
const converse = loadCloudRecordings('bedrock/converse');

type Payload = { readonly name: string; readonly data: JsonObject };

function parse(pieces: Iterable<Buffer>): Payload[] {
  const parser = new EventStreamParser();
  const payloads: Payload[] = [];
  for (const piece of pieces)
    for (const { headers, payload } of parser.push(piece))
      payloads.push({
        name: headers.get(':event-type')!,
        data: JSON.parse(payload.toString()) as JsonObject,
      });
  parser.end();
  return payloads;
}

function* bytesOf(bytes: Buffer): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at++) yield bytes.subarray(at, at + 1);
}

for (const { file, bytes } of streams) {
  test(`${file}: the same messages come out whole and byte by byte`, () => {
    const whole = parse([bytes]);
    assert.ok(whole.length > 0);
    assert.deepEqual(parse(bytesOf(bytes)), whole);
  });

  test(`${file}: a flipped byte, and an end in the middle, are noticed`, () => {
    const step = Math.max(1, Math.floor(bytes.length / 200));
    for (let at = 0; at < bytes.length; at += step) {
      const damaged = Buffer.from(bytes);
      damaged[at]! ^= 0x10;
      assert.throws(() => parse([damaged]), DamagedEventStream, `byte ${at}`);
    }
    assert.throws(() => parse([bytes.subarray(0, -1)]), DamagedEventStream);
  });
}

async function readAsStream(format: 'converse' | 'messages', pieces: Iterable<Buffer>) {
  const reader = upstreamFormats[format].readStream();
  const parser = new SseParser();
  const collector = new AnswerCollector();
  async function* chunks() {
    yield* pieces;
  }
  for await (const chunk of toServerSentEvents(chunks()))
    for (const frame of parser.push(chunk))
      for (const event of reader.push(frame)) {
        assert.notEqual(event.type, 'error', JSON.stringify(event));
        collector.push(event);
      }
  for (const event of reader.end()) {
    assert.notEqual(event.type, 'error', JSON.stringify(event));
    collector.push(event);
  }
  return collector.answer!;
}

type Frame = {
  readonly start?: { readonly toolUse?: { readonly name: string; readonly type?: string } };
  readonly delta?: {
    readonly text?: string;
    readonly reasoningContent?: { readonly text?: string };
    readonly toolUse?: { readonly input: string };
  };
};

type Block = {
  readonly text?: string;
  readonly citationsContent?: { readonly content?: readonly { readonly text: string }[] };
  readonly reasoningContent?: { readonly reasoningText?: { readonly text: string } };
  readonly toolUse?: { readonly name: string; readonly input: unknown; readonly type?: string };
};

/** What the frames say, read without our reader. */
function plainOfConverse(payloads: readonly Payload[]) {
  const calls: { name: unknown; input: string }[] = [];
  let text = '';
  let reasoning = '';
  let usage: JsonObject = {};
  for (const { name, data } of payloads) {
    const { start, delta } = data as Frame;
    if (start?.toolUse && start.toolUse.type !== 'server_tool_use')
      calls.push({ name: start.toolUse.name, input: '' });
    text += delta?.text ?? '';
    reasoning += delta?.reasoningContent?.text ?? '';
    if (delta?.toolUse && calls.length > 0) calls.at(-1)!.input += delta.toolUse.input;
    if (name === 'metadata') usage = data['usage'] as JsonObject;
  }
  return { text, reasoning, calls, usage };
}

function plainOf({ content, usage }: Answer) {
  const textOf = (type: 'text' | 'thinking') =>
    content.flatMap((part) => (part.type === type ? part.text : [])).join('');
  return {
    text: textOf('text'),
    reasoning: textOf('thinking'),
    calls: content.flatMap((part) =>
      part.type === 'tool-call' ? { name: part.name, input: part.arguments } : [],
    ),
    usage: [
      usage?.inputTokens,
      usage?.cacheReadTokens,
      (usage?.cacheWriteTokens ?? 0) + (usage?.cacheWrite1hTokens ?? 0),
      usage?.outputTokens,
    ],
  };
}

function countsOf(usage: JsonObject) {
  const { inputTokens, outputTokens, cacheReadInputTokens = 0, cacheWriteInputTokens = 0 } = usage;
  return [inputTokens, cacheReadInputTokens, cacheWriteInputTokens, outputTokens];
}

const isServersTool = ({ bytes }: CloudRecording) => bytes.includes('server_tool_use');

for (const recording of streams.filter(({ group }) => group === 'bedrock/converse-stream')) {
  if (isServersTool(recording)) continue;
  test(`${recording.file}: the stream reads as its frames say`, async () => {
    const plain = plainOfConverse(parse([recording.bytes]));
    const read = plainOf(await readAsStream('converse', [recording.bytes]));
    assert.deepEqual(read, { ...plain, usage: countsOf(plain.usage) });
    assert.deepEqual(plainOf(await readAsStream('converse', bytesOf(recording.bytes))), read);
  });
}

for (const { file, status, bytes } of converse.filter(({ file: name }) => name.endsWith('.json'))) {
  test(`${file}: the answer reads as it is written`, () => {
    const body = JSON.parse(bytes.toString()) as JsonObject;
    if (status !== 200) {
      assert.equal(upstreamFormats.converse.readBilledAnswer(body), null);
      return;
    }
    const { content } = (body['output'] as { message: { content: Block[] } }).message;
    const read = plainOf(upstreamFormats.converse.readAnswer(body));
    const isOwn = ({ type }: { readonly type?: string }) => type !== 'server_tool_use';
    assert.deepEqual(read, {
      text: content
        .map(({ text, citationsContent }) =>
          citationsContent
            ? (citationsContent.content ?? []).map((one) => one.text).join('')
            : (text ?? ''),
        )
        .join(''),
      reasoning: content
        .map(({ reasoningContent }) => reasoningContent?.reasoningText?.text ?? '')
        .join(''),
      calls: content.flatMap(({ toolUse }) =>
        toolUse && isOwn(toolUse)
          ? { name: toolUse.name, input: JSON.stringify(toolUse.input) }
          : [],
      ),
      usage: countsOf(body['usage'] as JsonObject),
    });
  });
}

for (const { file, bytes, path } of streams.filter(
  ({ group }) => group === 'bedrock/invoke-stream',
)) {
  if (!path.includes('claude')) continue;
  test(`${file}: Claude’s own events come out of the frames of invoke`, async () => {
    const events = parse([bytes]).map(
      ({ data }) =>
        JSON.parse(Buffer.from(String(data['bytes']), 'base64').toString()) as JsonObject,
    );
    if (!events.some(({ type }) => type === 'message_start')) return;
    const text = events
      .map(({ delta }) =>
        isObject(delta) && typeof delta['text'] === 'string' ? delta['text'] : '',
      )
      .join('');
    const read = plainOf(await readAsStream('messages', bytesOf(bytes)));
    assert.equal(read.text, text);
    assert.ok(read.usage.every((count) => count !== undefined));
  });
}

test('a damaged stream gives what came before, and then breaks', async () => {
  const { bytes } = streams.find(({ group }) => group === 'bedrock/converse-stream') ?? {};
  if (!bytes) return;
  const damaged = Buffer.from(bytes);
  damaged[damaged.length - 3]! ^= 1;
  async function* chunks() {
    yield damaged;
  }
  const seen: string[] = [];
  await assert.rejects(async () => {
    for await (const chunk of toServerSentEvents(chunks())) seen.push(chunk.toString());
  }, UpstreamBroken);
  assert.match(seen.join(''), /messageStart/);
});
