import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import type { ModelList } from '../domain/catalog/listing.ts';
import { pageOf } from './models-page.ts';

function listOf(count: number): ModelList {
  const data = Array.from({ length: count }, (_, index) => ({
    id: `m${index}`,
    object: 'model' as const,
    created: 0,
    owned_by: 'x',
    type: 'model' as const,
    display_name: 'M',
    created_at: '1970-01-01T00:00:00Z',
  }));
  return {
    object: 'list',
    data,
    has_more: false,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

const idsOf = ({ data }: ModelList) => data.map(({ id }) => id);

test('a list of any length, in pages of any size, is read whole in both directions', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 1, max: 70 }),
      (count, limit) => {
        const list = listOf(count);
        const forward: string[] = [];
        let page = pageOf(list, { limit: String(limit) });
        for (forward.push(...idsOf(page)); page.has_more; forward.push(...idsOf(page))) {
          assert.equal(page.data.length, limit);
          page = pageOf(list, { limit: String(limit), after_id: page.last_id });
        }
        assert.deepEqual(forward, idsOf(list));
        if (count === 0) return;
        const backward: string[] = [list.last_id!];
        page = pageOf(list, { limit: String(limit), before_id: list.last_id });
        for (backward.unshift(...idsOf(page)); page.has_more; backward.unshift(...idsOf(page))) {
          assert.equal(page.data.length, limit);
          page = pageOf(list, { limit: String(limit), before_id: page.first_id });
        }
        assert.deepEqual(backward, idsOf(list));
      },
    ),
  );
});

test('the whole list is returned unless a page is asked for; a page has 20 models by default', () => {
  const list = listOf(30);
  assert.equal(pageOf(list, { other: '1' }), list);
  assert.deepEqual(idsOf(pageOf(list, { after_id: 'm3' })), idsOf(list).slice(4, 24));
  assert.deepEqual(pageOf(list, { after_id: 'm29' }), {
    ...list,
    data: [],
    first_id: null,
    last_id: null,
  });
});
