// What gateways share in PostgreSQL: the statements say what bucket.ts says, slots of the dead are free, and nothing is granted twice.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { openDatabase, type Database } from '../../src/db/database.ts';
import { draw, refill, type Bucket } from '../../src/limits/bucket.ts';
import { exchangeRates, exchangeSlots, removeIdle } from '../../src/limits/postgres-limits.ts';
import { SharedSlots } from '../../src/limits/shared-slots.ts';
import { createDatabase } from '../support/postgres.ts';
import fc from '../support/property.ts';

let database: Database;
before(async () => {
  database = openDatabase(await createDatabase());
});
after(() => database.close());

test('a statement grants what the pure arithmetic does', async () => {
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
      let expected: Bucket | undefined;
      for (const { waitMs, ...wanted } of asks) {
        // The server's clock cannot be set: instead its row is made older.
        await sql`update rate_buckets set updated_at_ms = updated_at_ms - ${waitMs} where id = ${id}`.execute(database.transient);
        const decided = draw(refill(expected && { ...expected, updatedMs: 0 }, wanted.perMinute, waitMs), wanted);
        const [grant] = await exchangeRates(database, [{ id, ...wanted }]);
        // Some milliseconds pass between two statements.
        const slackTokens = wanted.perMinute / 60;
        assert.ok(Math.abs(grant!.granted - decided.granted) <= slackTokens + 1, `${grant!.granted} for ${decided.granted}`);
        const isNear = Math.abs(grant!.level + grant!.granted - (decided.bucket.level + decided.granted)) <= slackTokens;
        assert.ok(isNear, `${grant!.level} for ${decided.bucket.level}`);
        expected = { level: grant!.level, updatedMs: 0 };
      }
    }),
    { numRuns: 40 },
  );
});

test('of many gateways that draw at once, in any order of buckets, all together get what there is', async () => {
  await Promise.all(Array.from({ length: 10 }, () => sql`select pg_sleep(0.1)`.execute(database.transient)));
  const ids = Array.from({ length: 8 }, (_, index) => `race ${index}`);
  const orders = Array.from({ length: 400 }, (_, round) => (round % 2 === 0 ? ids : ids.toReversed()));
  const granted = new Map(ids.map((id) => [id, 0]));
  const startMs = performance.now();
  await Promise.all(
    orders.map(async (order) => {
      const asks = order.map((id) => ({ id, perMinute: 600, returned: 0, wanted: 3 }));
      for (const [index, answer] of (await exchangeRates(database, asks)).entries()) {
        granted.set(order[index]!, granted.get(order[index]!)! + answer.granted);
      }
    }),
  );
  const most = 600 + (performance.now() - startMs) / 100;
  for (const [id, sum] of granted) assert.ok(sum >= 600 && sum <= most + 1, `${sum} of ${id}, at most ${most}`);
});

test('full buckets and slots that nobody has are removed; what is owed or held stays', async () => {
  await addOwner('gateway-1');
  await exchangeRates(database, [
    { id: 'full', perMinute: 10, returned: 0, wanted: 0 },
    { id: 'owes', perMinute: 10, returned: -50, wanted: 0 },
  ]);
  await exchangeSlots(database, 'gateway-1', [
    { id: 'empty', max: 3, inUse: 0, wanted: 0 },
    { id: 'held', max: 3, inUse: 0, wanted: 1 },
  ]);
  await removeIdle(database);
  const { rows } = await sql<{ id: string }>`
    select id from rate_buckets where id in ('full', 'owes') union select id from concurrency_slots order by id`.execute(
    database.read,
  );
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['held', 'owes'],
  );
});

test('slots are granted up to the limit over all gateways, and those of a gateway without a lease are free', async () => {
  await addOwner('alive');
  await addOwner('dying');
  const ask = async (owner: string, inUse: number, wanted: number) =>
    (await exchangeSlots(database, owner, [{ id: 'slots', max: 5, inUse, wanted }]))[0];
  assert.equal(await ask('dying', 0, 3), 3);
  assert.equal(await ask('alive', 0, 4), 2);
  assert.equal(await ask('alive', 2, 1), 0, 'the number in use is told again and again, and counted once');
  await sql`delete from hold_owners where owner = 'dying'`.execute(database.write);
  assert.equal(await ask('alive', 2, 9), 3);
  assert.equal(await ask('alive', 0, 0), 0);
  await addOwner('third');
  assert.equal(await ask('third', 0, 9), 5);
});

test('gateways with shared slots never run more than the limit, and each slot comes back', async () => {
  const errors: unknown[] = [];
  const racks: SharedSlots[] = [];
  for (const owner of ['rack 1', 'rack 2', 'rack 3']) {
    await addOwner(owner);
    const exchange = (asks: Parameters<typeof exchangeSlots>[2]) => exchangeSlots(database, owner, asks);
    racks.push(new SharedSlots({ exchange, onError: (error) => errors.push(error), nowMs: Date.now }));
  }
  for (const max of [1, 7, 100]) {
    const limit = { id: `shared ${max}`, max };
    let running = 0;
    let most = 0;
    let served = 0;
    const work = async (slots: SharedSlots) => {
      if (!(await slots.take(limit))) return;
      most = Math.max(most, ++running);
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
      running--;
      served++;
      slots.give(limit);
    };
    for (let round = 0; round < 5; round++) {
      await Promise.all(racks.flatMap((slots) => Array.from({ length: 60 }, () => work(slots))));
    }
    assert.ok(most <= max && most >= max * 0.9, `${most} at once of ${max}`);
    assert.ok(served >= max * 0.9 * 5, `${served} served`);
    // One after the other, each at another gateway: a slot that was just given back is not missed.
    for (let index = 0; index < 9; index++) {
      const slots: SharedSlots = racks[index % 3]!;
      assert.equal(await slots.take(limit), true, `request ${index} of ${max}`);
      slots.give(limit);
    }
  }
  await Promise.all(racks.map((slots) => slots.close()));
  const { rows } = await sql`select id from concurrency_slots where id like 'shared%' and holders <> '{}'`.execute(database.read);
  assert.deepEqual([rows, errors], [[], []]);
});

async function addOwner(owner: string): Promise<void> {
  await sql`insert into hold_owners values (${owner}, 'here', 1, 1, ${Date.now() + 3_600_000})`.execute(database.write);
}
