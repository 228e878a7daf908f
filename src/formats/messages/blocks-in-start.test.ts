import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textPart } from '../../../tests/support/canonical/parts.ts';
import { answerContext, clientNames, openPipe, playStream } from '../../../tests/support/pipes.ts';
import { readPlainly } from '../../../tests/support/plain/read-plainly.ts';

const content = [
  textPart('Let me.'),
  { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { q: 'a' } },
];
const events = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content,
      stop_reason: null,
      usage: { input_tokens: 5, output_tokens: 1 },
    },
  },
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 5 },
  },
  { type: 'message_stop' },
];
const bytes = Buffer.from(
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
);

for (const client of clientNames) {
  test(`blocks inside message_start reach a ${client} client, and are counted`, () => {
    const pipe = openPipe('messages', client, answerContext(client));
    const { text, failure } = playStream(pipe, [bytes]);
    assert.equal(failure, null);
    assert.equal(pipe.progress.output.bytes, 'Let me.'.length + '{"q":"a"}'.length);
    if (client === 'messages') {
      assert.ok(text.includes(JSON.stringify(content)));
      return;
    }
    const read = readPlainly(client, true, text);
    assert.equal(read.text, 'Let me.');
    assert.deepEqual(
      read.calls.map(({ name, arguments: args }) => [name, args]),
      [['get_weather', { q: 'a' }]],
    );
    assert.equal(read.stop, 'tools');
  });
}
