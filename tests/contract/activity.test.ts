// Activity counts beside the ledger, on both databases: written as sums, kept while they cannot be
// written, and bounded.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { RequestFields } from '../../src/events/request-fields.ts';
import { Activity } from '../../src/domain/activity/activity.ts';
import { sumUncharged } from '../../src/domain/activity/analytics.ts';
import { removeOutdated } from '../../src/domain/activity/activity-rows.ts';
import {
  findLogged,
  listUncharged,
  readProviders,
  sumActivity,
} from '../../src/domain/activity/queries.ts';
import type { Database } from '../../src/db/database.ts';
import { startMs } from '../support/ledger/test-ledger.ts';
import { micros } from '../../src/lib/money.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { select } from './books.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const dayMs = 86_400_000;
const ending = {
  path: '/v1/chat/completions',
  status: 200,
  tookMs: 100,
  isClientGone: false,
};
const today = '2026-11-21';
const known = { accountId: 'a', keyId: 'k', mode: 'live', model: 'm' } as const;
const worth = { costMicros: micros(30), inputTokens: 100, outputTokens: 10 };
let requests = 0;
const request = (fields: Partial<RequestFields> = {}): RequestFields => ({
  requestId: `r${(requests += 1)}`,
  ...known,
  ...fields,
});

async function open(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  const clock = new TestClock(startMs);
  const errors: unknown[] = [];
  const openActivity = (of: Database = database, historyDays = 30) => {
    const activity = new Activity({
      database: of,
      historyDays,
      removesOutdated: true,
      onError: (error) => errors.push(error),
      clock,
    });
    t.after(() => activity.close());
    return activity;
  };
  const sums = (fields: Partial<Parameters<typeof sumActivity>[1]> = {}) =>
    sumActivity(database.read, {
      accountId: 'a',
      mode: 'live',
      fromDay: today,
      toDay: today,
      by: 'none',
      ...fields,
    });
  const sumLines = async (fields: Parameters<typeof sums>[0] = {}) =>
    (await sums(fields)).map((sum) =>
      `${sum.group} ${sum.outcome} ${sum.requests} ${sum.savedMicros}`.trim(),
    );
  return { database, clock, errors, openActivity, sums, sumLines };
}

/** All statements fail while it is broken. */
function breakable(database: Database) {
  const state = { isBroken: true };
  const broken = {
    ...database,
    get transient() {
      if (state.isBroken) throw new Error('away');
      return database.transient;
    },
  };
  return { state, database: broken };
}

async function countRows(database: Database, table: string): Promise<number> {
  return (await select(database, `select 1 from ${table}`)).length;
}

/** SQLite's rows have no prototype. */
const plain = (rows: readonly object[]) => rows.map((row) => ({ ...row }));

