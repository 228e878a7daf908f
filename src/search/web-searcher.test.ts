import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { UpstreamFailure } from '../canonical/event.ts';
import type { Found, SearchSource } from '../canonical/search-source.ts';
import { SourceHealth } from './source-health.ts';
import { createWebSearcher, type SearchAnswer, type WebSearcherOptions } from './web-searcher.ts';

const asked = { query: 'cats', num: 10 };
const running = new AbortController().signal;
const status = (code: number, more: Partial<UpstreamFailure> = {}): UpstreamFailure => ({
  kind: 'status',
  status: code,
  message: `HTTP ${code}`,
  retryAfterSeconds: null,
  ...more,
});
const broken = (kind: UpstreamFailure['kind']): UpstreamFailure => ({ ...status(0), kind, status: null });

type Played = Found | UpstreamFailure | 'hang';
type PlayedSource = SearchSource & { readonly calls: () => number; play: (...answers: Played[]) => void };

/** Plays its answers in turn, the last one for ever. */
function source(name: string, ...first: Played[]): PlayedSource {
  let answers = first;
  let calls = 0;
  return {
    name,
    calls: () => calls,
    play: (...next) => void (answers = next),
    find: async (_search, signal) => {
      calls++;
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
      if (answer !== 'hang')
        return answer.kind === 'found' || answer.kind === 'failure' ? answer : { kind: 'failure', failure: answer };
      await setTimeout(60_000, undefined, { signal }).catch(() => {});
      return { kind: 'failure', failure: broken('connection') };
    },
  };
}

const found = (title: string): Found => ({
  kind: 'found',
  pages: [{ title, url: 'https://example.com', snippet: '', date: null, score: null }],
});
const nothing: Found = { kind: 'found', pages: [] };

function searcher(sources: PlayedSource[], options: Partial<WebSearcherOptions> = {}) {
  const failures: string[] = [];
  let nowMs = 1_000_000;
  const { search } = createWebSearcher({
    sources: sources as [PlayedSource, ...PlayedSource[]],
    timeoutMs: 5_000,
    nowMs: () => nowMs,
    onFailure: (name, { kind, status: code }) => void failures.push(`${name} ${code ?? kind}`),
    ...options,
  });
  return { search: (signal = running) => search(asked, signal), failures, pass: (ms: number) => void (nowMs += ms) };
}

const providerOf = (answer: SearchAnswer) => (answer.kind === 'results' ? answer.provider : answer.failure.status);

test('the first that answers is asked alone', async () => {
  const [first, second] = [source('first', found('a')), source('second', found('b'))];
  const answer = await searcher([first, second]).search();
  assert.deepEqual(answer.kind === 'results' && [answer.provider, answer.results.length, answer.results[0]!.title], [
    'first',
    1,
    'a',
  ]);
  assert.deepEqual([first.calls(), second.calls()], [1, 0]);
});

test('nothing found is an answer', async () => {
  const second = source('second', found('b'));
  const answer = await searcher([source('first', nothing), second]).search();
  assert.deepEqual(answer, { kind: 'results', provider: 'first', results: [] });
  assert.equal(second.calls(), 0);
});

const failures: UpstreamFailure[] = [
  ...[400, 401, 402, 403, 408, 422, 429, 500, 502, 503, 504, 529].map((code) => status(code)),
  ...(['connection', 'timeout', 'unreadable', 'broken-stream'] as const).map(broken),
];
for (const failure of failures) {
  test(`the next is asked after ${failure.status ?? failure.kind}`, async () => {
    const { search, failures: noted } = searcher([source('first', failure), source('second', found('b'))]);
    assert.equal(providerOf(await search()), 'second');
    const isQuery = failure.status === 400 || failure.status === 422;
    assert.deepEqual(noted, isQuery ? [] : [`first ${failure.status ?? failure.kind}`]);
  });
}

