import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import { contextFor, dataEvent, requestFor } from '../../../tests/support/formats/chat.ts';
import { chat } from './index.ts';

const target = {
  model: 'm',
  stream: false,
  maxOutputTokens: 100,
  thinking: false,
  isOpenAi: false,
};
const asked = { web_search_options: { search_context_size: 'low' } };
const answer = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
};

test('a request asks for one search or none', () => {
  const tool = { name: 'web_search_preview', searchesMax: 1, limitField: null };
  assert.deepEqual(chat.relay.searchTool(requestFor(asked)), tool);
  assert.deepEqual(chat.relay.searchTool(requestFor({ web_search_options: {} })), tool);
  for (const fields of [{}, { web_search_options: null }])
    assert.equal(chat.relay.searchTool(requestFor(fields)), null);
});

test('several answers with a search are refused, because their searches cannot be counted', () => {
  assertRefused(() => chat.relay.searchTool(requestFor({ ...asked, n: 2 })), 'n');
});

test('with a price the field passes unchanged; without one, and in translation, it is refused by name', () => {
  const { body, ignored } = chat.relay.writeRequest(requestFor(asked), {
    ...target,
    searchesMax: 1,
  });
  assert.deepEqual([body.web_search_options, ignored], [asked.web_search_options, []]);
  for (const [run, message] of [
    [() => chat.relay.writeRequest(requestFor(asked), target), /`tool_prices`/],
    [() => chat.readRequest(requestFor(asked)), /does not run there/],
  ] as const) {
    assertRefused(run, 'web_search_options', message);
  }
});

test('a search counts once per answer, and in a stream once it has begun', () => {
  assert.equal(chat.relay.relayAnswer(answer, contextFor(asked)).searches, 1);
  assert.equal(chat.relay.relayAnswer(answer, contextFor()).searches, 0);
  for (const [fields, expected] of [
    [asked, 1],
    [{}, 0],
  ] as const) {
    const pipe = chat.relay.relayStream(contextFor(fields));
    assert.equal(pipe.progress.searches ?? 0, 0);
    pipe.push(dataEvent({ choices: [{ index: 0, delta: { role: 'assistant', content: 'H' } }] }));
    assert.equal(pipe.progress.searches, expected);
  }
});
