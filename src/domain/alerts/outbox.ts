// The outbox: an event and its deliveries are written in one transaction, together with what the event
// tells where that is a row of this database. So a crash loses none, and each has one id for ever.
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from '../../db/database.ts';
import { readNewestFirst } from '../../db/newest-first.ts';
import type { Tables } from '../../db/schema.ts';
import { transact } from '../../db/transact.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { type AlertEvent, alertEvents } from '../../terms/alert-events.ts';
import { byOwner, type Owner } from './endpoints.ts';

export type NewEvent = AlertEvent & {
  /** null: it is about the service; accounts that may hear of its type all do. */
  readonly accountId: string | null;
  /** What it tells: it is written once under this key. null: always. */
  readonly onceKey: string | null;
};

/** Writes an event for every endpoint that wants it. Returns false when it was written before. */
export function writeEvent(
  write: Kysely<Tables>,
  event: NewEvent,
  nowMs: number,
): Promise<boolean> {
  return transact({ write }, async (transaction) => {
    const id = await insertEvent(transaction, event, nowMs);
    if (id === null) return false;
    const { accountId, type } = event;
    await deliverTo(transaction, { id, nowMs }, (endpoint) =>
      endpoint
        .where('disabled_at_ms', 'is', null)
        .where((eb) => eb.or([eb('types', 'is', null), eb('types', 'like', `%"${type}"%`)]))
        .where((eb) => {
          const { heardBy } = alertEvents[type];
          const account = accountId === null ? null : eb('account_id', '=', accountId);
          return eb.or([
            ...(heardBy.includes('accounts') ? [account ?? eb('account_id', 'is not', null)] : []),
            ...(heardBy.includes('operators') ? [eb('account_id', 'is', null)] : []),
          ]);
        }),
    );
    return true;
  });
}

/** Writes a test event for one endpoint, whatever it wants. */
export function writeTest(
  write: Kysely<Tables>,
  endpoint: { readonly id: string; readonly account_id: string | null },
  nowMs: number,
): Promise<void> {
  return transact({ write }, async (transaction) => {
    const event = { type: 'test', data: { endpoint_id: endpoint.id } } as const;
    const about = { accountId: endpoint.account_id, onceKey: null };
    const id = (await insertEvent(transaction, { ...event, ...about }, nowMs))!;
    await deliverTo(transaction, { id, nowMs }, (all) => all.where('id', '=', endpoint.id));
  });
}

async function insertEvent(
  transaction: Transaction<Tables>,
  { type, data, accountId, onceKey }: NewEvent,
  nowMs: number,
): Promise<string | null> {
  const id = newIdWithPrefix('evt');
  const row = { id, type, account_id: accountId, once_key: onceKey, data: JSON.stringify(data) };
  const inserted = await transaction
    .insertInto('events')
    .values({ ...row, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.column('once_key').doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted?.id ?? null;
}

async function deliverTo(
  transaction: Transaction<Tables>,
  { id, nowMs }: { readonly id: string; readonly nowMs: number },
  choose: (endpoints: ReturnType<typeof selectEndpoints>) => ReturnType<typeof selectEndpoints>,
): Promise<void> {
  const chosen = choose(selectEndpoints(transaction)).select([
    sql<string>`${id} || '.' || id`.as('id'),
    sql<string>`${id}`.as('event_id'),
    'id as endpoint_id',
    sql<number>`${sql.lit(nowMs)}`.as('next_at_ms'),
    sql<number>`${sql.lit(nowMs)}`.as('created_at_ms'),
  ]);
  await transaction
    .insertInto('event_deliveries')
    .columns(['id', 'event_id', 'endpoint_id', 'next_at_ms', 'created_at_ms'])
    .expression(chosen)
    .execute();
}

function selectEndpoints(transaction: Transaction<Tables>) {
  return transaction.selectFrom('alert_endpoints');
}

/** Returns those of these keys under which an event was written. */
export async function writtenKeys(
  read: Kysely<Tables>,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set();
  const rows = await read
    .selectFrom('events')
    .select('once_key')
    .where('once_key', 'in', keys)
    .execute();
  return new Set(rows.map(({ once_key: key }) => key!));
}

/** Returns a page of an owner's deliveries, newest first; null when the cursor is invalid. */
export function listDeliveries(
  { read }: Pick<Database, 'read'>,
  owner: Owner,
  place: { readonly limit: number; readonly cursor: string | null },
) {
  const query = byOwner(
    read
      .selectFrom('event_deliveries')
      .innerJoin('events', 'events.id', 'event_deliveries.event_id')
      .innerJoin('alert_endpoints', 'alert_endpoints.id', 'event_deliveries.endpoint_id'),
    owner,
  )
    .select(['event_deliveries.id', 'event_deliveries.created_at_ms', 'event_id', 'endpoint_id'])
    .select(['attempts', 'next_at_ms', 'tried_at_ms', 'delivered_at_ms', 'problem'])
    .select(['events.type', 'events.data', 'alert_endpoints.disabled_at_ms']);
  return readNewestFirst(query, { table: 'event_deliveries', ...place });
}

/** Sends a delivery of an owner again, as its event was. Returns null when there is none. */
export async function sendAgain(
  { write }: Pick<Database, 'write'>,
  { owner, id, nowMs }: { readonly owner: Owner; readonly id: string; readonly nowMs: number },
): Promise<{ readonly endpointId: string } | null> {
  const own = byOwner(write.selectFrom('alert_endpoints'), owner).select('id');
  const changed = await write
    .updateTable('event_deliveries')
    .set({ next_at_ms: nowMs, attempts: 0 })
    .where('id', '=', id)
    .where('endpoint_id', 'in', own)
    .returning('endpoint_id')
    .executeTakeFirst();
  return changed ? { endpointId: changed.endpoint_id } : null;
}

const keptDays = 60;
const stepRows = 500;

/** Removes old events with their deliveries, in steps, so that other writers never wait long. */
export async function removeOldEvents({ write }: Database, nowMs: number): Promise<void> {
  for (;;) {
    const old = write
      .selectFrom('events')
      .select('id')
      .where('created_at_ms', '<', nowMs - keptDays * dayMs)
      .limit(stepRows);
    const { numDeletedRows } = await write
      .deleteFrom('events')
      .where('id', 'in', old)
      .executeTakeFirst();
    if (numDeletedRows < stepRows) return;
  }
}
