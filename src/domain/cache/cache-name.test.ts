import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from '../../../tests/support/property.ts';
import { createSecret } from '../../lib/secrets.ts';
import { type CachedRequest, nameCached, nameKeyFrom } from './cache-name.ts';

const nameKey = nameKeyFrom(createSecret('a secret'));
const asked: CachedRequest = {
  accountId: 'acc',
  generation: 0,
  mode: 'live',
  method: 'POST',
  path: '/v1/messages',
  stream: false,
  modelId: 'm',
  route: 'p m messages',
  versionHeaders: { 'anthropic-beta': 'a' },
  body: { temperature: 0, messages: [{ role: 'user', content: 'Hi' }] },
};
const digestOf = (change: Partial<CachedRequest> = {}) =>
  nameCached(nameKey, { ...asked, ...change }).digest;

test('a difference in any part gives another name', () => {
  const changes: Partial<CachedRequest>[] = [
    {},
    { accountId: 'acc2' },
    { generation: 1 },
    { mode: 'test' },
    { method: 'PUT' },
    { path: '/v1/responses' },
    { stream: true },
    { modelId: 'm2' },
    { route: 'q m messages' },
    { versionHeaders: {} },
    { versionHeaders: { 'anthropic-beta': 'b' } },
    { versionHeaders: { 'anthropic-version': 'a' } },
    { body: { ...(asked.body as object), temperature: 1 } },
    { body: [asked.body] },
    // The same characters, split elsewhere.
    { modelId: 'mp', route: ' m messages' },
    { method: 'POST/v1', path: '/messages' },
  ];
  assert.equal(new Set(changes.map(digestOf)).size, changes.length);
});

test('the digest depends on the secret, and the name contains account and generation', () => {
  assert.notEqual(nameCached(nameKeyFrom(createSecret('another')), asked).digest, digestOf());
  const { digest, ...rest } = nameCached(nameKey, asked);
  assert.deepEqual(rest, { accountId: 'acc', generation: 0 });
  assert.match(digest, /^[\w-]{43}$/);
});

test('bodies share a name if and only if they are equal JSON', () => {
  const json = fc.json({ maxDepth: 4 });
  fc.assert(
    fc.property(json, json, (one, other) => {
      const bodies = [JSON.parse(one), JSON.parse(other)];
      const [first, second] = bodies.map((body) => digestOf({ body }));
      assert.equal(first === second, isSameJson(bodies[0], bodies[1]));
      assert.equal(digestOf({ body: turned(bodies[0]) }), first);
    }),
    { numRuns: 300 },
  );
});

test('one changed value gives another name; another order of fields does not', () => {
  const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null));
  const any = fc.dictionary(fc.string(), leaf, { minKeys: 1 });
  fc.assert(
    fc.property(any, leaf, fc.nat(), (members, value, at) => {
      const name = Object.keys(members)[at % Object.keys(members).length]!;
      const changed = { ...members, [name]: value };
      const isSame = digestOf({ body: [members] }) === digestOf({ body: [changed] });
      assert.equal(isSame, isSameJson(members, changed));
      const more = { ...members, [`${name}+`]: 1 };
      assert.notEqual(digestOf({ body: members }), digestOf({ body: more }));
    }),
    { numRuns: 300 },
  );
  assert.notEqual(digestOf({ body: JSON.parse('[1e999]') }), digestOf({ body: [null] }));
  assert.notEqual(digestOf({ body: JSON.parse('{"__proto__":1}') }), digestOf({ body: {} }));
});

/** `-0` and `0` are equal as JSON numbers. */
function isSameJson(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(withoutMinusZero(one), withoutMinusZero(other));
}

function withoutMinusZero(value: unknown): unknown {
  return rebuild(value, (names) => names);
}

/** The same JSON with the names of every object in reverse order. */
function turned(value: unknown): unknown {
  return rebuild(value, (names) => names.toReversed());
}

function rebuild(value: unknown, order: (names: string[]) => string[]): unknown {
  if (value === 0) return 0;
  if (Array.isArray(value)) return value.map((item) => rebuild(item, order));
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  const copy = {};
  for (const name of order(Object.keys(members))) {
    const attributes = { enumerable: true, writable: true, configurable: true };
    Object.defineProperty(copy, name, { value: rebuild(members[name], order), ...attributes });
  }
  return copy;
}
