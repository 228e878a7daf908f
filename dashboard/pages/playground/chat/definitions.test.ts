import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSchema, parseTools, schemaExample, toolsExample } from './definitions.ts';

const parameters = { type: 'object', properties: { city: { type: 'string' } } };

test('tools of all three formats are taken', () => {
  const plain = { name: 'w', description: 'Weather.', parameters };
  for (const tool of [
    plain,
    { type: 'function', ...plain },
    { type: 'function', function: plain },
    { name: 'w', description: 'Weather.', input_schema: parameters },
  ])
    assert.deepEqual(parseTools(JSON.stringify([tool])).value, [plain]);
  assert.deepEqual(parseTools(' '), { value: [] });
  assert.equal(parseTools(toolsExample).value?.[0]?.name, 'get_weather');
  assert.deepEqual(parseTools('[{"name":"now"}]').value?.[0]?.parameters, {
    type: 'object',
    properties: {},
  });
});

test('a mistake in the tools is told with its place', () => {
  const problemOf = (value: unknown) => parseTools(JSON.stringify(value)).problem!;
  assert.match(parseTools('[{').problem!, /^This is not JSON\. /);
  assert.match(problemOf({ name: 'w' }), /a list of tools/);
  assert.match(problemOf([{ name: 'w' }, 7]), /^Tool 2 must be an object/);
  assert.match(problemOf([{ name: 'two words' }]), /^Tool 1 needs a "name"/);
  assert.match(problemOf([{ name: 'w' }, { name: 'w' }]), /Two tools are called "w"/);
  assert.match(problemOf([{ name: 'w', parameters: 'x' }]), /"parameters" of "w"/);
});

test('a schema must be one of an object', () => {
  const options = { name: 'answer', strict: true };
  assert.deepEqual(parseSchema('', options), { value: null });
  assert.equal(parseSchema(schemaExample, options).value?.strict, true);
  assert.match(parseSchema('{"type":"string"}', options).problem!, /JSON Schema of an object/);
  assert.match(parseSchema('{', options).problem!, /not JSON/);
});
