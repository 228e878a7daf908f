import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { isPending } from '../../../tests/support/is-pending.ts';
import { TestClock } from '../../../tests/support/test-clock.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Found, SearchSource } from '../../terms/search-source.ts';
import type { CallEnding } from '../../events/request-events.ts';
import type { RequestListener } from '../../events/request-listener.ts';
import type { RouteHealth } from '../calling/health.ts';
import type { RouteName } from '../calling/shared-health.ts';
import { logFailures } from '../calling/log-failures.ts';
import { RequestRecord } from '../request-record.ts';
import { createWebSearcher, type SearchAnswer } from './web-searcher.ts';

const running = new AbortController().signal;
const status = (code: number, more: Partial<UpstreamFailure> = {}): UpstreamFailure => ({
  kind: 'status',
  status: code,
  message: `HTTP ${code}`,
  retryAfterSeconds: null,
  ...more,
});
const broken = (kind: UpstreamFailure['kind']): UpstreamFailure => ({
  ...status(0),
  kind,
  status: null,
});

type Played = Found | UpstreamFailure | 'hang';
type PlayedSource = SearchSource & { readonly calls: () => number };

/** Replays its answers in order, repeating the last one. */
function source(name: string, ...answers: Played[]): PlayedSource {
  let calls = 0;
  return {
    name,
    baseUrl: 'http://127.0.0.1',
    calls: () => calls,
    find: async (_search, { signal }) => {
      calls++;
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
      if (answer !== 'hang')
        return answer.kind === 'found' || answer.kind === 'failure'
          ? answer
          : { kind: 'failure', failure: answer };
      await once(signal, 'abort');
      return { kind: 'failure', failure: broken('connection') };
    },
  };
}

const found = (title: string): Found => ({
  kind: 'found',
  pages: [{ title, url: 'https://example.com', snippet: '', date: null, score: null }],
});
const nothing: Found = { kind: 'found', pages: [] };

const clock = new TestClock();

/** Every source works. */
const health = {
  isAvailable: (_route: unknown) => true,
  begin: (_route: unknown) => {},
  noteAnswer: () => {},
  end: (_route: unknown, _ending: CallEnding) => {},
};
type Health = typeof health;

type Options = { readonly timeoutMs?: number; readonly health?: Partial<Health> };

function searcher(sources: PlayedSource[], { timeoutMs = 5_000, health: own }: Options = {}) {
  const failures: string[] = [];
  const note = (fields: object | string) => {
    const { provider, kind, upstream_status: code } = fields as Record<string, unknown>;
    failures.push(`${String(provider)} ${String(code ?? kind)}`);
  };
  const played = { ...health, ...own };
  const listener: RequestListener = {
    hear(event) {
      if (event.type === 'call-begun') played.begin(event.call);
      if (event.type === 'call-ended') played.end(event.call, event.ending);
    },
  };
  const { search } = createWebSearcher({
    health: played as unknown as RouteHealth,
    sources,
    timeoutMs,
    clock,
  });
  const listeners = [listener, logFailures({ warn: note, error: note })];
  const record = new RequestRecord('req_1', { path: '', listeners, onError: assert.ifError });
  const asked = { query: 'cats', num: 10, record };
  return {
    search: (signal = running) => search(asked, { running: signal, waiting: signal }),
    failures,
    record,
  };
}

const providerOf = (answer: SearchAnswer) =>
  answer.kind === 'results' ? answer.provider : answer.failure.status;

test('only the first source is queried when it answers', async () => {
  const [first, second] = [source('first', found('a')), source('second', found('b'))];
  const answer = await searcher([first, second]).search();
  assert.deepEqual(
    answer.kind === 'results' && [answer.provider, answer.results.length, answer.results[0]!.title],
    ['first', 1, 'a'],
  );
  assert.deepEqual([first.calls(), second.calls()], [1, 0]);
});

test('an empty result is an answer', async () => {
  const second = source('second', found('b'));
  const answer = await searcher([source('first', nothing), second]).search();
  assert.deepEqual(answer, { kind: 'results', lost: [], provider: 'first', calls: 1, results: [] });
  assert.equal(second.calls(), 0);
});

