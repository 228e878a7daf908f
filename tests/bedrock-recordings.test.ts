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
import { emptyRequest } from './support/canonical/empty-request.ts';
import { userTurn } from './support/canonical/parts.ts';
import {
  loadCloudRecordings,
  readVectors,
  type CloudRecording,
} from './support/cloud-recordings.ts';

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

test('a stream cut at any of its bytes is whole in two pieces, and noticed when the rest is missing', () => {
  const [shortest] = streams.toSorted((one, other) => one.bytes.length - other.bytes.length);
  if (!shortest) return;
  const { bytes } = shortest;
  const whole = parse([bytes]);
  let ends = 0;
  for (let at = 0; at < bytes.length; at++) {
    const start = bytes.subarray(0, at);
    assert.deepEqual(parse([start, bytes.subarray(at)]), whole, `byte ${at}`);
    const flipped = Buffer.from(bytes);
    flipped[at]! ^= 1 << (at % 8);
    assert.throws(() => parse([flipped]), DamagedEventStream, `byte ${at}`);
    try {
      const { length } = parse([start]);
      assert.deepEqual(parse([start]), whole.slice(0, length));
      ends += 1;
    } catch (error) {
      assert.ok(error instanceof DamagedEventStream, `byte ${at}`);
    }
  }
  // Only between two messages an end is none of the parser's business.
  assert.equal(ends, whole.length);
});

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

test('an answer that a guardrail only masked is an ordinary one, and a blocked one is filtered', () => {
  const bodies = converse
    .filter(({ file, status }) => file.endsWith('.json') && status === 200)
    .map(({ bytes }) => JSON.parse(bytes.toString()) as JsonObject)
    .filter(({ stopReason }) => stopReason === 'guardrail_intervened');
  const stopOf = (body: JsonObject) => upstreamFormats.converse.readAnswer(body).stop.reason;
  for (const body of bodies) {
    assert.equal(stopOf(body), 'end');
    const trace = JSON.stringify(body['trace']).replaceAll('ANONYMIZED', 'BLOCKED');
    assert.equal(stopOf({ ...body, trace: JSON.parse(trace) as unknown }), 'content-filter');
    assert.equal(stopOf({ ...body, trace: undefined }), 'content-filter');
  }
  assert.ok(converse.length === 0 || bodies.length >= 3);
});

test('a stream that a guardrail masked ends as an ordinary one', async () => {
  const masked = streams.filter(({ bytes }) => bytes.includes('Guardrail masked'));
  for (const { bytes } of masked)
    assert.equal((await readAsStream('converse', [bytes])).stop.reason, 'end');
  assert.ok(streams.length === 0 || masked.length > 0);
});

test('hidden reasoning goes back as it came, and as Anthropic itself would write it', async () => {
  const isHidden = ({ file }: CloudRecording) => file.includes('thinking_part_redacted');
  const whole = converse.find((one) => isHidden(one) && one.file.endsWith('.json'));
  const stream = streams.find(isHidden);
  if (!whole || !stream) return;
  const answers: readonly (readonly [Answer, Buffer])[] = [
    [upstreamFormats.converse.readAnswer(JSON.parse(whole.bytes.toString())), whole.bytes],
    [await readAsStream('converse', [stream.bytes]), stream.bytes],
  ];
  for (const [{ content }, bytes] of answers) {
    const recorded = [...bytes.toString('latin1').matchAll(/"redactedContent":"([^"]+)"/g)].map(
      ([, text]) => text!,
    );
    const target = {
      model: 'us.anthropic.claude-3-7-sonnet-20250219-v1:0',
      stream: false,
      maxOutputTokens: 99,
      thinking: true,
      isOpenAi: false,
    };
    const messages = [
      userTurn('a'),
      {
        role: 'assistant',
        content: [
          ...content.filter((part) => part.type === 'thinking'),
          { type: 'text', text: 'So it is.' },
        ],
      },
      userTurn('b'),
    ] as const;
    const written = (format: 'converse' | 'messages', name: string) => {
      const { body } = upstreamFormats[format].writeRequest({ ...emptyRequest, messages }, target);
      return [...JSON.stringify(body).matchAll(new RegExp(`"${name}":"([^"]+)"`, 'g'))].map(
        ([, text]) => text!,
      );
    };
    assert.deepEqual(written('converse', 'redactedContent'), recorded);
    const plain = recorded.map((text) => Buffer.from(text, 'base64').toString());
    assert.ok(plain.every((text) => /^E[A-Za-z0-9+/=]+$/.test(text)));
    assert.deepEqual(written('messages', 'data'), plain);
  }
});

test('exceptions and errors in a stream are failures with their status and words', async () => {
  const { eventstream_hex: frames } = (readVectors() ?? {}) as {
    eventstream_hex?: Readonly<Record<'exception_throttling' | 'error_frame', string>>;
  };
  if (!frames) return;
  for (const [hex, status, message] of [
    [frames.exception_throttling, 429, 'Too many tokens, please wait before trying again.'],
    [frames.error_frame, 500, 'internal'],
  ] as const)
    for (const pieces of [[Buffer.from(hex, 'hex')], bytesOf(Buffer.from(hex, 'hex'))])
      await assert.rejects(readAsStream('converse', pieces), (error: UpstreamBroken) => {
        const { failure } = error;
        assert.equal(failure.kind, 'status');
        assert.deepEqual(failure.status, status);
        assert.deepEqual(failure.message, message);
        return true;
      });
});

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
