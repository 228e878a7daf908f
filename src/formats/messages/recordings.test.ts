// Recorded answers of Anthropic's, read by us and, independently, by hand: what the model said must be the same on every way.
import { answerEvents } from '../../../tests/support/canonical/answers.ts';
import { readErrorMessage } from '../error-message.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AnswerCollector, type Answer } from '../../canonical/answer.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { AssistantPart } from '../../canonical/request.ts';
import { SseParser } from '../../lib/sse.ts';
import { UnreadableAnswer, type JsonObject } from '../format.ts';
import { writeCitation } from './citations.ts';
import { answerContext, eventsOf, parseSse, readRecordings, runPipe, runReader } from './fixture.ts';
import { messages } from './index.ts';

type Plain = {
  text: string;
  thinking: string;
  signatures: string[];
  calls: unknown[];
  citations: unknown[];
  stop: unknown;
  usage: Record<string, unknown>;
};
type Block = Record<string, string> & { input?: unknown; citations?: JsonObject[] | null };

/** The blocks and totals of a recorded stream, gathered as its documentation says. */
function readByHand(sse: string): Plain & { model: unknown } {
  const blocks: (Block & { json: string })[] = [];
  let stop: unknown = null;
  let usage: Record<string, unknown> = {};
  let model: unknown;
  for (const line of sse.split('\n').filter((candidate) => candidate.startsWith('data:'))) {
    const event = JSON.parse(line.slice(5));
    if (event.type === 'message_start') ({ usage, model } = event.message);
    if (event.type === 'content_block_start') {
      const { citations, ...block } = event.content_block;
      blocks[event.index] = { ...block, citations: [...(citations ?? [])], json: '' };
    }
    if (event.type === 'content_block_delta') {
      const block = blocks[event.index]!;
      const { delta } = event;
      if (delta.type === 'text_delta') block.text += delta.text;
      if (delta.type === 'thinking_delta') block.thinking += delta.thinking;
      if (delta.type === 'signature_delta') block.signature += delta.signature;
      if (delta.type === 'citations_delta') block.citations!.push(delta.citation);
      if (delta.type === 'input_json_delta') block.json += delta.partial_json;
    }
    if (event.type === 'message_delta') {
      stop = event.delta.stop_reason;
      usage = { ...usage, ...event.usage };
    }
  }
  return { ...plainOf(blocks), stop, usage, model };
}

function plainOf(blocks: readonly Block[]): Omit<Plain, 'stop' | 'usage'> {
  const of = (type: string) => blocks.filter((block) => block.type === type);
  return {
    text: of('text')
      .map((block) => block.text)
      .join('|'),
    thinking: of('thinking')
      .map((block) => block.thinking)
      .join('|'),
    signatures: [...of('thinking').map((block) => block.signature!), ...of('redacted_thinking').map((block) => block.data!)],
    // Older recordings lack the newer field.
    citations: of('text').flatMap(({ citations }) =>
      (citations ?? []).map((one) => ('url' in one ? one : { file_id: null, ...one })),
    ),
    calls: of('tool_use').map((block) => [block.id, block.name, block.json || JSON.stringify(block.input)]),
  };
}

const stopNames: Record<string, string> = {
  end_turn: 'end',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  refusal: 'refusal',
  stop_sequence: 'stop-sequence',
};

function assertSame(answer: Answer, plain: Plain): void {
  const of = <T extends AssistantPart['type']>(type: T) =>
    answer.content.filter((part): part is Extract<AssistantPart, { type: T }> => part.type === type);
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
  const signatures = [...thinking.filter((part) => !part.redacted), ...thinking.filter((part) => part.redacted)];
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
  assert.equal(answer.stop.reason, stopNames[plain.stop as string]);
  const { usage } = plain;
  const long = (usage.cache_creation as Record<string, number> | undefined)?.ephemeral_1h_input_tokens ?? 0;
  assert.deepEqual(answer.usage, {
    inputTokens: usage.input_tokens,
    cacheReadTokens: usage.cache_read_input_tokens ?? 0,
    cacheWriteTokens: ((usage.cache_creation_input_tokens as number | undefined) ?? 0) - long,
    cacheWrite1hTokens: long,
    outputTokens: usage.output_tokens,
    reasoningTokens: (usage.output_tokens_details as Record<string, number> | undefined)?.thinking_tokens ?? 0,
  });
}

function collect(events: Iterable<StreamEvent>): Answer {
  const collector = new AnswerCollector();
  for (const event of events) collector.push(event);
  assert.ok(collector.answer, 'the stream finishes');
  return collector.answer;
}

