// A history of whole books, inserted by SQL: through the ledger, millions of charges would take an
// hour. Every rule that `tollgate verify` checks holds.
import { type Kysely, sql } from 'kysely';
import { isSqlite } from '../src/db/dialect.ts';
import type { Tables } from '../src/db/schema.ts';

export const dayMs = 86_400_000;

export type History = {
  readonly firstMs: number;
  readonly days: number;
  readonly chargesPerDay: number;
  readonly accounts: number;
};

const creditMicros = 1_000_000_000_000;
const costMicros = 450;
const heldMicros = 900;

/** As long as real ids. */
const accountId = (number: string) =>
  `('acc_01kahw3v9gq2abcdefgh' || substr(cast(10000000 + ${number} as text), 3))`;
const keyId = (number: string) =>
  `('key_01kahw3v9gq2abcdefgh' || substr(cast(10000000 + ${number} as text), 3))`;
const requestId = (number: string) =>
  `('req_01kahw3v9gq2abcd' || substr(cast(10000000000 + ${number} as text), 2))`;

export function ledgerIdOf(number: number): `${string}:live` {
  return `acc_01kahw3v9gq2abcdefgh${String(10_000_000 + number).slice(2)}:live`;
}

export async function insertAccounts(db: Kysely<Tables>, history: History): Promise<void> {
  const { firstMs, accounts } = history;
  const numbers = numbersFrom(0, accounts - 1);
  for (const statement of [
    `${numbers} insert into accounts (id, name, created_at_ms) select ${accountId('n')}, 'Bench', ${firstMs} from numbers`,
    `${numbers} insert into api_keys (id, account_id, mode, name, digest, hint, created_at_ms)
      select ${keyId('n')}, ${accountId('n')}, 'live', 'Bench', ${keyId('n')}, '', ${firstMs} from numbers`,
    `${numbers} insert into ledgers (id, account_id, mode) select ${accountId('n')} || ':live', ${accountId('n')}, 'live' from numbers`,
    `${numbers} insert into entries (id, kind, ledger_id, posted_delta_micros, held_delta_micros, loss_micros, available_micros, created_at_ms)
      select ${accountId('n')}, 'credit', ${accountId('n')} || ':live', ${creditMicros}, 0, 0, ${creditMicros}, ${firstMs} from numbers`,
  ])
    await run(db, statement);
}

/** Inserts one day in the order in which it would have been charged. */
export async function insertDay(db: Kysely<Tables>, history: History, day: number): Promise<void> {
  const { firstMs, chargesPerDay, accounts } = history;
  const first = day * chargesPerDay;
  const fromMs = firstMs + day * dayMs;
  const date = new Date(fromMs).toISOString().slice(0, 10);
  const month = date.slice(0, 7);
  const timeMs = `(${fromMs} + (n - ${first}) * cast(${Math.floor(dayMs / chargesPerDay)} as bigint))`;
  const ledger = `${accountId(`n % ${accounts}`)} || ':live'`;
  const key = keyId(`n % ${accounts}`);
  const balance = `(${creditMicros} - (n / ${accounts}) * ${costMicros})`;
  const numbers = numbersFrom(first, first + chargesPerDay - 1);
  await run(
    db,
    `${numbers} insert into entries (id, kind, ledger_id, key_id, posted_delta_micros, held_delta_micros, loss_micros,
        available_micros, day, month, created_at_ms)
      select ${requestId('n')}, kind, ${ledger}, ${key}, posted, held, 0, ${balance} - spent,
        case when kind = 'reserve' then '${date}' end,
        case when kind = 'reserve' then '${month}' end, ${timeMs}
      from numbers, (select 'reserve' as kind, 0 as posted, ${heldMicros} as held, ${heldMicros} as spent
        union all select 'settle', -${costMicros}, -${heldMicros}, ${costMicros}) as kinds order by n, kind`,
  );
  await run(
    db,
    `${numbers} insert into charges (id, ledger_id, key_id, model_id, model_name, endpoint, provider, input_tokens,
        cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, usage_source,
        price_version, upstream_cost_micros, ending, streamed, cost_micros, loss_micros, hold_micros, attempts,
        duration_ms, first_byte_ms, created_at_ms)
      select ${requestId('n')}, ${ledger}, ${key}, 'openai/gpt-6-luna', 'GPT-6 Luna', 'chat', 'openai', 1000, 0, 0, 0, 100, 0,
        'upstream', '2026-11-21', ${costMicros}, 'complete', 1, ${costMicros}, 0, ${heldMicros}, 1, 1500, 300, ${timeMs} from numbers order by n`,
  );
  const sums = `count(*), sum(input_tokens), 0, sum(output_tokens), 0, sum(cost_micros), sum(upstream_cost_micros), 0`;
  const ofDay = `from charges where created_at_ms >= ${fromMs} and created_at_ms < ${fromMs + dayMs}`;
  for (const statement of [
    `insert into charge_days (ledger_id, day, key_id, model_id, endpoint, requests, input_tokens, cached_tokens, output_tokens,
        images, cost_micros, upstream_cost_micros, loss_micros)
      select ledger_id, '${date}', key_id, model_id, endpoint, ${sums} ${ofDay} group by ledger_id, key_id, model_id, endpoint`,
    `insert into key_windows (key_id, kind, starts_on, settled_micros, held_micros)
      select key_id, 'day', '${date}', sum(cost_micros), 0 ${ofDay} group by key_id`,
    `insert into key_windows (key_id, kind, starts_on, settled_micros, held_micros)
      select key_id, 'month', '${month}', sum(cost_micros), 0 ${ofDay} group by key_id
      on conflict (key_id, kind, starts_on) do update set settled_micros = key_windows.settled_micros + excluded.settled_micros`,
  ])
    await run(db, statement);
}

/** Sums the books up, as every batch would have done. */
export async function sumLedgers(db: Kysely<Tables>): Promise<void> {
  await run(
    db,
    `update ledgers set posted_micros = ${creditMicros} - sums.cost, input_tokens = sums.input, output_tokens = sums.output,
        last_entry_at_ms = sums.newest
      from (select ledger_id, sum(cost_micros) as cost, sum(input_tokens) as input, sum(output_tokens) as output,
        (select max(created_at_ms) from charges where charges.ledger_id = charge_days.ledger_id) as newest
        from charge_days group by ledger_id) as sums
      where sums.ledger_id = ledgers.id`,
  );
}

/** The bytes of all entries and charges with their indexes. */
export async function readBytes(db: Kysely<Tables>): Promise<number> {
  const query = isSqlite(db)
    ? sql<{ bytes: number }>`select (page_count - freelist_count) * page_size as bytes
        from pragma_page_count, pragma_freelist_count, pragma_page_size`
    : sql<{
        bytes: number;
      }>`select sum(pg_total_relation_size(pg_class.oid))::bigint as bytes from pg_class
        where relkind = 'r' and (relname = 'entries' or relname like 'charges%')`;
  return (await query.execute(db)).rows[0]!.bytes;
}

function numbersFrom(first: number, last: number): string {
  return `with recursive numbers (n) as (select cast(${first} as bigint) union all select n + 1 from numbers where n < ${last})`;
}

async function run(db: Kysely<Tables>, statement: string): Promise<void> {
  await sql.raw(statement).execute(db);
}
