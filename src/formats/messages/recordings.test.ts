// Reads answers in Anthropic's format, our own and the recorded ones, with the format and with an
// independent reader. Both must agree on the content.
import { answerEvents } from '../../../tests/support/canonical/answers.ts';
import { readErrorMessage } from '../error-message.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { AnswerCollector, type Answer } from '../../canonical/answer.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { AssistantPart } from '../../canonical/request.ts';
import { SseParser } from '../../lib/sse.ts';
import type { JsonObject } from '../../lib/json.ts';
import { UnreadableAnswer } from '../format.ts';
import { writeCitation } from './citations.ts';
import { eventsOf, type Json } from '../../../tests/support/plain/reading.ts';
import { loadRecordings } from '../../../tests/support/recordings.ts';
import { answerContext, runPipe, runReader } from '../../../tests/support/formats/messages.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import { messages } from './index.ts';

const answers = loadRecordings()
  .filter(({ format }) => format === 'messages')
  .map(({ file, stream, bytes }) => ({
    name: file,
    stream,
    text: firstAnswer(bytes.toString('utf8')),
  }));
const wholeAnswers = answers.filter(({ stream }) => !stream);
const streams = answers.filter(({ stream, text }) => stream && !text.includes('event: error'));

/** One of the recordings holds two streams in sequence. */
function firstAnswer(text: string): string {
  const second = text.indexOf('event: message_start', text.indexOf('event: message_start') + 1);
  return second === -1 ? text : text.slice(0, second);
}

type Plain = {
  text: string;
  thinking: string;
  signatures: string[];
  calls: unknown[];
  citations: unknown[];
  /** The reason of a refusal. */
  explanation: string;
  stop: unknown;
  usage: Record<string, unknown>;
};
type Block = Record<string, string> & { input?: unknown; citations?: JsonObject[] | null };

/** Collects the blocks and totals of a stream as its documentation describes. */
function readByHand(sse: string): Plain & { model: unknown } {
  const blocks: (Block & { json: string })[] = [];
  let end: Json = {};
  let usage: Record<string, unknown> = {};
  let model: unknown;
  for (const event of eventsOf(sse)) {
    if (event['type'] === 'message_start') ({ usage = {}, model } = event['message']);
    if (event['type'] === 'content_block_start') {
      const { citations, ...block } = event['content_block'];
      blocks[event['index']] = { ...block, citations: [...(citations ?? [])], json: '' };
    }
    if (event['type'] === 'content_block_delta') {
      const block = blocks[event['index']]!;
      const { delta } = event;
      if (delta.type === 'text_delta') block.text += delta.text;
      if (delta.type === 'thinking_delta') block.thinking += delta.thinking;
      if (delta.type === 'signature_delta') block.signature += delta.signature;
      if (delta.type === 'citations_delta') block.citations!.push(delta.citation);
      if (delta.type === 'input_json_delta') block.json += delta.partial_json;
    }
    if (event['type'] === 'message_delta') {
      end = event['delta'] as Json;
      const counts = Object.entries((event['usage'] ?? {}) as Record<string, unknown>);
      // Some hosts leave out at the end what they counted at the start.
      usage = {
        ...usage,
        ...Object.fromEntries(counts.filter(([name, count]) => count !== 0 || !usage[name])),
      };
    }
  }
  return { ...plainOf(blocks), ...endOf(end), usage, model };
}

function endOf({
  stop_reason: stop,
  stop_details: details,
}: Json): Pick<Plain, 'stop' | 'explanation'> {
  return { stop, explanation: details?.explanation ?? '' };
}

function plainOf(blocks: readonly Block[]): Omit<Plain, 'stop' | 'explanation' | 'usage'> {
  const of = (type: string) => blocks.filter((block) => block.type === type);
  return {
    text: of('text')
      .map((block) => block.text)
      .join('|'),
    thinking: of('thinking')
      .map((block) => block.thinking)
      .join('|'),
    signatures: [
      ...of('thinking').map((block) => block.signature!),
      ...of('redacted_thinking').map((block) => block.data!),
    ],
    // Older recordings lack the newer field.
    citations: of('text').flatMap(({ citations }) =>
      (citations ?? []).map((one) => ('document_index' in one ? { file_id: null, ...one } : one)),
    ),
    calls: of('tool_use').map((block) => [
      block.id,
      block.name,
      block.json || JSON.stringify(block.input),
    ]),
  };
}

