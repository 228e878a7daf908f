import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventParser } from './event-stream.ts';

const text =
  'event: message_start\ndata: {"a":1}\n\n: keep-alive\n\ndata: one\ndata: two\r\n\r\n: cost_micros=5 balance_cents=3\ndata: [DONE]\n\n';
const parts = [
  { kind: 'event', event: 'message_start', data: '{"a":1}' },
  { kind: 'comment', text: 'keep-alive' },
  { kind: 'event', event: '', data: 'one\ntwo' },
  { kind: 'comment', text: 'cost_micros=5 balance_cents=3' },
  { kind: 'event', event: '', data: '[DONE]' },
];

test('events and comments are read, however the text is split', () => {
  for (let size = 1; size <= text.length; size++) {
    const parser = new EventParser();
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g'))!;
    assert.deepEqual(
      pieces.flatMap((piece) => parser.push(piece)),
      parts,
      `in pieces of ${size}`,
    );
  }
});

test('an event that lacks its end is none', () => {
  assert.deepEqual(new EventParser().push('data: one\n'), []);
});