test('recorded answers read as what they say', (t) => {
  let answers = 0;
  for (const { name, text } of readRecordings(t, 'json')) {
    const body = JSON.parse(text) as JsonObject & { content: Block[] } & Plain & { stop_reason: unknown };
    if (body.type === 'error') {
      assert.throws(() => messages.readAnswer(body), UnreadableAnswer, name);
      assert.equal(readErrorMessage(body), (body.error as { message: string }).message);
      continue;
    }
    answers++;
    assertSame(messages.readAnswer(body), {
      ...plainOf(body.content),
      stop: body.stop_reason,
      usage: body.usage,
    });
    const relayed = messages.relay.relayAnswer(body, answerContext({ model: 'catalogue/id' }));
    assert.deepEqual(relayed.body, { ...body, model: 'catalogue/id' }, name);
    assert.deepEqual(relayed.usage, messages.readAnswer(body).usage);
  }
  assert.ok(answers > 15 || answers === 0);
});

test('recorded streams read as what they say', (t) => {
  for (const { text } of readRecordings(t, 'stream')) {
    assertSame(collect(runReader(messages.readStream(), parseSse(text))), readByHand(text));
  }
});

/** What is written, and of the reasoning what is shown or what is sealed, whichever is more. */
function generatedBytes(stream: string): number {
  const events = eventsOf(stream);
  const of = (field: string) => events.map((event) => ((event.delta ?? {}) as Record<string, string>)[field] ?? '');
  const hidden = events.map((event) => ((event.content_block ?? {}) as Record<string, string>).data ?? '');
  const sealed = [...of('signature'), ...hidden].reduce((sum, value) => sum + Math.floor((value.length * 3) / 4), 0);
  const [text, input, thinking] = ['text', 'partial_json', 'thinking'].map((field) => Buffer.byteLength(of(field).join('')));
  return text! + input! + Math.max(thinking!, sealed);
}

const withoutStart = (frames: string) => parseSse(frames).filter((event) => event.event !== 'message_start');

test('recorded streams go along the straight path with nothing changed but the model', (t) => {
  for (const { name, text } of readRecordings(t, 'stream')) {
    const pipe = messages.relay.relayStream(answerContext({ model: 'catalogue/id' }));
    const relayed = runPipe(pipe, parseSse(text));
    assert.deepEqual(readByHand(relayed), { ...readByHand(text), model: 'catalogue/id' }, name);
    assert.deepEqual(withoutStart(relayed), withoutStart(text), name);
    assert.deepEqual(pipe.progress.usage, collect(runReader(messages.readStream(), parseSse(text))).usage);
    assert.equal(pipe.progress.outputBytes, generatedBytes(text), name);
  }
});

test('recorded streams written anew and read again hold the same answer', (t) => {
  for (const { name, text } of readRecordings(t, 'stream')) {
    const events = runReader(messages.readStream(), parseSse(text));
    const answer = collect(events);
    for (const source of [events, [...answerEvents(answer)]]) {
      const frames = runPipe(messages.writeStream(answerContext()), source);
      assert.deepEqual(collect(runReader(messages.readStream(), parseSse(frames))), answer, name);
    }
  }
});

test('however a recorded stream is split into pieces, the client gets the same frames', (t) => {
  for (const { text } of readRecordings(t, 'stream')) {
    const bytes = Buffer.from(text);
    const whole = runPipe(messages.relay.relayStream(answerContext()), parseSse(text));
    const wholeEvents = runReader(messages.readStream(), parseSse(text));
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 40 }), (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const parser = new SseParser();
        const split = places.slice(1).flatMap((end, index) => parser.push(bytes.subarray(places[index], end)));
        split.push(...parser.end());
        assert.equal(runPipe(messages.relay.relayStream(answerContext()), split), whole);
        assert.deepEqual(runReader(messages.readStream(), split), wholeEvents);
      }),
      { numRuns: 5 },
    );
  }
});

test('a recorded stream that is cut off before its stop reason fails, and after it is whole', (t) => {
  for (const { name, text } of readRecordings(t, 'stream')) {
    const events = parseSse(text);
    const place = eventsOf(text).findIndex((event) => event.type === 'message_delta');
    for (const [length, type, status] of [
      [place, 'error', 'failed'],
      [place + 1, 'finish', 'finished'],
    ] as const) {
      const pipe = messages.relay.relayStream(answerContext());
      const relayed = runPipe(pipe, events.slice(0, length));
      assert.equal(runReader(messages.readStream(), events.slice(0, length)).at(-1)?.type, type, name);
      assert.equal(pipe.progress.status, status, name);
      assert.equal(relayed.endsWith('data: {"type":"message_stop"}\n\n'), status === 'finished');
    }
  }
});
