import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import type { WholeResponse } from '../../canonical/stored-response.ts';
import type { KnownRequest } from '../../gateway/known-request.ts';
import type { ApiKey } from '../../keys/api-key.ts';
import { type Known, type KnownHead, KnownRequests } from './known-requests.ts';

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

type Sent = { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** As Node hands it over. */
const requestOf = ({ url, headers }: Sent) =>
  ({ method: 'POST', httpVersion: '1.1', url, headers }) as unknown as IncomingMessage;

const sent = fc.record({
  url: fc.constantFrom('/v1/chat/completions', '/v1/messages'),
  headers: fc.record({
    authorization: fc.constantFrom('Bearer one', 'Bearer two'),
    'idempotency-key': fc.constantFrom('a', 'b'),
    'content-length': fc.constantFrom('10', '11'),
  }),
});
const steps = fc.array(fc.record({ action: fc.constantFrom('find', 'remember', 'forget'), sent }), { maxLength: 60 });

test('a head is known while it is remembered, with the key that it has now', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const requests = new KnownRequests(headerNames);
      const model = new Map<string, ApiKey>();
      for (const [index, step] of all.entries()) {
        const request = requestOf(step.sent);
        const name = requests.nameHead(request);
        if (step.action === 'remember') {
          const key = { id: `key ${index}` } as ApiKey;
          requests.rememberHead(request, key);
          model.set(name, key);
        } else if (step.action === 'forget') {
          const head = requests.findHead(request);
          if (head) requests.forgetHead(head);
          model.delete(name);
        }
        const found = requests.findHead(request);
        assert.equal(found?.key, model.get(name));
        if (found) assert.equal(found.name, name);
      }
    }),
  );
});

function newHead(authorization = 'Bearer one', requests = known): KnownHead {
  const request = requestOf({ url: '/v1/messages', headers: { authorization, 'content-length': '10' } });
  requests.rememberHead(request, { id: 'key' } as ApiKey);
  return requests.findHead(request)!;
}

/** Kept here, so that none is collected while a test runs. */
const answers: WholeResponse[] = [];

const find = (requests: KnownRequests, head: KnownHead, body: Uint8Array) => requests.find(head, requests.nameBody(body));

function rememberIn(requests: KnownRequests, head: KnownHead, body: Uint8Array, answerBytes = 10): Known {
  const answer = { body: Buffer.from(body).toString('latin1') } as WholeResponse;
  answers.push(answer);
  const remembered: Known = {
    name: requests.nameBody(body),
    request: {} as KnownRequest,
    answer: new WeakRef(answer),
    headers: [],
    encoding: 'utf8',
  };
  requests.remember(head, remembered, answerBytes);
  return remembered;
}

test('a body is found by all of its bytes, and under its own head alone', () => {
  const requests = new KnownRequests(headerNames);
  const [head, other] = [newHead('Bearer one', requests), newHead('Bearer two', requests)];
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 3_000 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (body, at, by) => {
      const changed = body.slice();
      changed[at % body.length]! ^= by;
      const remembered = rememberIn(requests, head, body);
      assert.equal(find(requests, head, body.slice()), remembered);
      assert.notEqual(find(requests, head, changed), remembered);
      assert.notEqual(find(requests, other, body), remembered);
      const again = rememberIn(requests, head, body);
      assert.equal(find(requests, head, body), again);
    }),
  );
});

test('the memory is bounded: what was used longest ago is forgotten', () => {
  const requests = new KnownRequests(headerNames, { memoryBytes: 10_000 });
  const head = newHead('Bearer one', requests);
  const bodyOf = (count: number) => Buffer.from(`body ${count}`);
  const isKnown = (count: number) => find(requests, head, bodyOf(count)) !== undefined;
  for (let count = 0; count < 100; count++) rememberIn(requests, head, bodyOf(count), 1_000);
  assert.ok(isKnown(99));
  assert.ok(!isKnown(90));
  assert.ok(head.requests.size < 10, 'nothing is left of the others');
  rememberIn(requests, head, Buffer.from('long'), 20_000);
  assert.equal(find(requests, head, Buffer.from('long')), undefined);
  requests.forgetHead(head);
  assert.equal(head.requests.size, 0);
});

test('what can be of no use any more is swept out', () => {
  const requests = new KnownRequests(headerNames);
  const [head, other] = [newHead('Bearer one', requests), newHead('Bearer two', requests)];
  const kept = rememberIn(requests, head, Buffer.from('kept'));
  rememberIn(requests, other, Buffer.from('kept'));
  const gone = requests.nameBody(Buffer.from('gone'));
  requests.remember(head, { ...kept, name: gone, answer: { deref: () => undefined } as Known['answer'] }, 10);
  assert.equal(head.requests.size, 2);
  requests.sweep((key) => key === head.key);
  assert.deepEqual([head.requests.size, other.requests.size, other.key], [1, 0, null]);
  assert.equal(find(requests, head, Buffer.from('kept')), kept);
});

test('the bytes of a long body are made once, and go when its request is forgotten', () => {
  const requests = new KnownRequests(headerNames, { memoryBytes: 100_000 });
  const head = newHead('Bearer one', requests);
  const remembered = rememberIn(requests, head, Buffer.from('é'.repeat(20_000)), 40_000);
  const answer = remembered.answer.deref()!;
  const bytes = requests.bodyOf(answer);
  assert.deepEqual(bytes, Buffer.from(answer.body));
  assert.equal(requests.bodyOf(answer), bytes);
  for (let count = 0; count < 100; count++) rememberIn(requests, head, Buffer.from(`body ${count}`), 1_000);
  assert.notEqual(requests.bodyOf(answer), bytes);
  assert.equal(requests.bodyOf({ body: 'short' } as WholeResponse), 'short');
});
