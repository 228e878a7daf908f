// Claims on Idempotency-Keys and the answers stored with a charge, the same on both databases.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Database } from '../../src/db/database.ts';
import { takeClaim } from '../../src/domain/idempotency/claims.ts';
import { Idempotency } from '../../src/domain/idempotency/idempotency.ts';
import { nameRequest } from '../../src/domain/idempotency/request-name.ts';
import type { WholeResponse } from '../../src/terms/stored-response.ts';
import { readBalance } from '../../src/domain/ledger/reports/queries.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { micros } from '../../src/lib/money.ts';
import {
  creditOf,
  insertAccount,
  reserveOf,
  settleOf,
  startMs,
} from '../support/ledger/test-ledger.ts';
import { SleeplessClock } from '../support/test-clock.ts';
import { noFiles, sealForKey } from '../support/stored-answers.ts';
import { until } from '../support/until.ts';
import { booksClockOf, select, typesOf } from './books.ts';
import { onEachStore, type StoreKind } from './stores.ts';
import { createSecret } from '../../src/lib/secrets.ts';

const secret = createSecret('a secret');
const dayMs = 24 * 3_600_000;
const response: WholeResponse = {
  status: 200,
  contentType: 'text/plain',
  headers: { 'x-a': 'b' },
  body: Buffer.from('héllo '.repeat(10_000)),
  // The cost of each settlement in this file, and the tokens of its record.
  worth: { costMicros: micros(30), inputTokens: 100, outputTokens: 10 },
};
const never = new AbortController().signal;
const nameOf = (body: object = {}, idempotencyKey = 'order-1') =>
  nameRequest({
    keyId: 'k',
    generation: 0,
    idempotencyKey,
    method: 'POST',
    path: '/v1/messages',
    body,
  })!;

/** Aborts the wait after a time of the clock. */
function within(milliseconds: number, clock: SleeplessClock): AbortSignal {
  const controller = new AbortController();
  clock.after(milliseconds, () => controller.abort());
  return controller.signal;
}

async function open(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  await database.write
    .transaction()
    .execute((transaction) => insertAccount(transaction, 'acc', ['k']));
  // Requests that wait for another process poll again immediately.
  const clock = new SleeplessClock(startMs);
  const booksClock = booksClockOf(clock);
  const ledger = store.openStore(t, database, { owner: 'run_1', clock: booksClock });
  await ledger.run([creditOf('acc:live', 1_000)]);
  await setOwners(database, ['run_1', 'run_2']);
  const process = (owner: string) => {
    const idempotency = new Idempotency({
      database,
      secrets: [secret],
      owner,
      bodyBytesMax: 1_000_000,
      files: noFiles,
      clock,
      onError: (error) => assert.fail(String(error)),
    });
    t.after(() => idempotency.close());
    return idempotency;
  };
  return { database, clock, booksClock, ledger, one: process('run_1'), two: process('run_2') };
}

/** The processes that are alive. */
async function setOwners(database: Database, owners: readonly string[]): Promise<void> {
  await database.write.deleteFrom('hold_owners').execute();
  const rows = owners.map((owner) => ({
    owner,
    host: 'here',
    pid: 1,
    process_started_at_ms: 1,
    expires_at_ms: startMs + 10 * dayMs,
  }));
  await database.write.insertInto('hold_owners').values(rows).execute();
}

function ask(idempotency: Idempotency, requestId: string, name = nameOf()) {
  return idempotency.begin(name, { requestId, signal: never });
}

async function claimOf(idempotency: Idempotency, requestId: string, name = nameOf()) {
  const begun = await ask(idempotency, requestId, name);
  assert.equal(begun.kind, 'claimed');
  return begun.kind === 'claimed' ? begun.claim : assert.fail();
}

async function settleWith(holdId: string, cost: number, claim: Claim, answer = response) {
  return { ...settleOf(asked(holdId), cost), stored: await sealForKey(claim, answer) };
}

type Claim = Awaited<ReturnType<typeof claimOf>>;
const asked = (holdId: string) => ({ holdId, ledgerId: 'acc:live', keyId: 'k' }) as const;