const stopNames: Record<string, string> = {
  end_turn: 'end',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  pause_turn: 'pause',
  refusal: 'refusal',
  stop_sequence: 'stop-sequence',
};

function assertSame(answer: Answer, plain: Plain): void {
  const of = <T extends AssistantPart['type']>(type: T) =>
    answer.content.filter(
      (part): part is Extract<AssistantPart, { type: T }> => part.type === type,
    );
  assert.equal(
    of('text')
      .map((part) => part.text)
      .join('|'),
    plain.text,
  );
  const thinking = of('thinking');
  assert.equal(
    thinking
      .filter((part) => !part.redacted)
      .map((part) => part.text)
      .join('|'),
    plain.thinking,
  );
  const signatures = [
    ...thinking.filter((part) => !part.redacted),
    ...thinking.filter((part) => part.redacted),
  ];
  assert.deepEqual(
    signatures.map((part) => part.signature),
    plain.signatures.map((value) => ({ vendor: 'anthropic', value })),
  );
  assert.deepEqual(
    of('tool-call').map((part) => [part.id, part.name, part.arguments]),
    plain.calls,
  );
  assert.deepEqual(
    of('text').flatMap((part) => (part.citations ?? []).map(writeCitation)),
    plain.citations,
  );
  assert.deepEqual(
    of('refusal').map((part) => part.text),
    plain.explanation === '' ? [] : [plain.explanation],
  );
  assert.equal(answer.stop.reason, stopNames[plain.stop as string]);
  const { usage } = plain;
  if (usage.input_tokens === undefined) return assert.equal(answer.usage, null);
  const long =
    (usage.cache_creation as Record<string, number> | undefined)?.ephemeral_1h_input_tokens ?? 0;
  assert.deepEqual(answer.usage, {
    inputTokens: usage.input_tokens,
    cacheReadTokens: usage.cache_read_input_tokens ?? 0,
    cacheWriteTokens: ((usage.cache_creation_input_tokens as number | undefined) ?? 0) - long,
    cacheWrite1hTokens: long,
    outputTokens: usage.output_tokens,
    reasoningTokens:
      (usage.output_tokens_details as Record<string, number> | undefined)?.thinking_tokens ?? 0,
  });
}

function collect(events: Iterable<StreamEvent>): Answer {
  const collector = new AnswerCollector();
  for (const event of events) collector.push(event);
  assert.ok(collector.answer, 'the stream finishes');
  return collector.answer;
}

for (const { name, text } of wholeAnswers) {
  const body = JSON.parse(text) as JsonObject & Json & { content: Block[] };
  if (body.type === 'error') {
    test(`${name}: the error has a message and is not read as an answer`, () => {
      assert.throws(() => messages.readAnswer(body), UnreadableAnswer);
      assert.equal(readErrorMessage(body), (body.error as { message: string }).message);
    });
    continue;
  }
  test(`${name}: the answer is read in full, and relayed with only the model changed`, () => {
    assertSame(messages.readAnswer(body), {
      ...plainOf(body.content),
      ...endOf(body),
      usage: body['usage'],
    });
    const relayed = messages.relay.relayAnswer(body, answerContext({ model: 'catalogue/id' }));
    assert.deepEqual(relayed.body, { ...body, model: 'catalogue/id' });
    assert.deepEqual(relayed.usage, messages.readAnswer(body).usage);
  });
}

/** Bytes of the text, and of the reasoning as shown or as sealed, whichever is more. */
function generatedBytes(stream: string): number {
  const events = eventsOf(stream);
  const of = (field: string) =>
    events.map(
      (event) => (event['delta']?.[field] ?? event['content_block']?.[field] ?? '') as unknown,
    );
  const sealed = [...of('signature'), ...of('data')].map((value) =>
    Math.floor(((value as string).length * 3) / 4),
  );
  const [text, input, thinking] = [of('text'), of('partial_json'), of('thinking')].map((texts) =>
    Buffer.byteLength(texts.join('')),
  );
  return (
    text! +
    input! +
    Math.max(
      thinking!,
      sealed.reduce((sum, size) => sum + size, 0),
    )
  );
}

