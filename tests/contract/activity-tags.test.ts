// Tags of activity, on both databases: clients choose them, so their number is bounded, and no
// account takes the room of another.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { RequestFields } from '../../src/events/request-fields.ts';
import { Activity } from '../../src/domain/activity/activity.ts';
import { sumLatencies, sumUncharged } from '../../src/domain/activity/analytics.ts';
import { measuredTagsMax, measuredValuesMax } from '../../src/domain/activity/measured-tags.ts';
import { sumActivity } from '../../src/domain/activity/queries.ts';
import type { Database } from '../../src/db/database.ts';
import { startMs } from '../support/ledger/test-ledger.ts';
import { TestClock } from '../support/test-clock.ts';
import { select } from './books.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const ending = { path: '/v1/chat/completions', status: 402, tookMs: 100, isClientGone: false };
const today = '2026-11-21';
const range = { accountId: 'a', mode: 'live', fromDay: today, toDay: today } as const;
let requests = 0;

async function open(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  const clock = new TestClock(startMs);
  const openActivity = (of: Database = database) => {
    const onError = (error: unknown) => assert.fail(String(error));
    const activity = new Activity({
      database: of,
      historyDays: 30,
      removesOutdated: true,
      onError,
      clock,
    });
    t.after(() => activity.close());
    return activity;
  };
  return { database, openActivity, clock };
}

function note(activity: Activity, fields: Partial<RequestFields>): void {
  const known = { accountId: 'a', keyId: 'k', mode: 'live', model: 'm' } as const;
  activity.noteRequest({ requestId: `r${(requests += 1)}`, ...known, ...fields }, ending);
}

const refused = { errorCode: 'insufficient_balance' } as const;
const charged = { costMicros: 1 } as const;

async function countedTags({ read }: Database): Promise<readonly string[]> {
  const rows = await read.selectFrom('activity_tag_days').select('tag').distinct().execute();
  return rows.map(({ tag }) => tag);
}

onEachStore((store) => {
  test('an account and day have a bounded number of tags, however many gateways count them', async (t) => {
    const { database, openActivity } = await open(t, store);
    for (let gateway = 0; gateway < 3; gateway++) {
      const activity = openActivity();
      for (let index = 0; index < 300; index++)
        note(activity, {
          ...refused,
          tags: [`name${gateway}-${index}=x`, `user=${gateway}-${index}`],
        });
      await activity.close();
    }
    const tags = await countedTags(database);
    assert.equal(tags.length, measuredTagsMax);
    const users = tags.filter((tag) => tag.startsWith('user='));
    assert.equal(users.length, measuredValuesMax);
    assert.ok(
      tags.every((tag) => !/name[12]/.test(tag)),
      'the first tags of the day are counted',
    );
  });

  test('a gateway that starts again goes on with the tags of the day', async (t) => {
    const { database, openActivity } = await open(t, store);
    const before = openActivity();
    for (let index = 0; index < measuredTagsMax; index++)
      note(before, { ...refused, tags: [`early${index}`] });
    await before.close();
    const after = openActivity();
    note(after, { ...refused, tags: ['late'] });
    await after.flush();
    note(after, { ...refused, tags: ['early0', 'late'] });
    await after.flush();
    const counts = await sumUncharged(database.read, range, 'tag', { top: 999 });
    assert.equal(counts.find(({ group }) => group === 'early0')?.errors, 2);
    assert.ok(counts.every(({ group }) => group !== 'late'));
  });

  test('latencies and counts share the tags of a day', async (t) => {
    const { database, openActivity } = await open(t, store);
    for (let start = 0; start < 2; start++) {
      const activity = openActivity();
      for (let index = 0; index < measuredTagsMax; index++)
        note(activity, { ...charged, tags: [`start${start}-${index}`] });
      note(activity, { ...refused, tags: [`refused${start}`] });
      await activity.close();
    }
    const measured = `select distinct group_id from latency_sums where grouped_by = 'tag'`;
    assert.equal((await select(database, measured)).length, measuredTagsMax);
    assert.deepEqual(await countedTags(database), []);
  });

  test('tags that the store cannot be asked about are kept, and written once it answers', async (t) => {
    const { database, openActivity } = await open(t, store);
    let isAway = true;
    const activity = openActivity({
      ...database,
      get read() {
        if (isAway) throw new Error('away');
        return database.read;
      },
    });
    note(activity, { ...refused, tags: ['nightly'] });
    await assert.rejects(activity.flush(), /away/);
    isAway = false;
    await activity.flush();
    assert.deepEqual(await countedTags(database), ['nightly']);
    assert.equal((await sumActivity(database.read, { ...range, by: 'none' }))[0]?.requests, 1);
  });

  test('an account with very many rows leaves room for those of others', async (t) => {
    const { database, openActivity } = await open(t, store);
    const activity = openActivity();
    for (let index = 0; index < 25_000; index++) {
      note(activity, { ...refused, keyId: `k${index}`, tags: [`t${index}`] });
      note(activity, { ...charged, keyId: `k${index}`, tags: [`t${index}`] });
    }
    note(activity, { ...refused, accountId: 'b', tags: ['nightly'] });
    note(activity, { ...charged, accountId: 'b', tags: ['nightly'] });
    await activity.flush();
    const ofOther = { ...range, accountId: 'b' };
    assert.equal((await sumActivity(database.read, { ...ofOther, by: 'none' })).length, 1);
    assert.equal((await sumUncharged(database.read, ofOther, 'tag', { top: 9 })).length, 1);
    assert.equal((await sumLatencies(database.read, ofOther, 'key', ['k'])).length, 1);
    assert.equal((await sumLatencies(database.read, ofOther, 'tag', ['nightly'])).length, 1);
  });
});
