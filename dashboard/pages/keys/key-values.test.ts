import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changedControls,
  controlsOf,
  copiedValues,
  emptyValues,
  problemsOf,
  valuesOf,
  type Key,
} from './key-values.ts';

const spend = {
  spent_micros: 0,
  held_micros: 0,
  resets_at: '2026-11-23T00:00:00.000Z',
  forecast_micros: null,
};
const key: Key = {
  id: 'key_1',
  mode: 'live',
  name: 'build',
  hint: 'tg_live_…abcd',
  state: 'active',
  daily_cap_micros: 1_234_500_000,
  monthly_cap_micros: null,
  today: spend,
  this_month: spend,
  models: ['gpt-6-luna'],
  scopes: ['usage'],
  requests_per_minute: 0,
  tokens_per_minute: null,
  concurrent_requests: 8,
  allowed_addresses: ['10.0.0.0/8'],
  expires_at: '2027-01-31T18:00:00.000Z',
  body_days: 3,
  cache_marks: false,
  created_at: '2026-11-22T00:00:00.000Z',
  last_used_at: null,
  owner: null,
  disabled_at: null,
  revoked_at: null,
  account_id: 'acc_1',
  account_name: 'Acme',
};

test('an unchanged form gives the same key and no changes', () => {
  assert.deepEqual(controlsOf(valuesOf(key)), {
    name: 'build',
    daily_cap_micros: 1_234_500_000,
    monthly_cap_micros: null,
    models: ['gpt-6-luna'],
    scopes: ['usage'],
    requests_per_minute: 0,
    tokens_per_minute: null,
    concurrent_requests: 8,
    allowed_addresses: ['10.0.0.0/8'],
    expires_at: '2027-01-31T18:00:00.000Z',
    body_days: 3,
    cache_marks: false,
  });
  assert.deepEqual(changedControls(valuesOf(key), valuesOf(key)), {});
});

test('only changed fields are sent, and emptied fields are cleared', () => {
  const before = valuesOf(key);
  const after = {
    ...before,
    dailyCap: '',
    models: [],
    scopes: ['usage', 'images', 'run'],
    requestsPerMinute: '',
    addresses: [],
    expires: '',
    bodyDays: '',
    cacheMarks: true,
    monthlyCap: '0',
  };
  assert.deepEqual(changedControls(before, after), {
    daily_cap_micros: null,
    monthly_cap_micros: 0,
    models: null,
    scopes: null,
    requests_per_minute: null,
    allowed_addresses: null,
    expires_at: null,
    body_days: null,
    cache_marks: true,
  });
  assert.deepEqual(
    changedControls(before, { ...before, dailyCap: ' $1234.50 ' }),
    {},
    'the same amount, written differently',
  );
});

test('a key needs a name, and caps must be amounts', () => {
  const problems = problemsOf({ ...emptyValues, name: ' ', dailyCap: 'five', monthlyCap: '' });
  assert.ok(problems.name && problems.dailyCap);
  assert.equal(problems.monthlyCap, null);
  assert.ok(problemsOf({ ...emptyValues, name: 'a', scopes: [] }).scopes);
  assert.deepEqual(Object.values(problemsOf({ ...emptyValues, name: 'a' })), [
    null,
    null,
    null,
    null,
    null,
  ]);
});

test('a duplicate has the caps and limits of its key, another name, no past expiry, and keeps no bodies', () => {
  assert.deepEqual(copiedValues(key), {
    ...valuesOf(key),
    name: 'build (copy)',
    bodyDays: '',
  });
  const expired = copiedValues({ ...key, name: 'n'.repeat(200), state: 'expired' });
  assert.equal(expired.expires, '');
  assert.equal(expired.name.length, 200);
  assert.deepEqual(problemsOf(expired).name, null);
});