onEachStore((store) => {
  test('hits, replays, errors and their savings add up over all gateways', async (t) => {
    const { database, openActivity, sums, sumLines } = await open(t, store);
    for (const activity of [openActivity(), openActivity()]) {
      for (let count = 0; count < 3; count++)
        activity.noteRequest(request({ cache: 'hit', saved: worth }), ending);
      activity.noteRequest(request({ cache: 'idempotent-replay' }), ending);
      activity.noteRequest(
        request({ errorCode: 'rate_limit_exceeded', model: undefined, keyId: 'l' }),
        ending,
      );
      await Promise.all([activity.flush(), activity.flush()]);
      activity.noteRequest(request({ cache: 'hit', saved: worth }), ending);
      await activity.close();
    }
    assert.deepEqual(await sumLines(), [
      'hit 8 240',
      'idempotent-replay 2 0',
      'rate_limit_exceeded 2 0',
    ]);
    const [hits] = await sums();
    assert.deepEqual({ ...hits }, { group: '', outcome: 'hit', requests: 8, savedMicros: 240 });
    const range = { accountId: 'a', mode: 'live', fromDay: today, toDay: today } as const;
    const byKey = await sumUncharged(database.read, range, 'key', { top: 9 });
    assert.deepEqual(plain(byKey), [
      { group: 'k', errors: 0, cached: 10, savedMicros: 240 },
      { group: 'l', errors: 2, cached: 0, savedMicros: 0 },
    ]);
    const byMember = await sumUncharged(database.read, range, 'member', { ids: ['', 'nobody'] });
    assert.deepEqual(plain(byMember), [{ group: '', errors: 2, cached: 10, savedMicros: 240 }]);
    assert.deepEqual(await sumLines({ by: 'model' }), [
      'rate_limit_exceeded 2 0',
      'm hit 8 240',
      'm idempotent-replay 2 0',
    ]);
    assert.deepEqual((await sumLines({ by: 'day' }))[0], `${today} hit 8 240`);
    for (const other of [
      { mode: 'test' },
      { accountId: 'b' },
      { fromDay: '2026-11-22', toDay: '2026-11-23' },
    ] as const)
      assert.deepEqual(await sumLines(other), []);
  });

  test('charged requests and requests without a key are not counted; a day ends at midnight', async (t) => {
    const { openActivity, sumLines, clock } = await open(t, store);
    const activity = openActivity();
    activity.noteRequest(request({ costMicros: 5 }), ending);
    activity.noteRequest(request({ costMicros: 0, errorCode: 'internal_error' }), ending);
    activity.noteRequest(request(), ending);
    activity.noteRequest({ requestId: 'r', errorCode: 'invalid_api_key' }, ending);
    activity.noteRequest(request({ cache: 'hit' }), ending);
    clock.jumpTo(clock.nowMs() + dayMs / 2);
    activity.noteRequest(request({ cache: 'hit' }), ending);
    await activity.flush();
    assert.deepEqual(await sumLines({ toDay: '2026-11-30', by: 'day' }), [
      `${today} hit 1 0`,
      '2026-11-22 hit 1 0',
    ]);
  });

  test('counts that cannot be written are kept, added to, and written once the database is back', async (t) => {
    const { database, openActivity, sumLines, errors } = await open(t, store);
    const away = breakable(database);
    const activity = openActivity(away.database);
    const note = () => {
      activity.noteRequest(request({ cache: 'hit', saved: worth }), ending);
      activity.noteRequest(request({ errorCode: 'not_found' }), ending);
      activity.noteCall({ provider: 'p', kind: 'whole', ending: 'good', ms: 100 });
    };
    note();
    await assert.rejects(activity.flush(), /away/);
    note();
    await assert.rejects(activity.flush(), /away/);
    away.state.isBroken = false;
    await activity.flush();
    await activity.flush();
    assert.deepEqual(await sumLines(), ['hit 2 60', 'not_found 2 0']);
    assert.equal(
      (await listUncharged(database.read, { accountId: 'a', mode: 'live', limit: 100 })).rows
        .length,
      4,
    );
    assert.equal(
      (await readProviders(database.read, { fromMs: startMs, toMs: startMs + 1 }))[0]?.calls,
      2,
    );
    assert.equal(await countRows(database, 'key_uses'), 1);
    assert.deepEqual(errors, []);
  });

  test('a busy gateway writes its history before the buffer is full', async (t) => {
    const { database, openActivity } = await open(t, store);
    const activity = openActivity();
    for (let index = 0; index < 10_000; index++)
      activity.noteRequest(request({ costMicros: 1 }), ending);
    await until(async () => (await countRows(database, 'request_log')) === 10_000);
  });

  test('memory is bounded while nothing can be written', async (t) => {
    const { database, openActivity, sumLines } = await open(t, store);
    const away = breakable(database);
    const activity = openActivity(away.database);
    for (let index = 0; index < 25_000; index++) {
      activity.noteRequest(
        request({ accountId: `acc${index}`, keyId: `key${index}`, errorCode: 'not_found' }),
        ending,
      );
    }
    activity.noteRequest(
      request({ accountId: 'acc0', keyId: 'key0', errorCode: 'not_found' }),
      ending,
    );
    await assert.rejects(activity.flush(), /away/);
    away.state.isBroken = false;
    await activity.flush();
    assert.deepEqual(await sumLines({ accountId: 'acc0' }), ['not_found 2 0']);
    assert.equal(await countRows(database, 'activity_days'), 20_000);
    assert.equal(await countRows(database, 'key_uses'), 20_000);
    assert.equal(await countRows(database, 'request_log'), 20_000);
  });

  test('uncharged requests are listed newest first and page by page, and a storm of them is sampled', async (t) => {
    const { database, openActivity, clock } = await open(t, store);
    const activity = openActivity();
    const all = { accountId: 'a', mode: 'live', limit: 1_000 } as const;
    const list = async (fields: object = {}) =>
      (await listUncharged(database.read, { ...all, ...fields })).rows;
    for (let index = 0; index < 300; index++) {
      clock.jumpTo(clock.nowMs() + 1);
      activity.noteRequest(
        request({
          requestId: `s${String(index).padStart(3, '0')}`,
          errorCode: 'upstream_error',
          errorMessage: `\ud800${'x'.repeat(900)}`,
          errorParam: 'mod\0el',
          askedModel: 'a secret',
          tries: [],
        }),
        ending,
      );
    }
    activity.noteRequest(request({ accountId: 'b', errorCode: 'not_found' }), ending);
    await activity.flush();
    const storm = await list();
    assert.equal(storm.length, 100);
    assert.deepEqual(storm[0], {
      accountId: 'a',
      requestId: 's099',
      mode: 'live',
      createdAtMs: startMs + 100,
      keyId: 'k',
      modelId: 'm',
      path: ending.path,
      outcome: 'failed',
      code: 'upstream_error',
      status: 200,
      streamed: false,
      durationMs: 100,
      firstByteMs: null,
      savedMicros: 0,
      inputTokens: 0,
      outputTokens: 0,
      client: null,
      tags: [],
      notes: {
        errorMessage: `\ufffd${'x'.repeat(499)}`,
        errorParam: 'model',
        tries: [],
      },
    });
    const after = { createdAtMs: storm[98]!.createdAtMs, id: storm[98]!.requestId };
    assert.deepEqual(
      (await list({ after })).map(({ requestId }) => requestId),
      ['s000'],
    );
    activity.noteRequest(request({ cache: 'hit', saved: worth, requestId: 'hit' }), ending);
    activity.noteRequest(request({ costMicros: 4, requestId: 'paid', finish: 'end' }), ending);
    await activity.flush();
    assert.deepEqual(
      (await list({ outcomes: ['hit'] })).map(({ requestId, savedMicros }) => [
        requestId,
        savedMicros,
      ]),
      [['hit', 30]],
    );
    assert.equal((await list()).length, 101, 'a charged request is listed from the ledger');
    const found = await findLogged(database.read, {
      accountId: 'a',
      requestIds: ['paid', 'hit', 'none'],
    });
    assert.deepEqual([...found.keys()].toSorted(), ['hit', 'paid']);
    assert.equal(found.get('paid')?.notes.finish, 'end');
    const other = await findLogged(database.read, { accountId: 'b', requestIds: ['paid'] });
    assert.equal(other.size, 0);
  });

  test('without a history, requests are counted and none is kept', async (t) => {
    const { database, openActivity, sumLines } = await open(t, store);
    const activity = openActivity(database, 0);
    activity.noteRequest(request({ errorCode: 'not_found' }), ending);
    activity.noteRequest(request({ costMicros: 4 }), ending);
    await activity.flush();
    assert.deepEqual(await sumLines(), ['not_found 1 0']);
    assert.equal(await countRows(database, 'request_log'), 0);
  });

  test('the newest uncharged requests of an account stay when there are too many', async (t) => {
    const { database, openActivity, clock } = await open(t, store);
    const activity = openActivity();
    for (let index = 0; index < 60; index++) {
      clock.jumpTo(clock.nowMs() + 1);
      activity.noteRequest(request({ errorCode: 'not_found' }), ending);
      activity.noteRequest(request({ costMicros: 4 }), ending);
    }
    activity.noteRequest(request({ accountId: 'b', errorCode: 'not_found' }), ending);
    await activity.flush();
    await removeOutdated(database, clock.nowMs(), { historyDays: 30, unchargedMax: 25 });
    const all = { accountId: 'a', mode: 'live', limit: 99 } as const;
    const { rows: left } = await listUncharged(database.read, all);
    assert.deepEqual([left.length, left.at(-1)!.createdAtMs - startMs], [25, 36]);
    assert.equal(await countRows(database, 'request_log'), 25 + 60 + 1);
  });

  test('a key shows the time of its last request, whichever gateway writes last', async (t) => {
    const { database, openActivity, clock } = await open(t, store);
    const [one, two] = [openActivity(), openActivity()];
    one.noteRequest(request(), ending);
    clock.jumpTo(clock.nowMs() + 5);
    two.noteRequest(request({ costMicros: 3 }), ending);
    await two.flush();
    await one.flush();
    const uses = 'select key_id, last_used_at_ms from key_uses';
    assert.deepEqual(await select(database, uses), [['k', startMs + 5]]);
  });

  test('providers are listed with their calls, failures and latencies for the requested hours', async (t) => {
    const { database, openActivity, clock } = await open(t, store);
    const activity = openActivity();
    const call = { provider: 'p', kind: 'whole', ending: 'good' } as const;
    for (let count = 0; count < 95; count++) activity.noteCall({ ...call, ms: 100 });
    for (let count = 0; count < 5; count++) activity.noteCall({ ...call, ms: 9_000 });
    activity.noteCall({ ...call, ending: 'bad', ms: 60_000 });
    activity.noteCall({ ...call, ending: 'refused', ms: 1 });
    activity.noteCall({ ...call, ending: 'unknown', ms: 1 });
    activity.noteCall({ ...call, kind: 'stream', ms: 500 });
    activity.noteCall({ ...call, provider: 'another', ending: 'bad', ms: 1 });
    clock.jumpTo(clock.nowMs() + dayMs);
    activity.noteCall({ ...call, ms: 1 });
    await activity.flush();
    const near = (found: number | undefined, ms: number) =>
      assert.ok(Math.abs(found! - ms) <= ms / 10, `${found} is not ${ms}`);
    const overview = await readProviders(database.read, { fromMs: startMs, toMs: startMs + dayMs });
    assert.deepEqual(
      overview.map(({ provider, calls, failures, refusals }) => [
        provider,
        calls,
        failures,
        refusals,
      ]),
      [
        ['another', 1, 1, 0],
        ['p', 104, 1, 1],
      ],
    );
    const { stream, whole } = overview[1]!;
    assert.deepEqual([overview[0]!.whole, stream?.calls, whole?.calls], [null, 1, 100]);
    near(whole?.p50Ms, 100);
    near(whole?.p95Ms, 100);
    near(stream?.p50Ms, 500);
    const later = await readProviders(database.read, {
      fromMs: startMs + dayMs,
      toMs: startMs + 2 * dayMs,
    });
    assert.deepEqual(
      later.map(({ calls }) => calls),
      [1],
    );
  });

  test('counts past their retention are deleted in steps, and newer ones stay', async (t) => {
    const { database, openActivity, clock } = await open(t, store);
    const activity = openActivity();
    const note = (count: number) => {
      for (let index = 0; index < count; index++) {
        activity.noteRequest(request({ accountId: `acc${index}`, errorCode: 'not_found' }), ending);
        activity.noteCall({ provider: `p${index}`, kind: 'whole', ending: 'good', ms: 1 });
      }
      return activity.flush();
    };
    await note(450);
    const counts = () =>
      Promise.all(
        ['request_log', 'provider_hours', 'activity_days'].map((table) =>
          countRows(database, table),
        ),
      );
    for (const [days, left] of [
      [31, [3, 453, 453]],
      [101, [3, 6, 456]],
      [401, [3, 3, 9]],
    ] as const) {
      clock.jumpTo(startMs + days * dayMs);
      await note(3);
      await removeOutdated(database, clock.nowMs(), { historyDays: 30 });
      assert.deepEqual(await counts(), left, `after ${days} days`);
    }
  });
});
