import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeEvent, encodeInvoked, encodeText } from '../../../tests/support/event-stream.ts';
import { shownAnswer, toServerSentEvents } from './events.ts';

async function framesOf(...messages: readonly Buffer[]): Promise<string> {
  async function* chunks() {
    yield* messages;
  }
  let text = '';
  for await (const chunk of toServerSentEvents(chunks())) text += Buffer.from(chunk).toString();
  return text;
}

test('an event has the name and the JSON of its message', async () => {
  const stop = { stopReason: 'end_turn', p: 'abc' };
  assert.equal(
    await framesOf(encodeEvent('messageStop', stop)),
    `event: messageStop\ndata: ${JSON.stringify(stop)}\n\n`,
  );
});

test('an event of invoke is the vendor’s own, without what Bedrock adds', async () => {
  const ping = { type: 'ping', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 1 } };
  assert.equal(await framesOf(encodeInvoked(ping)), 'event: ping\ndata: {"type":"ping"}\n\n');
  // What has nothing added keeps its bytes: a big number is not read and written again.
  const big = '{"type":"a","n":12345678901234567890}';
  const inner = { bytes: Buffer.from(big).toString('base64') };
  assert.equal(await framesOf(encodeEvent('chunk', inner)), `event: a\ndata: ${big}\n\n`);
});

test('JSON in several lines is one event', async () => {
  const text = '{\n  "stopReason": "end_turn"\r\n}';
  assert.equal(
    await framesOf(encodeText('messageStop', text)),
    'event: messageStop\ndata: {   "stopReason": "end_turn" }\n\n',
  );
});

test('a whole answer is shown without what Bedrock adds, and stays the same object without it', () => {
  const answer = { content: [] };
  assert.equal(shownAnswer(answer), answer);
  assert.deepEqual(shownAnswer({ ...answer, 'amazon-bedrock-trace': {} }), answer);
  for (const other of [null, 'text', 1, []]) assert.equal(shownAnswer(other), other);
});
