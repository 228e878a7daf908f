import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { ConfigError, formatPath, parsePath } from './config-error.ts';

test('a formatted path parses to the same path', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('gpt-4.1', 'a"b', 'a\\', '0')),
        { minLength: 1 },
      ),
      (names) => {
        assert.deepEqual(parsePath(formatPath(names)), names);
      },
    ),
  );
  assert.deepEqual(parsePath('models["gpt-4.1"].routes[0].api'), [
    'models',
    'gpt-4.1',
    'routes',
    0,
    'api',
  ]);
});

test('a message has the location, the field, the problem and the remedy, in this order', () => {
  const location = { file: 'tollgate.yaml', line: 4, column: 9 };
  const error = new ConfigError({
    location,
    field: 'server.port',
    problem: 'must be 1; got 2',
    remedy: 'Write 1.',
  });
  assert.equal(error.message, 'tollgate.yaml:4:9: server.port must be 1; got 2. Write 1.');
  assert.equal(error.name, 'ConfigError');
});