onEachStore((store) => {
  test('an answer is stored with its charge, opened by any process, and gone a day later', async (t) => {
    const { clock, ledger, one, two, database } = await open(t, store);
    const claim = await claimOf(one, 'r1');
    const settle = await settleWith('r1', 30, claim);
    const [, first, again] = await ledger.run([reserveOf(asked('r1'), 40), settle, settle]);
    assert.deepEqual(first, again);
    assert.deepEqual(await ledger.run([settle]), [first]);
    claim.noteStored(response);
    await claim.end();

    clock.jumpTo(clock.nowMs() + dayMs - 1);
    for (const idempotency of [one, two]) {
      assert.deepEqual(await ask(idempotency, 'r2'), {
        kind: 'stored',
        response,
      });
      assert.deepEqual(await ask(idempotency, 'r2', nameOf({ a: 1 })), { kind: 'conflict' });
    }
    await two.removeEnded();
    assert.equal((await ask(two, 'r2')).kind, 'stored');
    clock.jumpTo(clock.nowMs() + 1);
    await (await claimOf(two, 'r2', nameOf({ a: 1 }))).end();
    assert.deepEqual(await select(database, 'select * from idempotent_responses'), []);
  });

  test('a stored answer keeps its original cost; rows of older versions have none', async (t) => {
    const { one, two, database } = await open(t, store);
    for (const [key, { worth, ...unworthy }] of Object.entries({
      known: response,
      older: response,
    })) {
      const claim = await claimOf(one, key, nameOf({}, key));
      await claim.store(key === 'known' ? response : unworthy, async () => true);
      await claim.end();
      const begun = await ask(two, 'r2', nameOf({}, key));
      assert.deepEqual(
        begun.kind === 'stored' && begun.response.worth,
        key === 'known' ? worth : undefined,
      );
    }
    assert.equal((await select(database, 'select state from idempotent_responses')).length, 2);
  });

  test('one of many concurrent requests and processes claims a key; when it fails, another one does', async (t) => {
    const { one, two, database } = await open(t, store);
    let claimed = 0;
    let running = 0;
    const begun = Array.from({ length: 12 }, async (_, index) => {
      const result = await [one, two][index % 2]!.begin(nameOf(), {
        requestId: `r${index}`,
        signal: never,
      });
      assert.equal(result.kind, 'claimed');
      if (result.kind !== 'claimed') return;
      assert.equal(++running, 1);
      claimed++;
      // As long as another request would need if it were admitted too.
      await database.read.selectFrom('idempotent_responses').selectAll().execute();
      running--;
      await result.claim.end();
    });
    await Promise.all(begun);
    assert.equal(claimed, 12);
  });

  // A request looks the key up before it claims it; this statement decides between two processes
  // that looked at the same time.
  const takenKeys = {
    'runs in a live process': { row: { owner: 'run_2' }, isTaken: false },
    'ran in a dead process': { row: { owner: 'run_gone' }, isTaken: true },
    'is stored': {
      row: { owner: 'run_2', state: 'stored' as const, expires_at_ms: startMs + 1 },
      isTaken: false,
    },
    'is stored by a dead process': {
      row: { owner: 'run_gone', state: 'stored' as const, expires_at_ms: startMs + 1 },
      isTaken: false,
    },
    'is stored and expired': {
      row: { owner: 'run_2', state: 'stored' as const, expires_at_ms: startMs },
      isTaken: true,
    },
  };
  for (const [name, { row, isTaken }] of Object.entries(takenKeys)) {
    test(`a claim on a key whose request ${name} is ${isTaken ? 'granted' : 'refused'}`, async (t) => {
      const { database } = await open(t, store);
      const { keyId, keyDigest, fingerprint } = nameOf();
      const earlier = {
        key_id: keyId,
        key_digest: keyDigest,
        fingerprint,
        state: 'running' as const,
        request_id: 'r1',
      };
      await database.write
        .insertInto('idempotent_responses')
        .values({ ...earlier, ...row })
        .execute();
      assert.equal(
        await takeClaim(database.transient, nameOf(), {
          requestId: 'r2',
          owner: 'run_1',
          nowMs: startMs,
        }),
        isTaken,
      );
    });
  }

  test('another request under a running key is a conflict, in its process and in others', async (t) => {
    const { clock, one, two } = await open(t, store);
    const claim = await claimOf(one, 'r1');
    for (const process of [one, two]) {
      assert.deepEqual(
        await process.begin(nameOf({ a: 1 }), { requestId: 'r2', signal: within(30_000, clock) }),
        {
          kind: 'conflict',
        },
      );
    }
    await claim.end();
  });

  test('a key that cannot be freed during an outage is freed afterwards', async (t) => {
    const { database, clock, two } = await open(t, store);
    let isAway = false;
    const troubles: unknown[] = [];
    const flaky = {
      ...database,
      get transient() {
        if (isAway) throw new Error('away');
        return database.transient;
      },
    };
    const one = new Idempotency({
      database: flaky,
      secrets: [secret],
      owner: 'run_1',
      bodyBytesMax: 1,
      files: noFiles,
      clock,
      onError: (error) => void troubles.push(error),
    });
    t.after(() => one.close());
    const claim = await claimOf(one, 'r1');
    isAway = true;
    await claim.end();
    assert.equal(troubles.length, 1);
    isAway = false;
    const begun = await two.begin(nameOf(), { requestId: 'r2', signal: within(30_000, clock) });
    assert.equal(begun.kind, 'claimed');
    if (begun.kind === 'claimed') await begun.claim.end();
  });

  test('a request waiting in another process gets the answer once it is stored', async (t) => {
    const { ledger, clock, one, two } = await open(t, store);
    const claim = await claimOf(one, 'r1');
    const waiting = [one, two, two].map((idempotency, index) =>
      idempotency.begin(nameOf(), { requestId: `w${index}`, signal: never }),
    );
    const gone = new AbortController();
    const abandoned = two.begin(nameOf(), { requestId: 'gone', signal: gone.signal });
    // A waiting process polls every quarter of a second.
    await until(() => clock.elapsedMs() > 2_000);
    gone.abort();
    assert.deepEqual(await abandoned, { kind: 'abandoned' });
    await ledger.run([reserveOf(asked('r1'), 40), await settleWith('r1', 30, claim)]);
    claim.noteStored(response);
    await claim.end();
    for (const begun of waiting) assert.deepEqual(await begun, { kind: 'stored', response });
  });

  test("a dead process's key is free again, and its late settlement is neither stored nor charged", async (t) => {
    const { database, clock, ledger, one, two } = await open(t, store);
    const lost = await claimOf(one, 'r1');
    await ledger.run([reserveOf(asked('r1'), 40), reserveOf(asked('r2'), 40)]);
    await setOwners(database, ['run_2']);
    const claim = await claimOf(two, 'r2');
    assert.equal(
      clock.elapsedMs(),
      0,
      'it is free at once, not only when the rows of dead processes are removed',
    );
    const late = await settleWith('r1', 30, lost, { ...response, body: Buffer.from('late') });
    assert.deepEqual(typesOf(await ledger.run([late, late])), ['superseded', 'superseded']);
    await lost.end();
    await ledger.run([await settleWith('r2', 30, claim)]);
    claim.noteStored(response);
    await claim.end();
    assert.deepEqual(await ask(two, 'r3'), {
      kind: 'stored',
      response,
    });
    assert.deepEqual(await ledger.run([late]), [{ type: 'superseded' }]);
  });

  // The state of the key when its first owner, r1, settles 30 with a cost of 1, and who is charged.
  const takeovers = {
    'still its own key': { charged: 30, lost: 0 },
    'still its own key, hold expired': { expires: true, charged: 30, lost: 0 },
    'another request runs under the key': { taken: 'running', charged: 0, lost: 1 },
    'another request is stored under the key': { taken: 'stored', charged: 20, lost: 1 },
    'another request is stored under the key, hold expired': {
      taken: 'stored',
      expires: true,
      charged: 20,
      lost: 1,
    },
    // Counts as taken, because another request could have begun between two polls.
    'another request failed under the key': { taken: 'failed', charged: 0, lost: 1 },
    'the row was removed': { taken: 'removed', charged: 0, lost: 1 },
  };
  for (const [name, { charged, lost, ...change }] of Object.entries(takeovers)) {
    test(`a late settlement (${name}) charges ${charged} and loses ${lost}`, async (t) => {
      const { database, booksClock: clock, one, two } = await open(t, store);
      // Its lease has expired, and nothing it does here renews it.
      const ledger = store.openStore(t, database, { clock });
      const { taken, expires } = change as { taken?: string; expires?: boolean };
      const first = await claimOf(one, 'r1');
      await ledger.run([reserveOf(asked('r1'), 40), reserveOf(asked('r2'), 40)]);
      await setOwners(database, ['run_2']);
      if (expires) await ledger.run([{ type: 'expire', holdId: 'r1', ownerEndedAtMs: null }]);
      if (taken === 'removed') await two.removeEnded();
      else if (taken) {
        const other = await claimOf(two, 'r2');
        if (taken === 'stored') await ledger.run([await settleWith('r2', 20, other)]);
        if (taken === 'failed') await other.end();
      }
      const [late] = await ledger.run([await settleWith('r1', 30, first)]);
      assert.equal(late!.type, lost === 0 ? 'charged' : 'superseded');
      await ledger.run([{ type: 'release', holdId: 'r2', lossMicros: micros(0) }]);
      const { postedMicros, heldMicros } = (await readBalance(database.read, 'acc:live'))!;
      assert.deepEqual([postedMicros, heldMicros], [1_000 - charged, 0]);
      const books = await verify(database.read);
      assert.ok(books.ok && books.failedMicros === lost, JSON.stringify(books));
    });
  }

  test('a settlement and a takeover of its key at the same moment: exactly one of them wins', async (t) => {
    const { database, booksClock: clock, one, two } = await open(t, store);
    // The lease of this process has expired and is not renewed.
    const late = store.openStore(t, database, { clock });
    for (let round = 0; round < 40; round++) {
      const name = nameOf({}, `order-${round}`);
      const holdId = `r${round}`;
      await setOwners(database, ['run_1', 'run_2']);
      const claim = await claimOf(one, holdId, name);
      const settle = await settleWith(holdId, 1, claim);
      await late.run([reserveOf(asked(holdId), 1)]);
      await setOwners(database, ['run_2']);
      const settleAfterTurns = async (turns: number) => {
        for (let turn = 0; turn < turns; turn++) await setImmediate();
        return late.run([settle]);
      };
      const [[settled], begun] = await Promise.all([
        settleAfterTurns(round % 10),
        two.begin(name, { requestId: `other-${round}`, signal: never }),
      ]);
      assert.equal(settled!.type, begun.kind === 'claimed' ? 'superseded' : 'charged');
      if (begun.kind === 'claimed') await begun.claim.end();
    }
  });

  test('a charge that cannot be booked stores nothing, and a body that was not stored is null', async (t) => {
    const { database, ledger, one } = await open(t, store);
    const claim = await claimOf(one, 'r1');
    const stored = await sealForKey(claim, { ...response, body: null });
    const [refused] = await ledger.run([{ ...settleOf(asked('r1'), 30), stored }]);
    assert.equal(refused!.type, 'unknown-hold');
    const row = () =>
      database.read.selectFrom('idempotent_responses').selectAll().executeTakeFirstOrThrow();
    assert.equal((await row()).state, 'running');
    await ledger.run([reserveOf(asked('r1'), 40), { ...settleOf(asked('r1'), 30), stored }]);
    assert.deepEqual(await row().then(({ state, body }) => [state, body]), ['stored', null]);
    await claim.end();
    assert.equal((await row()).state, 'stored');
  });

  test('expired rows and rows of dead processes are deleted in small steps', async (t) => {
    const { database, clock, one } = await open(t, store);
    const rows = Array.from({ length: 450 }, (_, index) => ({
      key_id: 'k',
      key_digest: `d${index}`,
      fingerprint: 'f',
      owner: index % 3 === 2 ? 'run_1' : 'run_gone',
      request_id: `r${index}`,
      state: index % 3 === 0 ? ('stored' as const) : ('running' as const),
      expires_at_ms: index % 3 === 0 ? clock.nowMs() + (index % 2) : null,
    }));
    await database.write.insertInto('idempotent_responses').values(rows).execute();
    await one.removeEnded();
    const left = 'select state, owner, count(*) from idempotent_responses group by state, owner';
    assert.deepEqual(await select(database, `${left} order by state, owner`), [
      ['running', 'run_1', 150],
      ['stored', 'run_gone', 75],
    ]);
  });
});
