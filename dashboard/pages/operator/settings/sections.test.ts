import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Setting } from '../../../../src/management/contract/service.ts';
import { sectionsOf, valueText } from './sections.ts';

function setting(path: string, rest: Partial<Setting> = {}): Setting {
  return {
    path,
    value: null,
    is_secret: false,
    is_set: true,
    is_default: true,
    description: '',
    ...rest,
  };
}

const settings = [
  setting('server.port', { value: 4000 }),
  setting('server.host', {
    value: '0.0.0.0',
    is_default: false,
    description: 'The address to listen at.',
  }),
  setting('providers["my one"].api_key', { is_secret: true, is_default: false }),
  setting('providers.other.api_key', { is_secret: true, is_set: false }),
  setting('log_level', { value: 'info' }),
];

const found = (text: string, show: 'all' | 'set' | 'secret' = 'all') =>
  sectionsOf(settings, { text, show }).map(({ name, settings: own }) => [
    name,
    ...own.map(({ path }) => path),
  ]);

test('settings are grouped by the first part of their path, in order', () => {
  assert.deepEqual(found(''), [
    ['server', 'server.port', 'server.host'],
    ['providers', 'providers["my one"].api_key', 'providers.other.api_key'],
    ['log_level', 'log_level'],
  ]);
  assert.deepEqual(
    sectionsOf(settings, { text: 'port', show: 'all' }).map(({ changed }) => changed),
    [1],
    'counted over the whole section',
  );
});

test('a search matches all its words in paths, descriptions and values', () => {
  assert.deepEqual(found('LISTEN server'), [['server', 'server.host']]);
  assert.deepEqual(found('4000'), [['server', 'server.port']]);
  assert.deepEqual(found('listen 4000'), []);
});

test('settings can be filtered by changed and by secret', () => {
  assert.deepEqual(found('', 'set'), [
    ['server', 'server.host'],
    ['providers', 'providers["my one"].api_key'],
  ]);
  assert.deepEqual(found('', 'secret'), [
    ['providers', 'providers["my one"].api_key', 'providers.other.api_key'],
  ]);
});

test('values are formatted as in the file', () => {
  assert.deepEqual(['a', 5, false, null, ['x']].map(valueText), [
    'a',
    '5',
    'false',
    'none',
    '[\n  "x"\n]',
  ]);
});
