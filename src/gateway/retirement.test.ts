// The headers of a model that ends, read by a parser of structured fields.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseItem } from 'structured-headers';
import fc from '../../tests/support/property.ts';
import { retirementHeaders } from './retirement.ts';

const time = fc.option(fc.integer({ min: 0, max: Date.UTC(9999, 0) / 1_000 }));
const url = 'https://llm.example.com/notices?model=old#dates';
const pages = fc.constantFrom(null, url);
const successors = fc.constantFrom(null, 'new', 'vendor/new:1@2+3');

test('any announced end is told in the syntax of its headers', () => {
  fc.assert(
    fc.property(time, time, pages, successors, (deprecated, retires, page, successor) => {
      const ms = (seconds: number | null) => (seconds === null ? null : seconds * 1_000);
      const { deprecation, sunset, link, ...others } = retirementHeaders({
        deprecatedAtMs: ms(deprecated),
        retiresAtMs: ms(retires),
        url: page,
        successor,
        isEnded: false,
      });
      assert.deepEqual(others, {});
      if (deprecated === null) assert.equal(deprecation, undefined);
      else assert.deepEqual(parseItem(deprecation!)[0], new Date(deprecated * 1_000));
      if (retires === null) assert.equal(sunset, undefined);
      else {
        assert.match(sunset!, /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/);
        assert.equal(Date.parse(sunset!), retires * 1_000);
      }
      const relations = [...(link ?? '').matchAll(/<([^>]+)>; rel="(\w+)"; type="text\/html"/g)];
      const expected = [
        ...(deprecated === null ? [] : [[url, 'deprecation']]),
        ...(retires === null ? [] : [[url, 'sunset']]),
      ];
      assert.deepEqual(
        relations.map(([, target, relation]) => [target, relation]),
        page === null ? [] : expected,
      );
      assert.equal(
        /<\/v1\/models\/([^>]+)>; rel="successor-version"$/.exec(link ?? '')?.[1],
        successor ?? undefined,
      );
    }),
  );
  assert.deepEqual(retirementHeaders(null), {});
});
