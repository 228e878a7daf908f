// `npm run bench -- --history`: do balance and pages stay fast with a long history? Makes the same
// reads on an account with a thousand charges and on one with millions (`--charges 10000000`) in
// one database. Runs on SQLite and PostgreSQL (TOLLGATE_BENCH_POSTGRES, or that of the tests).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { openAccount } from '../src/management/changes/accounts.ts';
import { openDatabase } from '../src/db/database.ts';
import type { Tables } from '../src/db/schema.ts';
import { insertKey } from '../src/domain/keys/manage-keys.ts';
import { type LedgerId, ledgerIdOf } from '../src/domain/ledger/commands.ts';
import { listCharges, readBalance } from '../src/domain/ledger/reports/queries.ts';
import { median } from './statistics.ts';
import { createDatabase } from '../tests/support/postgres.ts';
import { formatTable } from './table.ts';
import { digestKeyFrom } from '../src/domain/keys/key-text.ts';
import { createSecret } from '../src/lib/secrets.ts';

const fewCharges = 1_000;
const repeats = 200;
/** Limited because the database has a statement timeout. */
const rowsAtOnce = 200_000;
const firstMs = Date.UTC(2026, 0, 1);

export async function benchHistory(manyCharges: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const stores = {
    SQLite: `sqlite:${join(folder, 'ledger.db')}`,
    PostgreSQL: process.env['TOLLGATE_BENCH_POSTGRES'] ?? (await createDatabase()),
  };
  try {
    const rows: string[][] = [];
    for (const [name, url] of Object.entries(stores))
      rows.push(...(await benchStore(name, url, [fewCharges, manyCharges])));
    return formatTable(
      [
        'store',
        'charges',
        'balance',
        'newest page',
        'page in the middle',
        'oldest page',
        'by request id',
      ],
      rows,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function benchStore(
  name: string,
  url: string,
  counts: readonly number[],
): Promise<string[][]> {
  const database = openDatabase(url);
  await database.migrate();
  const rows: string[][] = [];
  for (const count of counts) {
    const { id: accountId } = await openAccount(
      database.write,
      { name: `${count} charges` },
      firstMs,
    );
    const key = await insertKey(
      database.write,
      digestKeyFrom(createSecret('bench')),
      { accountId, mode: 'live' },
      firstMs,
    );
    const ledgerId = ledgerIdOf(accountId, 'live');
    await insertCharges(database.write, { ledgerId, keyId: key!.id, count });
    rows.push([name, String(count), ...(await readTimes(database.read, ledgerId, count))]);
  }
  await database.close();
  return rows;
}

type Rows = { readonly ledgerId: LedgerId; readonly keyId: string; readonly count: number };

/**
 * Inserts directly into the table, one charge per second: through the ledger, millions would take
 * many minutes.
 */
async function insertCharges(db: Kysely<Tables>, { ledgerId, keyId, count }: Rows): Promise<void> {
  for (let first = 1; first <= count; first += rowsAtOnce) {
    const last = Math.min(first + rowsAtOnce - 1, count);
    await sql`
      with recursive numbers (n) as (select ${sql.lit(first)} union all select n + 1 from numbers where n < ${sql.lit(last)})
      insert into charges (id, ledger_id, key_id, model_id, model_name, endpoint, provider, input_tokens, cache_read_tokens,
        cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, usage_source, price_version,
        upstream_cost_micros, ending, streamed, cost_micros, loss_micros, hold_micros, created_at_ms)
      select ${ledgerId} || '-' || n, ${ledgerId}, ${keyId}, 'gpt-6-luna', 'GPT-6 Luna', 'chat', 'openai', 1000, 0, 0, 0, 100, 0,
        'upstream', '0', 450, 'complete', 0, 450, 0, 900, ${sql.lit(firstMs)} + cast(n as bigint) * 1000 from numbers`.execute(
      db,
    );
  }
}

async function readTimes(db: Kysely<Tables>, ledgerId: LedgerId, count: number): Promise<string[]> {
  const page = (number: number | null) => {
    const cursor =
      number === null
        ? null
        : { createdAtMs: firstMs + number * 1_000, id: `${ledgerId}-${number}` };
    return () => listCharges(db, { ledgerId, limit: 100, cursor });
  };
  const reads = [
    () => readBalance(db, ledgerId),
    page(null),
    page(Math.floor(count / 2)),
    page(101),
    () =>
      listCharges(db, {
        ledgerId,
        limit: 1,
        cursor: null,
        holdId: `${ledgerId}-${Math.floor(count / 3)}`,
      }),
  ];
  const times: string[] = [];
  for (const read of reads) times.push(`${(await medianMs(read)).toFixed(2)} ms`);
  return times;
}

async function medianMs(read: () => Promise<unknown>): Promise<number> {
  const timesMs: number[] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    const startMs = performance.now();
    await read();
    timesMs.push(performance.now() - startMs);
  }
  return median(timesMs);
}