test('when all fail, the caller is told of what may pass, and of its query only when that is all there is', async () => {
  const both = (first: number, second: number) => searcher([source('a', status(first)), source('b', status(second))]).search();
  assert.equal(providerOf(await both(503, 401)), 503);
  assert.equal(providerOf(await both(400, 503)), 503);
  assert.equal(providerOf(await both(422, 400)), 422);
});

test('who hangs leaves the next one time within the one limit', async () => {
  const { search, failures: noted } = searcher([source('first', 'hang'), source('second', found('b'))], { timeoutMs: 600 });
  const startMs = performance.now();
  assert.equal(providerOf(await search()), 'second');
  const tookMs = performance.now() - startMs;
  assert.ok(tookMs >= 290 && tookMs < 590, `${tookMs} ms`);
  assert.deepEqual(noted, ['first timeout']);
});

test('when all hang, the limit holds for them together', async () => {
  const { search } = searcher([source('a', 'hang'), source('b', 'hang'), source('c', 'hang')], { timeoutMs: 150 });
  const startMs = performance.now();
  const answer = await search();
  const tookMs = performance.now() - startMs;
  assert.equal(answer.kind === 'failure' && answer.failure.kind, 'timeout');
  assert.ok(tookMs >= 140 && tookMs < 1_000, `${tookMs} ms`);
});

test('a caller that leaves ends the search at once, and nobody is blamed for it', async () => {
  const second = source('second', found('b'));
  const { search, failures: noted } = searcher([source('first', 'hang'), second]);
  const controller = new AbortController();
  const answer = search(controller.signal);
  controller.abort();
  assert.equal((await answer).kind, 'failure');
  assert.deepEqual([second.calls(), noted], [0, []]);
});

test('who failed rests while others answer, is tried again by one search, and is first again when it answers', async () => {
  const [first, second] = [source('first', status(500)), source('second', found('b'))];
  const { search, pass } = searcher([first, second]);
  for (let count = 0; count < 5; count++) assert.equal(providerOf(await search()), 'second');
  assert.equal(first.calls(), 1);
  pass(2_000);
  assert.equal(providerOf(await search()), 'second');
  assert.equal(first.calls(), 2);
  pass(2_000);
  await search();
  assert.equal(first.calls(), 2, 'the second rest is longer');
  first.play(found('a'));
  pass(2_000);
  assert.equal(providerOf(await search()), 'first');
  assert.equal(providerOf(await search()), 'first');
  assert.equal(second.calls(), 7);
});

test('of searches at once only one tries what has rested', async () => {
  const [first, second] = [source('first', status(500), 'hang'), source('second', found('b'))];
  const { search, pass } = searcher([first, second], { timeoutMs: 400 });
  await search();
  pass(2_000);
  await Promise.all(Array.from({ length: 20 }, () => search()));
  assert.deepEqual([first.calls(), second.calls()], [2, 21]);
});

test('who rests is asked all the same when nobody else answers', async () => {
  const [first, second] = [source('first', status(500), found('a')), source('second', found('b'), status(503))];
  const { search } = searcher([first, second]);
  assert.equal(providerOf(await search()), 'second');
  assert.equal(providerOf(await search()), 'first');
});

test('a rest doubles up to a minute, is as long as the source asks for, and ends with an answer', () => {
  const health = new SourceHealth();
  const sources = [{ name: 'a' }, { name: 'b' }];
  const isResting = (nowMs: number) => health.inOrder(sources, nowMs)[0]!.name === 'b';
  for (const restMs of [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    health.noteFailure('a', status(500), 0);
    assert.deepEqual([isResting(restMs - 1), isResting(restMs)], [true, false]);
  }
  health.noteSuccess('a');
  assert.equal(isResting(0), false);
  health.noteFailure('a', status(429, { retryAfterSeconds: 90 }), 0);
  assert.deepEqual([isResting(89_999), isResting(90_000)], [true, false]);
  health.noteFailure('b', status(429, { retryAfterSeconds: 86_400 }), 0);
  health.noteSuccess('a');
  assert.deepEqual(
    health.inOrder(sources, 299_999).map(({ name }) => name),
    ['a', 'b'],
  );
});
