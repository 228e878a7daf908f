import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPending } from '../../../tests/support/is-pending.ts';
import { TestClock } from '../../../tests/support/test-clock.ts';
import type { Found } from '../../terms/search-source.ts';
import { searchSandbox } from './search.ts';

const running = new AbortController().signal;
const clock = new TestClock();
const find = (query: string, num = 3, signal = running) =>
  searchSandbox(clock).find({ query, num }, { signal, trace: null });

function pagesOf(found: Found) {
  assert.equal(found.kind, 'found', JSON.stringify(found));
  return found.pages;
}

function failureOf(found: Found) {
  assert.equal(found.kind, 'failure', JSON.stringify(found));
  return found.failure;
}

test('a query always gets the same pages, as many as requested, each with its own URL', async () => {
  const pages = pagesOf(await find('cats & dogs', 50));
  assert.deepEqual(pages, pagesOf(await find('cats & dogs', 50)));
  assert.equal(new Set(pages.map(({ url }) => url)).size, 50);
  assert.deepEqual(pages[0], {
    title: 'Result 1 for “cats &amp; dogs”',
    url: 'https://example.com/1?q=cats+%26+dogs',
    snippet: 'What the sandbox has to say of “cats &amp; dogs”. No web was searched.',
    date: '2026-01-01T00:00:00.000Z',
    score: 1,
  });
});

test('directives are obeyed and are not part of the query', async () => {
  const found = find('cats\nsandbox: delay_ms=50');
  await clock.advance(49);
  assert.ok(await isPending(found));
  await clock.advance(1);
  const [page] = pagesOf(await found);
  assert.equal(page!.title, 'Result 1 for “cats”');
});

test('a status directive fails like a provider', async () => {
  const { kind, status, retryAfterSeconds } = failureOf(await find('sandbox: status=503'));
  assert.deepEqual([kind, status, retryAfterSeconds], ['status', 503, 1]);
  assert.equal(failureOf(await find('cats\nsandbox: status=500')).retryAfterSeconds, null);
});

for (const query of [
  'sandbox: tokens=5',
  'sandbox: think=x',
  'sandbox: tool=t',
  'sandbox: usage=none',
  'sandbox: pace_ms=5',
  'sandbox: cut_after=1',
]) {
  test(`${query} is refused in a search`, async () => {
    const { status, message } = failureOf(await find(query));
    assert.equal(status, 400);
    assert.match(message, /is not known. The directives are delay_ms, status\./);
  });
}

test('a malformed directive is explained', async () => {
  const { status, message } = failureOf(await find('sandbox: statsu=500'));
  assert.equal(status, 400);
  assert.match(message, /`sandbox: statsu=500` is not known/);
});

test('an abort ends the delay', async () => {
  const controller = new AbortController();
  const found = find('sandbox: delay_ms=60000', 3, controller.signal);
  controller.abort();
  assert.equal(failureOf(await found).kind, 'connection');
  assert.equal(failureOf(await find('cats', 3, controller.signal)).kind, 'connection');
});
