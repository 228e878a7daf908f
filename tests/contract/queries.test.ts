import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  addAccount,
  creditOf,
  record,
  reserveOf,
  settleOf,
  startMs,
} from '../support/ledger/test-ledger.ts';
import { listCharges, readBalance } from '../../src/domain/ledger/reports/queries.ts';

import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { holdOf, select } from './books.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const ledgerId = 'acc:live';

onEachStore((store) => {
  test('a new account has an empty live ledger and $1 000 of play money, booked as an entry', async (t) => {
    const { database } = await openBooks(t, store);
    const zero = {
      postedMicros: 0,
      heldMicros: 0,
      availableMicros: 0,
      inputTokens: 0,
      outputTokens: 0,
    };
    assert.deepEqual(await readBalance(database.read, 'acc:live'), zero);
    assert.deepEqual(await readBalance(database.read, 'acc:test'), {
      ...zero,
      postedMicros: 1e9,
      availableMicros: 1e9,
    });
    const entries = 'select ledger_id, kind, note, created_at_ms from entries';
    assert.deepEqual(await select(database, entries), [
      ['acc:test', 'credit', 'play money', startMs],
    ]);
    assert.deepEqual(await verify(database.read), {
      ok: true,
      ledgers: 2,
      entries: 1,
      charges: 0,
      uncollectedMicros: 0,
      failedMicros: 0,
    });
  });

  test('a balance subtracts holds and counts all tokens ever used, cached ones as input', async (t) => {
    const { database, books } = await openBooks(t, store);
    await books.run([
      creditOf(ledgerId, 100),
      reserveOf(holdOf('a'), 30),
      settleOf(holdOf('a'), 20),
      reserveOf(holdOf('b'), 50),
    ]);
    assert.deepEqual(await readBalance(database.read, ledgerId), {
      postedMicros: 80,
      heldMicros: 50,
      availableMicros: 30,
      inputTokens: 100,
      outputTokens: 10,
    });
    assert.equal(await readBalance(database.read, 'nobody:live'), null);
  });

  test('a request is found by its id, only in its own ledger, with all data of its charge', async (t) => {
    const { database, books } = await openBooks(t, store);
    await books.run([
      creditOf(ledgerId, 100),
      reserveOf(holdOf('a'), 30),
      settleOf(holdOf('a'), 120),
    ]);
    const find = (id: `${string}:live`, holdId: string) =>
      listCharges(database.read, { ledgerId: id, limit: 20, cursor: null, holdId });
    assert.deepEqual(await find(ledgerId, 'a'), {
      charges: [
        {
          ...record,
          ...idsOf('a'),
          priceId: null,
          conversation: null,
          cacheMarks: null,
          rankRoutes: null,
          costMicros: 100,
          lossMicros: 20,
          holdMicros: 30,
          createdAtMs: startMs,
        },
      ],
      next: null,
    });
    assert.deepEqual((await find(ledgerId, 'b')).charges, []);
    assert.deepEqual((await find('other:live', 'a')).charges, []);
  });
});

function idsOf(id: string) {
  return { id, ledgerId, keyId: 'k' };
}

async function openBooks(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  await addAccount(database, 'acc', ['k']);
  const clock = { nowMs: startMs };
  return { database, clock, books: store.openStore(t, database, { clock }) };
}
