// Relays every answer in Anthropic's format, our own and the recorded ones, and compares it with what
// the upstream sent. tests/recordings.test.ts compares what clients of all formats read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../lib/json.ts';
import { collect } from '../../../tests/support/canonical/answers.ts';
import { answerContext, runPipe, runReader } from '../../../tests/support/formats/messages.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import { eventsOf } from '../../../tests/support/plain/reading.ts';
import { readPlainly } from '../../../tests/support/plain/read-plainly.ts';
import { loadRecordings } from '../../../tests/support/recordings.ts';
import { messages } from './index.ts';

const answers = loadRecordings()
  .filter(({ format, status }) => format === 'messages' && status === 200)
  .map(({ file, stream, bytes }) => ({ name: file, stream, text: firstAnswer(bytes.toString()) }))
  .filter(({ stream, text }) => readPlainly('messages', stream, text).stop !== 'failed');

/** One of the recordings holds two streams in sequence. */
function firstAnswer(text: string): string {
  const second = text.indexOf('event: message_start', text.indexOf('event: message_start') + 1);
  return second === -1 ? text : text.slice(0, second);
}

for (const { name, text } of answers.filter(({ stream }) => !stream)) {
  test(`${name}: the answer is relayed with only the model changed`, () => {
    const body = JSON.parse(text) as JsonObject;
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

for (const { name, text } of answers.filter(({ stream }) => stream)) {
  test(`${name}: the stream is relayed with only the model changed`, () => {
    const pipe = messages.relay.relayStream(answerContext({ model: 'catalogue/id' }));
    const relayed = runPipe(pipe, parseSse(text));
    const { usage } = collect(runReader(messages.readStream(), parseSse(text)))!;
    assert.equal(eventsOf(relayed)[0]!['message'].model, 'catalogue/id');
    // Our own count is shown when the upstream counted nothing.
    if (usage) assert.deepEqual(relayedEvents(relayed), relayedEvents(text, { cost: 0 }));
    assert.deepEqual(pipe.progress.usage, usage);
    assert.equal(pipe.progress.output.bytes, generatedBytes(text));
  });

  test(`${name}: the stream is complete with its stop reason, and gets a missing end`, () => {
    const events = parseSse(text);
    const place = events.findIndex(({ event }) => event === 'message_delta');
    const cut = events.slice(0, place + 1);
    const pipe = messages.relay.relayStream(answerContext());
    assert.ok(runPipe(pipe, cut).endsWith('data: {"type":"message_stop"}\n\n'));
    assert.equal(pipe.progress.status, 'finished');
    assert.equal(runReader(messages.readStream(), cut).at(-1)?.type, 'finish');
  });
}
