import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { expandVariables, maskVariables, unmaskVariables } from './variables.ts';

test('masking keeps every line and column and is exactly reversible', () => {
  const pieces = fc.constantFrom('${A}', '$${A}', '${', '}', '$', 'text', '\n', '${B_2}', '${1}');
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      const text = parts.join('');
      const masked = maskVariables(text);
      assert.equal(masked.length, text.length);
      assert.equal(unmaskVariables(masked), text);
    }),
  );
});

test('a value is expanded exactly once, whatever the variables hold', () => {
  const env = { A: '${B}', B: '$${A}' };
  assert.deepEqual(expandVariables(maskVariables('x${A}y$${A}z${B}'), env), {
    kind: 'expanded',
    text: 'x${B}y${A}z$${A}',
    variables: ['A', 'B'],
  });
  assert.deepEqual(expandVariables(maskVariables('plain $5'), env), {
    kind: 'plain',
    text: 'plain $5',
  });
});

test('unset and malformed references are distinguished', () => {
  assert.deepEqual(expandVariables(maskVariables('${A}${C}'), { A: 'a' }), {
    kind: 'unset',
    variable: 'C',
  });
  assert.deepEqual(expandVariables(maskVariables('${A:-x}'), { A: 'a' }), { kind: 'malformed' });
});
