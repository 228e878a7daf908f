// The rate-limit headers, read by a parser of structured fields.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseList } from 'structured-headers';
import type { Headers } from '../client.ts';
import fc from '../../../tests/support/property.ts';
import { rateRefusal, slotRefusal, withRateHeaders } from './rate-limit-refusal.ts';

const perMinute = fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.maxSafeNat());
const state = fc.record({
  id: fc.constant('b'),
  perMinute,
  scope: fc.constantFrom('key' as const, 'account' as const),
  amount: fc.integer({ min: 1, max: 1_000_000_000 }),
  left: fc.double({ min: -1e12, max: Number.MAX_SAFE_INTEGER, noNaN: true }),
});
const integerMax = 999_999_999_999_999;

type Member = { readonly name: string; readonly parameters: Record<string, unknown> };

function membersOf(field: string | undefined): Member[] {
  return parseList(field!).map(([name, parameters]) => {
    assert.equal(typeof name, 'string', 'a policy is named by a String');
    return { name: name as string, parameters: Object.fromEntries(parameters) };
  });
}

/** Compares the fields of the draft with those in OpenAI's style, which other tests check. */
function check(headers: Headers, units: readonly string[]): void {
  const capped = (name: string) => Math.min(Number(headers[name]), integerMax);
  const policies = membersOf(headers['ratelimit-policy']);
  assert.deepEqual(
    policies,
    units.map((name) => ({
      name,
      parameters: {
        q: capped(`x-ratelimit-limit-${name}`),
        ...(name === 'tokens' && { qu: 'tokens' }),
        w: 60,
      },
    })),
  );
  const limits = membersOf(headers['ratelimit']);
  assert.deepEqual(
    limits.map(({ name }) => name),
    units,
  );
  for (const { name, parameters } of limits) {
    assert.deepEqual(Object.keys(parameters), ['r', 't']);
    assert.equal(parameters['r'], capped(`x-ratelimit-remaining-${name}`));
    assert.ok(Number.isInteger(parameters['t']) && Number(parameters['t']) >= 0);
  }
}

test('the limits of any budgets are structured fields that agree with the x-ratelimit headers', () => {
  fc.assert(
    fc.property(state, state, (requests, tokens) => {
      const first = withRateHeaders({}, { ...requests, unit: 'requests' });
      check(first, ['requests']);
      check(withRateHeaders(first, { ...tokens, unit: 'tokens' }), ['requests', 'tokens']);
    }),
  );
});

test('a refusal names the time of Retry-After in the limit that refused', () => {
  fc.assert(
    fc.property(state, state, (requests, tokens) => {
      const before = withRateHeaders({}, { ...requests, unit: 'requests' });
      const { headers, retryAfterSeconds } = rateRefusal({ ...tokens, unit: 'tokens' }, before);
      check(headers, ['requests', 'tokens']);
      const [, refused] = membersOf(headers['ratelimit']);
      if (tokens.perMinute === 0) assert.equal(retryAfterSeconds, null);
      else assert.equal(refused!.parameters['t'], Math.min(retryAfterSeconds!, integerMax));
    }),
  );
});

test('a limit of 0 says that only a change ends it, and a limit of 1 is singular', () => {
  const need = { id: 'b', unit: 'requests', scope: 'key', amount: 1, left: 0 } as const;
  const none = rateRefusal({ ...need, perMinute: 0 }, {});
  const noSlot = slotRefusal({ id: 's', scope: 'key', max: 0 }, {});
  for (const { message, retryAfterSeconds, headers } of [none, noSlot]) {
    assert.match(message, /^This key may (?:send|run) no requests: .* Have the limit raised\.$/);
    assert.deepEqual([retryAfterSeconds, headers['x-should-retry']], [null, 'false']);
  }
  const one = rateRefusal({ ...need, perMinute: 1 }, {});
  assert.match(one.message, /^This key may send 1 request a minute\. Retry in 60 s\.$/);
});

test('`t` is the time until one more is available, and 0 when the limit is full', () => {
  const timeOf = (left: number, limit = 30) => {
    const need = { id: 'b', unit: 'requests', perMinute: limit, scope: 'key', amount: 1 } as const;
    const headers = withRateHeaders({}, { ...need, left });
    const [member] = membersOf(headers['ratelimit']);
    return [member?.parameters['r'], member?.parameters['t']];
  };
  assert.deepEqual(timeOf(30), [30, 0]);
  assert.deepEqual(timeOf(29), [29, 2]);
  assert.deepEqual(timeOf(4.5), [4, 1]);
  assert.deepEqual(timeOf(0), [0, 2]);
  assert.deepEqual(timeOf(599, 600), [599, 1]);
});
