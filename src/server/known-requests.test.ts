import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { WholeResponse } from '../canonical/stored-response.ts';
import type { KnownRequest } from '../gateway/known-request.ts';
import { KnownRequests } from './known-requests.ts';

const headerNames = ['authorization', 'x-api-key', 'idempotency-key'];
const known = new KnownRequests(headerNames);
const values = fc.string({ maxLength: 12 }).filter((text) => !/[\n\0]/.test(text));
const heads = fc.record({
  url: fc.constantFrom('/v1/chat/completions', '/v1/messages'),
  headers: fc.dictionary(fc.constantFrom(...headerNames), fc.oneof(values, fc.constantFrom('', 'undefined', 'null')), {
    noNullPrototype: true,
  }),
});
const plain = (value: object) => JSON.stringify(Object.entries(value).toSorted(([one], [other]) => one.localeCompare(other)));

test('heads have one name only if path and headers are the same', () => {
  fc.assert(
    fc.property(heads, heads, (one, other) => {
      const isSame = one.url === other.url && plain(one.headers) === plain(other.headers);
      assert.equal(known.nameHead(one) === known.nameHead(other), isSame);
    }),
  );
});

test('what an answer does not depend on is no part of the name', () => {
  const head = { url: '/v1/messages', headers: { authorization: 'Bearer one' } };
  assert.equal(known.nameHead({ ...head, headers: { ...head.headers, 'user-agent': 'x', host: 'y' } }), known.nameHead(head));
});

test('a body that differs in one byte has another name, and so has the same under another head', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 2_000 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (body, at, by) => {
      const changed = body.slice();
      changed[at % body.length]! ^= by;
      assert.notEqual(known.nameRequest('head', body), known.nameRequest('head', changed));
      assert.notEqual(known.nameRequest('head', body), known.nameRequest('daeh', body));
      assert.equal(known.nameRequest('head', body), known.nameRequest('head', body.slice()));
    }),
  );
});

function remembering(memoryBytes: number) {
  const requests = new KnownRequests(headerNames, { memoryBytes });
  const remember = (name: string, bytes: number) => {
    const answer = { body: name } as WholeResponse;
    requests.remember(name, { request: {} as KnownRequest, answer: new WeakRef(answer), head: [name] }, bytes);
    return answer;
  };
  return { requests, remember };
}

test('the memory is bounded: what was used longest ago is forgotten', () => {
  const { requests, remember } = remembering(10_000);
  for (let count = 0; count < 100; count++) remember(`name ${count}`, 1_000);
  assert.deepEqual(requests.find('name 99')?.head, ['name 99']);
  assert.equal(requests.find('name 90'), undefined);
  remember('long', 20_000);
  assert.equal(requests.find('long'), undefined);
});

test('the bytes of a long body are made once, and go when its request is forgotten', () => {
  const { requests, remember } = remembering(100_000);
  const answer = remember('é'.repeat(20_000), 40_000);
  const bytes = requests.bodyOf(answer);
  assert.deepEqual(bytes, Buffer.from(answer.body));
  assert.equal(requests.bodyOf(answer), bytes);
  for (let count = 0; count < 100; count++) remember(`name ${count}`, 1_000);
  assert.notEqual(requests.bodyOf(answer), bytes);
  assert.equal(requests.bodyOf({ body: 'short' } as WholeResponse), 'short');
});
