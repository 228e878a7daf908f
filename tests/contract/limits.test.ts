// Limits shared in PostgreSQL: the statements match bucket.ts, slots of dead gateways are free, and
// nothing is granted twice.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { openDatabase } from '../../src/db/database.ts';
import { draw, refill, type Bucket } from '../../src/domain/limits/bucket.ts';
import {
  exchangeRates,
  exchangeSlots,
  removeIdle,
} from '../../src/domain/limits/postgres-limits.ts';
import { SharedSlots } from '../../src/domain/limits/shared-slots.ts';
import { isPending } from '../support/is-pending.ts';
import { startMs } from '../support/ledger/test-ledger.ts';
import { createDatabase } from '../support/postgres.ts';
import fc from '../support/property.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';

const database = openDatabase(await createDatabase());
after(() => database.close());

test('a statement grants the same as bucket.ts', async () => {
  const ask = fc.record({
    perMinute: fc.constantFrom(0, 1, 60, 1_000),
    returned: fc.integer({ min: -500, max: 500 }),
    wanted: fc.nat(300),
    waitMs: fc.nat(30_000),
  });
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(ask, { minLength: 1, maxLength: 8 }), async (asks) => {
      const id = `case ${runs++}`;
      let nowMs = startMs;
      let bucket: Bucket | undefined;
      for (const { waitMs, ...wanted } of asks) {
        nowMs += waitMs;
        const decided = draw(refill(bucket, wanted.perMinute, nowMs), wanted);
        const [grant] = await exchangeRates(database.transient, [{ id, ...wanted }], nowMs);
        assert.equal(grant!.granted, decided.granted);
        assert.ok(
          Math.abs(grant!.level - decided.bucket.level) < 1e-6,
          `${grant!.level} for ${decided.bucket.level}`,
        );
        ({ bucket } = decided);
      }
    }),
    { numRuns: 40 },
  );
});

test("without a given time, a bucket refills by the database's clock", async () => {
  const id = 'own clock';
  const perMinute = 60_000;
  const draws = async (wanted: number) => {
    const [grant] = await exchangeRates(database.transient, [
      { id, perMinute, returned: 0, wanted },
    ]);
    const { rows } = await sql<{
      ms: number;
    }>`select updated_at_ms as ms from rate_buckets where id = ${id}`.execute(database.read);
    return { ...grant!, atMs: rows[0]!.ms };
  };
  const beforeMs = await databaseMs();
  const { atMs, level } = await draws(perMinute);
  assert.ok(beforeMs <= atMs && atMs <= (await databaseMs()));
  // As if half a minute had passed.
  await sql`update rate_buckets set updated_at_ms = updated_at_ms - 30000 where id = ${id}`.execute(
    database.transient,
  );
  const later = await draws(perMinute);
  assert.equal(later.granted, Math.floor(Math.min(perMinute, level + 30_000 + later.atMs - atMs)));
});

test('many gateways that draw at once, in any order of buckets, together get exactly what is left', async () => {
  const ids = Array.from({ length: 8 }, (_, index) => `race ${index}`);
  const orders = Array.from({ length: 400 }, (_, round) =>
    round % 2 === 0 ? ids : ids.toReversed(),
  );
  const granted = new Map(ids.map((id) => [id, 0]));
  const beganMs = await databaseMs();
  await Promise.all(
    orders.map(async (order) => {
      const asks = order.map((id) => ({ id, perMinute: 600, returned: 0, wanted: 3 }));
      for (const [index, answer] of (await exchangeRates(database.transient, asks)).entries()) {
        granted.set(order[index]!, granted.get(order[index]!)! + answer.granted);
      }
    }),
  );
  const most = 600 + ((await databaseMs()) - beganMs) / 100;
  for (const [id, sum] of granted)
    assert.ok(sum >= 600 && sum <= most, `${sum} of ${id}, at most ${most}`);
});

test('full buckets and unused slots are removed; owing buckets and used slots stay', async () => {
  await addOwner('gateway-1');
  await exchangeRates(database.transient, [
    { id: 'full', perMinute: 10, returned: 0, wanted: 0 },
    { id: 'owes', perMinute: 10, returned: -50, wanted: 0 },
  ]);
  await exchangeSlots(database, 'gateway-1', [
    { id: 'empty', max: 3, inUse: 0, wanted: 0 },
    { id: 'held', max: 3, inUse: 0, wanted: 1 },
  ]);
  await removeIdle(database.transient);
  const { rows } = await sql<{ id: string }>`
    select id from rate_buckets where id in ('full', 'owes') union select id from concurrency_slots order by id`.execute(
    database.read,
  );
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['held', 'owes'],
  );
});

