import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { upstreamCallId } from './messages/tool-input.ts';
import { fitMistralCallId, fitOpenAiCallId, fitOpenAiChatCallId, isMistral } from './call-ids.ts';

test('an id that fits is kept, and any other is always mapped to the same id', () => {
  assert.equal(fitOpenAiCallId('functions.search:0'), 'functions.search:0');
  assert.equal(fitOpenAiCallId('x'.repeat(64)), 'x'.repeat(64));
  assert.equal(fitMistralCallId('aB3456789'), 'aB3456789');
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 200 }), (id) => {
      assert.ok(fitOpenAiCallId(id).length <= 64);
      assert.ok(fitOpenAiChatCallId(id).length <= 40);
      assert.match(fitMistralCallId(id), /^[a-zA-Z0-9]{9}$/);
      assert.equal(fitMistralCallId(id), fitMistralCallId(id));
    }),
  );
  assert.notEqual(fitOpenAiCallId('x'.repeat(65)), fitOpenAiCallId('x'.repeat(66)));
});

test('Mistral’s models are recognised by name', () => {
  const names = (
    'mistral-large-latest mistralai/devstral-small codestral-2508 magistral-medium ' +
    'ministral-8b open-mixtral-8x7b'
  ).split(' ');
  assert.deepEqual(
    names.filter((name) => !isMistral(name)),
    [],
  );
  assert.ok(!isMistral('gpt-5') && !isMistral('llama-4'));
});

test('Anthropic gets an id with its characters spelled out, and of a long one a digest', () => {
  assert.equal(upstreamCallId('functions.search:0'), 'functions_x2e_search_x3a_0');
  assert.equal(upstreamCallId('x'.repeat(500)), 'x'.repeat(500));
  const long = upstreamCallId('.'.repeat(101));
  assert.match(long, /^call_[0-9a-f]{64}$/);
  assert.equal(upstreamCallId('.'.repeat(101)), long);
  assert.notEqual(upstreamCallId('.'.repeat(102)), long);
});
