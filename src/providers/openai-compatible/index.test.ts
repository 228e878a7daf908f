import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UpstreamTarget } from '../../formats/format.ts';
import { openaiCompatible } from './index.ts';

const place = { region: null, project: null, apiVersion: null };

test('a compatible host has one path and an optional key', () => {
  assert.equal(openaiCompatible.path('chat', {} as UpstreamTarget, place), '/chat/completions');
  assert.deepEqual(openaiCompatible.headers('k', {}), { authorization: 'Bearer k' });
  assert.deepEqual(openaiCompatible.headers(null, {}), {});
});