test('slots are granted up to the limit over all gateways; slots of a gateway without a lease are free', async () => {
  await addOwner('alive');
  await addOwner('dying');
  const ask = async (owner: string, inUse: number, wanted: number) =>
    (await exchangeSlots(database, owner, [{ id: 'slots', max: 5, inUse, wanted }]))[0];
  assert.equal(await ask('dying', 0, 3), 3);
  assert.equal(await ask('alive', 0, 4), 2);
  assert.equal(
    await ask('alive', 2, 1),
    0,
    'the number in use is reported again and again, and counted once',
  );
  await sql`delete from hold_owners where owner = 'dying'`.execute(database.write);
  assert.equal(await ask('alive', 2, 9), 3);
  assert.equal(await ask('alive', 0, 0), 0);
  await addOwner('third');
  assert.equal(await ask('third', 0, 9), 5);
});

test('gateways with shared slots never exceed the limit, and every slot is returned', async () => {
  const errors: unknown[] = [];
  const racks: SharedSlots[] = [];
  const clock = new TestClock(startMs);
  const exchanges = new Set<Promise<readonly number[]>>();
  /** The clock stands still while the database works. */
  const untilDone = async (work: Promise<unknown>) => {
    while (await isPending(work))
      await (exchanges.size === 0 ? clock.advance(5) : Promise.race(exchanges));
    return work;
  };
  for (const owner of ['rack 1', 'rack 2', 'rack 3']) {
    await addOwner(owner);
    const exchange = (requests: Parameters<typeof exchangeSlots>[2]) => {
      const exchanged = exchangeSlots(database, owner, requests).finally(() =>
        exchanges.delete(exchanged),
      );
      exchanges.add(exchanged);
      return exchanged;
    };
    racks.push(new SharedSlots({ exchange, onError: (error) => errors.push(error), clock }));
  }
  for (const max of [1, 7, 100]) {
    const limit = { id: `shared ${max}`, max };
    let running = 0;
    let most = 0;
    let served = 0;
    const work = async (slots: SharedSlots) => {
      if (!(await slots.take(limit))) return;
      most = Math.max(most, ++running);
      await clock.sleep(5);
      running--;
      served++;
      slots.give(limit);
    };
    for (let round = 0; round < 5; round++) {
      await untilDone(
        Promise.all(racks.flatMap((slots) => Array.from({ length: 60 }, () => work(slots)))),
      );
    }
    assert.ok(most <= max && most >= max * 0.9, `${most} at once of ${max}`);
    assert.ok(served >= max * 0.9 * 5, `${served} served`);
    // Sequential requests, each at another gateway: a slot that was just returned is available.
    for (let index = 0; index < 9; index++) {
      const slots: SharedSlots = racks[index % 3]!;
      assert.equal(
        await untilDone(Promise.resolve(slots.take(limit))),
        true,
        `request ${index} of ${max}`,
      );
      slots.give(limit);
    }
  }
  await untilDone(Promise.all(racks.map((slots) => slots.close())));
  const { rows } =
    await sql`select id from concurrency_slots where id like 'shared%' and holders <> '{}'`.execute(
      database.read,
    );
  assert.deepEqual([rows, errors], [[], []]);
});

test('a slot that another gateway is returning is waited for, up to 50 ms', async () => {
  const clock = new TestClock(startMs);
  const limit = { id: 'given back', max: 1 };
  const answers: Record<string, number> = { giver: 0, taker: 0 };
  const gate = Promise.withResolvers<void>();
  let isHeldUp = false;
  const rackOf = async (owner: 'giver' | 'taker') => {
    await addOwner(owner);
    const exchange = async (requests: Parameters<typeof exchangeSlots>[2]) => {
      if (owner === 'giver' && isHeldUp) await gate.promise;
      const granted = await exchangeSlots(database, owner, requests);
      answers[owner]! += 1;
      return granted;
    };
    return new SharedSlots({ exchange, onError: (error) => assert.fail(String(error)), clock });
  };
  const [giver, taker] = [await rackOf('giver'), await rackOf('taker')];
  assert.equal(await giver.take(limit), true);
  isHeldUp = true;
  giver.give(limit);
  const taken = Promise.resolve(taker.take(limit));
  await until(() => answers.taker === 1);
  gate.resolve();
  await until(() => answers.giver === 2);
  await clock.advance(49);
  assert.equal(answers.taker, 1);
  await clock.advance(1);
  assert.equal(await taken, true);
  taker.give(limit);
  await Promise.all([giver.close(), taker.close()]);
});

async function databaseMs(): Promise<number> {
  const { rows } = await sql<{
    ms: number;
  }>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`.execute(database.read);
  return rows[0]!.ms;
}

async function addOwner(owner: string): Promise<void> {
  await sql`insert into hold_owners values (${owner}, 'here', 1, 1, ${startMs + 3_600_000})`.execute(
    database.write,
  );
}
