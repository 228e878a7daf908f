import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentAnswers } from './recent-answers.ts';
import type { RequestName } from './request-name.ts';

const name: RequestName = {
  keyId: 'key_1',
  generation: 3,
  keyDigest: 'digest',
  fingerprint: 'asked',
};
const response = {
  status: 200,
  contentType: 'application/json',
  headers: {},
  body: Buffer.from('{}'),
};

test('an answer is remembered for its key until it expires, and another request under the key is a conflict', () => {
  let now = 1_000;
  const recent = new RecentAnswers(() => now);
  assert.equal(recent.get(name), undefined);
  recent.set(name, response, 500);
  assert.deepEqual(recent.get(name), { kind: 'stored', response });
  assert.deepEqual(recent.get({ ...name, fingerprint: 'another' }), { kind: 'conflict' });
  now = 1_501;
  assert.equal(recent.get(name), undefined);
});

test('a short answer takes no more memory than its bytes', () => {
  const recent = new RecentAnswers(() => 0);
  recent.set(name, response, 500);
  const recalled = recent.get(name);
  assert.ok(recalled?.kind === 'stored');
  assert.equal(recalled.response.body?.buffer.byteLength, response.body.length);
});

test('nothing is remembered across API keys, names, or a purge', () => {
  const recent = new RecentAnswers(() => 0);
  recent.set(name, response, 500);
  for (const change of [{ keyId: 'key_2' }, { keyDigest: 'another' }, { generation: 4 }])
    assert.equal(recent.get({ ...name, ...change }), undefined);
});

test('an expired answer, or one larger than the memory budget, is not kept', () => {
  const recent = new RecentAnswers(() => 0);
  recent.set(name, response, 0);
  assert.equal(recent.get(name), undefined);
  recent.set(name, { ...response, body: Buffer.alloc(33 * 1024 * 1024) }, 500);
  assert.equal(recent.get(name), undefined);
});
