import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastDays, readFilters } from './request-filters.ts';

test('filters are read from the address, and invalid values are ignored', () => {
  const read = (search: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(readFilters(search)).filter(([, value]) => value !== undefined),
    );
  const filters = {
    key: 'key_1',
    model: 'gpt-5-mini',
    endpoint: 'web-search',
    outcome: 'cut-off',
    code: 'model_not_found',
    from: '2026-11-01',
    to: '2026-11-30',
  };
  assert.deepEqual(read({ ...filters, mode: 'test', request: 'req_1' }), filters);
  assert.deepEqual(
    read({ key: '', endpoint: 'toString', outcome: 'good', from: '2026-02-30', to: 'yesterday' }),
    {},
  );
});

test('days are in UTC and include today', () => {
  const nowMs = Date.UTC(2026, 2, 1, 0, 30);
  assert.deepEqual(lastDays(1, nowMs), { from: '2026-03-01', to: '2026-03-01' });
  assert.deepEqual(lastDays(7, nowMs), { from: '2026-02-23', to: '2026-03-01' });
});
