import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFilters, toSearch } from './request-filters.ts';

test('filters are read from the address, and invalid values are ignored', () => {
  const read = (search: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(readFilters(search)).filter(([, value]) => value !== undefined),
    );
  const filters = {
    key: 'key_1',
    model: 'gpt-6-luna',
    endpoint: 'web-search',
    outcome: 'cut-off',
    code: 'model_not_found',
    tag: 'project=alpha',
    provider: 'openai',
    member: 'usr_1',
    from: '2026-11-01',
    to: '2026-11-30',
  };
  assert.deepEqual(read({ ...filters, mode: 'test', request: 'req_1' }), filters);
  const bounds = { hour: '167', cost_min_micros: '1', cost_max_micros: '0', duration_min_ms: '50' };
  assert.deepEqual(read(bounds), {
    hour: 167,
    cost_min_micros: 1,
    cost_max_micros: 0,
    duration_min_ms: 50,
  });
  assert.deepEqual(toSearch(readFilters(bounds)), { ...toSearch({}), ...bounds });
  assert.deepEqual(Object.keys(toSearch({})), Object.keys(readFilters({})));
  assert.deepEqual(
    read({
      key: '',
      hour: '168',
      cost_min_micros: '-1',
      cost_max_micros: '1.5',
      duration_min_ms: '2147483648',
      endpoint: 'toString',
      outcome: 'good',
      from: '2026-02-30',
      to: 'yesterday',
    }),
    {},
  );
});
