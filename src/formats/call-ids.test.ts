import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { fitMistralCallId, fitOpenAiCallId, isMistral } from './call-ids.ts';

test('an id that fits is kept, and any other is always mapped to the same id', () => {
  assert.equal(fitOpenAiCallId('functions.search:0'), 'functions.search:0');
  assert.equal(fitOpenAiCallId('x'.repeat(64)), 'x'.repeat(64));
  assert.equal(fitMistralCallId('aB3456789'), 'aB3456789');
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 200 }), (id) => {
      assert.ok(fitOpenAiCallId(id).length <= 64);
      assert.match(fitMistralCallId(id), /^[a-zA-Z0-9]{9}$/);
      assert.equal(fitMistralCallId(id), fitMistralCallId(id));
    }),
  );
  assert.notEqual(fitOpenAiCallId('x'.repeat(65)), fitOpenAiCallId('x'.repeat(66)));
});

test('Mistral’s models are recognised by name', () => {
  const names = [
    'mistral-large-latest',
    'mistralai/devstral-small',
    'codestral-2508',
    'magistral-medium',
    'ministral-8b',
    'open-mixtral-8x7b',
  ];
  assert.deepEqual(
    names.filter((name) => !isMistral(name)),
    [],
  );
  assert.ok(!isMistral('gpt-5') && !isMistral('llama-4'));
});