/** Joins data lines, adds the cost to the last usage, drops `[DONE]` and adds a missing end. */
function relayedEvents(text: string, cost: object = {}): object[] {
  const events = parseSse(text).filter(
    ({ event, data }) => event !== 'message_start' && data !== '[DONE]',
  );
  const sent = events.map(({ event, data }) => ({
    event,
    data:
      event === 'message_delta'
        ? withUsage(data, cost)
        : data.includes('\n')
          ? JSON.stringify(JSON.parse(data))
          : data,
  }));
  return sent.at(-1)?.event === 'message_stop'
    ? sent
    : [...sent, { event: 'message_stop', data: '{"type":"message_stop"}' }];
}

function withUsage(data: string, more: object): string {
  const event = JSON.parse(data) as { usage: object };
  return JSON.stringify({ ...event, usage: { ...event.usage, ...more } });
}

for (const { name, text } of streams) {
  const isCounted = readByHand(text).usage.input_tokens !== undefined;

  test(`${name}: the stream is read in full`, () => {
    assertSame(collect(runReader(messages.readStream(), parseSse(text))), readByHand(text));
  });

  test(`${name}: the stream is relayed with only the model changed`, () => {
    const pipe = messages.relay.relayStream(answerContext({ model: 'catalogue/id' }));
    const relayed = runPipe(pipe, parseSse(text));
    const { usage, ...said } = readByHand(relayed);
    const { usage: counted, ...expected } = readByHand(text);
    assert.deepEqual(said, { ...expected, model: 'catalogue/id' });
    // Our own count is shown when the upstream counted nothing.
    if (isCounted) assert.deepEqual(usage, { ...counted, cost: 0 });
    else assert.ok((usage.input_tokens as number) > 0 && (usage.output_tokens as number) > 0);
    if (isCounted) assert.deepEqual(relayedEvents(relayed), relayedEvents(text, { cost: 0 }));
    assert.deepEqual(
      pipe.progress.usage,
      collect(runReader(messages.readStream(), parseSse(text))).usage,
    );
    assert.equal(pipe.progress.output.bytes, generatedBytes(text));
  });

  test(`${name}: the stream survives being written and read again`, () => {
    const events = runReader(messages.readStream(), parseSse(text));
    const answer = collect(events);
    for (const source of [events, [...answerEvents(answer)]]) {
      const frames = runPipe(messages.writeStream(answerContext()), source);
      const { usage, ...again } = collect(runReader(messages.readStream(), parseSse(frames)));
      const { usage: counted, ...expected } = answer;
      assert.deepEqual(again, expected);
      if (isCounted) assert.deepEqual(usage, counted);
    }
  });

  test(`${name}: the client gets the same frames however the stream is split`, () => {
    const bytes = Buffer.from(text);
    const whole = runPipe(messages.relay.relayStream(answerContext()), parseSse(text));
    const wholeEvents = runReader(messages.readStream(), parseSse(text));
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 40 }), (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const parser = new SseParser();
        const split = places
          .slice(1)
          .flatMap((end, index) => parser.push(bytes.subarray(places[index], end)));
        split.push(...parser.end());
        assert.equal(runPipe(messages.relay.relayStream(answerContext()), split), whole);
        assert.deepEqual(runReader(messages.readStream(), split), wholeEvents);
      }),
      { numRuns: 5 },
    );
  });

  test(`${name}: the stream fails when cut before its stop reason, and is complete after it`, () => {
    const events = parseSse(text);
    const place = events.findIndex(({ event }) => event === 'message_delta');
    for (const [length, type, status] of [
      [place, 'error', 'failed'],
      [place + 1, 'finish', 'finished'],
    ] as const) {
      const pipe = messages.relay.relayStream(answerContext());
      const relayed = runPipe(pipe, events.slice(0, length));
      assert.equal(runReader(messages.readStream(), events.slice(0, length)).at(-1)?.type, type);
      assert.equal(pipe.progress.status, status);
      assert.equal(relayed.endsWith('data: {"type":"message_stop"}\n\n'), status === 'finished');
    }
  });
}
