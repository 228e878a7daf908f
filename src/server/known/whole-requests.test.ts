import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import type { Known } from './known-requests.ts';
import { type WholeRequest, WholeRequests } from './whole-requests.ts';

const newRequest = (head = ''): WholeRequest => ({ known: {} as Known, route: '/', head, framing: ['', ''] });

test('a request is found by all of its bytes', () => {
  const requests = new WholeRequests();
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 3_000 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (bytes, at, by) => {
        const request = newRequest();
        requests.remember(bytes, request);
        const changed = Buffer.from(bytes);
        changed[at % bytes.length]! ^= by;
        assert.equal(requests.find(Buffer.from(bytes)), request);
        assert.notEqual(requests.find(changed), request);
        assert.notEqual(requests.find(Buffer.from(bytes.subarray(1))), request);
        assert.notEqual(requests.find(Buffer.concat([bytes, Buffer.of(0)])), request);
      },
    ),
  );
});

test('of requests that look alike at first the last is known, and none is taken for another', () => {
  const requests = new WholeRequests();
  // Between the words that are looked at.
  const [one, other] = [Buffer.alloc(100_000), Buffer.alloc(100_000)];
  other[50_007] = 1;
  requests.remember(one, newRequest());
  assert.equal(requests.find(other), undefined);
  const last = newRequest();
  requests.remember(other, last);
  assert.equal(requests.find(other), last);
  assert.equal(requests.find(one), undefined);
});

test('the memory is bounded: what was used longest ago is forgotten, and what is of no use is swept out', () => {
  const requests = new WholeRequests({ memoryBytes: 50_000 });
  const bytesOf = (count: number) => Buffer.from(`${count} `.repeat(2_000).slice(0, 3_000));
  for (let count = 0; count < 100; count++) requests.remember(bytesOf(count), newRequest(String(count).padEnd(4_000)));
  const known = () => Array.from({ length: 100 }, (_, count) => requests.find(bytesOf(count))).filter(Boolean).length;
  assert.ok(requests.find(bytesOf(99)));
  assert.ok(known() >= 8 && known() <= 10, String(known()));
  requests.sweep(({ head }) => head[1] === '8');
  assert.equal(known(), 1);
});
