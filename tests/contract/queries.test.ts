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
import { listUncharged } from '../../src/domain/activity/queries.ts';
import { listCharges, readBalance } from '../../src/domain/ledger/reports/queries.ts';
import type { UsageCursor } from '../../src/domain/ledger/reports/usage-cursor.ts';
import { micros } from '../../src/lib/money.ts';
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

  test('a search reads a bounded part of the history on each page, and all pages together find what matches', async (t) => {
    const { database, books, clock } = await openBooks(t, store);
    await books.run([creditOf(ledgerId, 1_000)]);
    const log = [];
    for (let index = 0; index < 60; index++) {
      // Some are of the same millisecond, and some of another day.
      clock.nowMs = startMs + Math.floor(index / 3) + (index > 50 ? 86_400_000 : 0);
      const id = `r${String(index).padStart(2, '0')}`;
      const costMicros = index % 25 === 0 ? 7 : 2;
      await books.run([reserveOf(holdOf(id), 9), settleOf(holdOf(id), costMicros)]);
      const outcome = index % 25 === 0 ? ('hit' as const) : ('failed' as const);
      log.push({ ...loggedRow, created_at_ms: clock.nowMs, request_id: id, outcome });
    }
    await database.transient.insertInto('request_log').values(log).execute();
    const stepRows = 4;
    const page = { limit: 2, cursor: null as UsageCursor | null };
    const charged = async (filter: object) => {
      const found = await listCharges(database.read, { ledgerId, ...page, ...filter }, stepRows);
      return { ids: found.charges.map(({ id }) => id), next: found.next };
    };
    const logged = async (filter: object) => {
      const asked = { accountId: 'acc', mode: 'live', limit: 2, after: page.cursor } as const;
      const found = await listUncharged(database.read, { ...asked, ...filter }, stepRows);
      return { ids: found.rows.map(({ requestId }) => requestId), next: found.next };
    };
    for (const [list, filter, expected] of [
      [charged, { costMaxMicros: 9, costMinMicros: 7 }, ['r50', 'r25', 'r00']],
      [charged, { provider: 'none' }, []],
      [logged, { outcomes: ['hit'] }, ['r50', 'r25', 'r00']],
      [logged, { code: 'none' }, []],
    ] as const) {
      const found: string[] = [];
      let pages = 0;
      page.cursor = null;
      do {
        const { ids, next } = await list(filter);
        found.push(...ids);
        page.cursor = next;
        pages++;
      } while (page.cursor && pages < 60);
      assert.deepEqual(found, expected);
      assert.ok(pages > 1, 'the first page read everything');
      assert.ok(pages <= 4, `${pages} pages`);
    }
  });
});

const loggedRow = {
  account_id: 'acc',
  mode: 'live' as const,
  key_id: 'k',
  model_id: 'm',
  path: '/v1/messages',
  code: null,
  status: 200,
  streamed: 0 as const,
  duration_ms: 5,
  first_byte_ms: null,
  saved_micros: micros(0),
  input_tokens: 0,
  output_tokens: 0,
  details: '{}',
  tags: null,
  client: null,
};

function idsOf(id: string) {
  return { id, ledgerId, keyId: 'k' };
}

async function openBooks(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  await addAccount(database, 'acc', ['k']);
  const clock = { nowMs: startMs };
  return { database, clock, books: store.openStore(t, database, { clock }) };
}