const failures: UpstreamFailure[] = [
  ...[400, 401, 402, 403, 408, 422, 429, 500, 502, 503, 504, 529].map((code) => status(code)),
  ...(['connection', 'timeout', 'unreadable', 'broken-stream'] as const).map(broken),
];
test('every source gets its turn: from two to six, whatever failed before', async () => {
  for (const count of [2, 3, 4, 5, 6]) {
    for (const [index, failure] of failures.entries()) {
      for (let place = 0; place < count; place++) {
        const sources = Array.from({ length: count }, (_, at) =>
          source(`s${at}`, at === place ? found('a') : failures[(index + at) % failures.length]!),
        );
        const where = `${place} of ${count} after ${failure.status ?? failure.kind}`;
        const { search, failures: noted } = searcher(sources);
        assert.equal(providerOf(await search()), `s${place}`, where);
        const calls = sources.map((each) => each.calls());
        assert.deepEqual(
          calls,
          sources.map((_, at) => Number(at <= place)),
          where,
        );
        const failed = sources.slice(0, place).map(({ name }, at) => {
          const { status: code, kind } = failures[(index + at) % failures.length]!;
          return `${name} ${code ?? kind}`;
        });
        assert.deepEqual(noted, failed, where);
      }
    }
  }
});

test('when all sources fail, a transient failure is reported in preference to a refused query', async () => {
  const both = (first: number, second: number) =>
    searcher([source('a', status(first)), source('b', status(second))]).search();
  assert.equal(providerOf(await both(503, 401)), 503);
  assert.equal(providerOf(await both(400, 503)), 503);
  assert.equal(providerOf(await both(422, 400)), 422);
});

test('a source that hangs leaves the next one time within the limit', async () => {
  const { search, failures: noted } = searcher(
    [source('first', 'hang'), source('second', found('b'))],
    { timeoutMs: 600 },
  );
  const answer = search();
  await clock.advance(299);
  assert.deepEqual(noted, []);
  await clock.advance(1);
  assert.deepEqual(noted, ['first timeout']);
  assert.equal(providerOf(await answer), 'second');
});

test('when all sources hang, the limit covers all of them', async () => {
  const { search } = searcher([source('a', 'hang'), source('b', 'hang'), source('c', 'hang')], {
    timeoutMs: 1_000,
  });
  const searching = search();
  await clock.advance(999);
  assert.ok(await isPending(searching));
  await clock.advance(1);
  const answer = await searching;
  assert.equal(answer.kind === 'failure' && answer.failure.kind, 'timeout');
});

test('an abort ends the search at once and is not counted as a failure', async () => {
  const second = source('second', found('b'));
  const { search, failures: noted } = searcher([source('first', 'hang'), second]);
  const controller = new AbortController();
  const answer = search(controller.signal);
  controller.abort();
  assert.equal((await answer).kind, 'failure');
  assert.deepEqual([second.calls(), noted], [0, []]);
});

test('an unhealthy source is tried last', async () => {
  const [first, second] = [source('first', found('a')), source('second', found('b'), status(503))];
  const isAvailable = (route: unknown) => (route as RouteName).provider !== 'first';
  const { search } = searcher([first, second], { health: { isAvailable } });
  assert.equal(providerOf(await search()), 'second');
  assert.equal(first.calls(), 0);
  assert.equal(providerOf(await search()), 'first');
});

const endings: [answer: Played, ending: CallEnding][] = [
  [found('a'), 'good'],
  [nothing, 'good'],
  [status(400), 'good'],
  [status(422), 'good'],
  [status(401), 'refused'],
  [status(402), 'refused'],
  [status(403), 'refused'],
  [status(429), 'bad'],
  [status(500), 'bad'],
  [broken('connection'), 'bad'],
  [broken('unreadable'), 'bad'],
  ['hang', 'bad'],
];
for (const [answer, ending] of endings) {
  const title = answer === 'hang' ? answer : answer.kind === 'status' ? answer.status : answer.kind;
  test(`${title} is reported once per call as ${ending}`, async () => {
    const events: string[] = [];
    const told = {
      begin: (route: unknown) => void events.push(`${(route as RouteName).provider} begins`),
      end: (route: unknown, how: CallEnding) =>
        void events.push(`${(route as RouteName).provider} ${how}`),
    };
    const started = searcher([source('first', answer)], { health: told, timeoutMs: 50 });
    const searching = started.search();
    await clock.advance(50);
    await searching;
    assert.deepEqual(events, ['first begins', `first ${ending}`]);
    const [one, ...others] = started.record.fields.tries!;
    assert.deepEqual(
      [one!.provider, one!.ending, others],
      ['first', ending === 'good' && !('status' in Object(answer)) ? 'answered' : 'failed', []],
    );
  });
}

test('the ending is unknown when the caller left', async () => {
  const events: string[] = [];
  const told = { end: (_route: unknown, how: CallEnding) => void events.push(how) };
  const controller = new AbortController();
  const sources = [source('first', 'hang'), source('second', 'hang')];
  const answer = searcher(sources, { health: told }).search(controller.signal);
  controller.abort();
  await answer;
  assert.deepEqual(events, ['unknown']);
});
