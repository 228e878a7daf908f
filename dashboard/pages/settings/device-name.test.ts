import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceName } from './device-name.ts';

test('browsers are named with their operating system', () => {
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  const edge =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0';
  const phone =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 (KHTML, like Gecko) Version/18.0 Safari/604.1';
  assert.deepEqual([firefox, edge, phone].map(deviceName), [
    'Firefox on Linux',
    'Edge on Windows',
    'Safari on iOS',
  ]);
  assert.deepEqual(['curl/8.5', ''].map(deviceName), ['curl/8.5', 'Unknown program']);
});
