// Limits shared through PostgreSQL: each exchange is one statement, which locks its rows in the
// order of their ids. The tables are unlogged: after a server crash every bucket is full, and every
// gateway reports its slots again.
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Db } from '../../db/schema.ts';
import type { RateRequest, RateGrant } from './shared-rates.ts';
import type { SlotRequest } from './shared-slots.ts';

/**
 * A missing row is created and the request repeated; only the removal of idle rows can interfere.
 */
const triesMax = 5;

/**
 * `refill` and `draw` of bucket.ts in SQL. Without `nowMs`, the database's clock is used, read
 * after the row is locked.
 */
export async function exchangeRates(
  transient: Db,
  requests: readonly RateRequest[],
  nowMs?: number,
): Promise<readonly RateGrant[]> {
  return answerAll(requests, {
    decide: async (open) => {
      const { rows } = await sql<{ id: string; granted: number; level: number }>`
        with asked as (
          select * from unnest(${open.map(({ id }) => id)}::text[], ${open.map(({ perMinute }) => perMinute)}::float8[],
            ${open.map(({ returned }) => returned)}::float8[], ${open.map(({ wanted }) => wanted)}::float8[])
            as a (id, per_minute, returned, wanted)
        ), locked as materialized (
          select bucket.id, bucket.level, bucket.updated_at_ms, asked.per_minute, asked.returned, asked.wanted
          from rate_buckets as bucket join asked on asked.id = bucket.id order by bucket.id for update of bucket
        ), timed as materialized (
          select *, ${timeOf(nowMs)} as now_ms from locked
        ), refilled as (
          select *, least(per_minute,
            least(per_minute, level + greatest(0, now_ms - updated_at_ms) * per_minute / 60000) + returned) as now_level from timed
        ), decided as (
          select *, least(wanted, greatest(0, floor(now_level))) as granted from refilled
        )
        update rate_buckets as bucket
        set level = decided.now_level - decided.granted, per_minute = decided.per_minute, updated_at_ms = decided.now_ms
        from decided where bucket.id = decided.id
        returning bucket.id, decided.granted, bucket.level`.execute(transient);
      return new Map(rows.map(({ id, granted, level }) => [id, { granted, level }]));
    },
    createRows: async (missing) => {
      await sql`
        insert into rate_buckets (id, level, per_minute, updated_at_ms)
        select id, per_minute, per_minute, ${timeOf(nowMs)}
        from unnest(${missing.map(({ id }) => id)}::text[], ${missing.map(({ perMinute }) => perMinute)}::float8[]) as a (id, per_minute)
        order by id on conflict (id) do nothing`.execute(transient);
    },
  });
}

/** `holders` maps owners to slot counts; an owner without a lease counts as zero. */
export async function exchangeSlots(
  database: Database,
  owner: string,
  requests: readonly SlotRequest[],
): Promise<readonly number[]> {
  return answerAll(requests, {
    decide: async (open) => {
      const { rows } = await sql<{ id: string; granted: number }>`
        with asked as (
          select * from unnest(${open.map(({ id }) => id)}::text[], ${open.map(({ max }) => max)}::float8[],
            ${open.map(({ inUse }) => inUse)}::float8[], ${open.map(({ wanted }) => wanted)}::float8[])
            as a (id, slots_max, in_use, wanted)
        ), locked as materialized (
          select slots.id, slots.holders, asked.slots_max, asked.in_use, asked.wanted
          from concurrency_slots as slots join asked on asked.id = slots.id order by slots.id for update of slots
        ), decided as materialized (
          select id, in_use, others, greatest(0, least(wanted, slots_max - in_use - others_held)) as granted
          from locked cross join lateral (
            select coalesce(jsonb_object_agg(key, value), '{}') as others, coalesce(sum(value::float8), 0) as others_held
            from jsonb_each(holders)
            where key <> ${owner} and exists (select from hold_owners where hold_owners.owner = key)
          ) as living
        )
        update concurrency_slots as slots
        set holders = others || case when in_use + granted > 0 then jsonb_build_object(${owner}::text, in_use + granted) else '{}' end
        from decided where slots.id = decided.id
        returning slots.id, decided.granted`.execute(database.transient);
      return new Map(rows.map(({ id, granted }) => [id, granted]));
    },
    createRows: async (missing) => {
      await sql`
        insert into concurrency_slots (id, holders)
        select id, '{}' from unnest(${missing.map(({ id }) => id)}::text[]) as a (id) order by id
        on conflict (id) do nothing`.execute(database.transient);
    },
  });
}

/** Returns milliseconds: the database's clock, or a test's. */
function timeOf(nowMs: number | undefined) {
  return nowMs === undefined
    ? sql`extract(epoch from clock_timestamp())::float8 * 1000`
    : sql`${nowMs}::float8`;
}

/** Removes rows that equal missing ones: full buckets and unused slots. */
export async function removeIdle(transient: Db, nowMs?: number): Promise<void> {
  await sql`
    delete from rate_buckets where level + (${timeOf(nowMs)} - updated_at_ms) * per_minute / 60000
      >= per_minute`.execute(transient);
  await sql`delete from concurrency_slots where holders = '{}'`.execute(transient);
}

type RowStatements<Request, Answer> = {
  /** Returns the answers by id, for requests whose row exists. */
  readonly decide: (open: readonly Request[]) => Promise<ReadonlyMap<string, Answer>>;
  readonly createRows: (missing: readonly Request[]) => Promise<void>;
};

async function answerAll<Request extends { readonly id: string }, Answer>(
  requests: readonly Request[],
  { decide, createRows }: RowStatements<Request, Answer>,
): Promise<readonly Answer[]> {
  const answers = new Map<string, Answer>();
  for (let tries = 0; tries < triesMax; tries++) {
    const open = requests.filter(({ id }) => !answers.has(id));
    if (open.length === 0) return requests.map(({ id }) => answers.get(id)!);
    if (tries > 0) await createRows(open);
    for (const [id, answer] of await decide(open)) answers.set(id, answer);
  }
  const missing = requests.find(({ id }) => !answers.has(id));
  if (missing) throw new Error(`the row of ${missing.id} keeps disappearing`);
  return requests.map(({ id }) => answers.get(id)!);
}
