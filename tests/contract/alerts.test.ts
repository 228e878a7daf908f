// The outbox and its endpoints on both stores: who gets which event, once, whatever runs beside.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Channels } from '../../src/domain/alerts/channels.ts';
import { Deliverer } from '../../src/domain/alerts/deliverer.ts';
import { type EndpointOrder, newEndpoint, readTarget } from '../../src/domain/alerts/endpoints.ts';
import { type NewEvent, removeOldEvents, writeEvent } from '../../src/domain/alerts/outbox.ts';
import type { Database } from '../../src/db/database.ts';
import type { Logger } from '../../src/lib/log.ts';
import { createSecret } from '../../src/lib/secrets.ts';
import { addAccount } from '../support/ledger/test-ledger.ts';
import { rowOf, rowsOf } from '../support/rows.ts';
import { TestClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const secrets = [createSecret('a secret of the tests')] as const;
const dayMs = 86_400_000;
const noLog = { warn() {}, error() {} } as unknown as Logger;
const payment = (account: string, onceKey: string | null = null): NewEvent => ({
  type: 'payment.received',
  data: { account_id: account, payment_id: 'pi_1', amount_micros: 1 },
  accountId: account,
  onceKey,
});

async function open(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  for (const account of ['one', 'two']) await addAccount(database, account, []);
  const add = async (owner: string | null, order: Partial<EndpointOrder> = {}) => {
    const base = { kind: 'webhook', address: 'https://example.com/h', types: null } as const;
    const { row } = await newEndpoint(secrets, { owner, ...base, ...order }, 1);
    await database.write.insertInto('alert_endpoints').values(row).execute();
    return row.id;
  };
  return { database, add };
}

/** Returns the endpoints of each event, by its type. */
async function delivered(database: Database): Promise<Record<string, string[]>> {
  const events = await rowsOf(database, 'events');
  const deliveries = await rowsOf(database, 'event_deliveries');
  return Object.fromEntries(
    events.map(({ id, type }) => [
      type,
      deliveries
        .filter((row) => row.event_id === id)
        .map((row) => row.endpoint_id)
        .toSorted(),
    ]),
  );
}

onEachStore((store) => {
  test('an event goes to the endpoints that may hear of it and want it', async (t) => {
    const { database, add } = await open(t, store);
    const [mine, other, operator] = [await add('one'), await add('two'), await add(null)];
    const payments = await add('one', { types: ['payment.received', 'model.ends'] });
    const off = await add('one');
    await database.write
      .updateTable('alert_endpoints')
      .set({ disabled_at_ms: 1 })
      .where('id', '=', off)
      .execute();
    const about = { accountId: null, onceKey: null };
    await writeEvent(database.write, payment('one'), 1);
    await writeEvent(
      database.write,
      { type: 'backup.overdue', data: { last_backup_at: null, days: 8 }, ...about },
      2,
    );
    const ends = { model: 'm', ends_at: '2027-01-01T00:00:00.000Z', successor: null };
    await writeEvent(database.write, { type: 'model.ends', data: ends, ...about }, 3);
    assert.deepEqual(await delivered(database), {
      'payment.received': [mine, operator, payments].toSorted(),
      'backup.overdue': [operator],
      'model.ends': [mine, other, operator, payments].toSorted(),
    });
  });

  test('an event with a key is written once, also by gateways at the same time', async (t) => {
    const { database, add } = await open(t, store);
    await add('one');
    const wrote = await Promise.all(
      [1, 2, 3, 4, 5].map((nowMs) => writeEvent(database.write, payment('one', 'a key'), nowMs)),
    );
    assert.equal(wrote.filter((isWritten) => isWritten).length, 1);
    assert.equal((await rowsOf(database, 'event_deliveries')).length, 1);
    assert.equal(await writeEvent(database.write, payment('one'), 9), true);
  });

  test('an event that is rolled back is delivered to nobody', async (t) => {
    const { database, add } = await open(t, store);
    await add('one');
    const undone = database.write.transaction().execute(async (transaction) => {
      await writeEvent(transaction, payment('one'), 1);
      throw new Error('undone');
    });
    await assert.rejects(undone);
    for (const table of ['events', 'event_deliveries'] as const)
      assert.deepEqual(await rowsOf(database, table), []);
  });

  test('slow endpoints with many events to come hold up no other owner', async (t) => {
    const { database, add } = await open(t, store);
    await addAccount(database, 'three', []);
    const isSlow = (account: string | null) => account === 'one' || account === 'two';
    const told: string[] = [];
    const running = new Set<() => void>();
    const stop = new AbortController();
    const send: Channels['send'] = async ({ id, account_id: account }) => {
      told.push(id);
      if (isSlow(account) && !stop.signal.aborted)
        await new Promise<void>((resolve) => running.add(resolve));
      return { kind: 'sent' };
    };
    const clock = new TestClock(1_000);
    const channels = { send } as Channels;
    const deliverer = new Deliverer({ database, secrets, channels, log: noLog, clock });
    for (let endpoint = 0; endpoint < 40; endpoint += 1) await add(endpoint % 2 ? 'one' : 'two');
    for (let event = 0; event < 20; event += 1)
      await writeEvent(database.write, payment(event % 2 ? 'one' : 'two'), event);
    deliverer.start();
    await untilNoticed(clock, () => running.size === 32);
    const [third, operators] = [await add('three'), await add(null)];
    await writeEvent(database.write, payment('three'), 900);
    await untilNoticed(clock, () => told.includes(operators));
    assert.ok(!told.includes(third), 'it waits for the end of an attempt');
    const [end] = running;
    end!();
    await untilNoticed(clock, () => told.includes(third));
    stop.abort();
    for (const endOne of running) endOne();
    await deliverer.close();
  });

  test('events of more than 60 days are removed with their deliveries, others stay', async (t) => {
    const { database, add } = await open(t, store);
    await add('one');
    await writeEvent(database.write, payment('one'), 1);
    const event = await rowOf(database, 'events', {});
    const delivery = await rowOf(database, 'event_deliveries', {});
    const ids = Array.from({ length: 1_199 }, (_, copy) => `copy-${copy}`);
    await database.write
      .insertInto('events')
      .values(ids.map((id) => ({ ...event, id })))
      .execute();
    await database.write
      .insertInto('event_deliveries')
      .values(ids.map((id) => ({ ...delivery, id, event_id: id })))
      .execute();
    await writeEvent(database.write, payment('one'), 100 * dayMs);
    await removeOldEvents(database.write, 101 * dayMs);
    assert.equal((await rowsOf(database, 'events')).length, 1);
    assert.equal((await rowsOf(database, 'event_deliveries')).length, 1);
  });
});

test('an endpoint is read under its secret and no other, and shows no key of its address', async () => {
  const order = { owner: null, types: null } as const;
  const slack = 'https://hooks.slack.com/services/T0/B0/hidden-token';
  for (const [kind, address] of [
    ['slack', slack],
    ['webhook', 'https://example.com/hook?key=hidden-token'],
  ] as const) {
    const { row, secret } = await newEndpoint(secrets, { ...order, kind, address }, 0);
    assert.doesNotMatch(JSON.stringify(row), /hidden/);
    assert.partialDeepStrictEqual(await readTarget(secrets, row), { address, secret });
    await assert.rejects(readTarget([createSecret('another secret')], row));
    await assert.rejects(readTarget(secrets, { ...row, id: 'end_other' }), 'moved to another row');
  }
});
