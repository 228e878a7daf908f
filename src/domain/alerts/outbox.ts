// The outbox: an event and its deliveries are written in one transaction, together with what the event
// tells where that is a row of this database. So a crash loses none, and each has one id for ever.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../../db/database.ts';
import { readNewestFirst } from '../../db/newest-first.ts';
import type { Db, Tables } from '../../db/schema.ts';
import { transact } from '../../db/transact.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { type AlertEvent, alertEvents, type AlertType } from '../../terms/alert-events.ts';
import type { StoredEvent } from './channels.ts';
import { byOwner, type Owner } from './endpoints.ts';

export type NewEvent = AlertEvent & {
  /** null: it is about the service; accounts that may hear of its type all do. */
  readonly accountId: string | null;
  /** What it tells: it is written once under this key. null: always. */
  readonly onceKey: string | null;
};

/** Writes an event for every endpoint that wants it. Returns false when it was written before. */
export function writeEvent(write: Db, event: NewEvent, nowMs: number) {
  return transact(write, async (transaction) => {
    const id = newIdWithPrefix('evt');
    if (!(await insertEvent(transaction, { id, ...event }, nowMs))) return false;
    await deliver(transaction, id, {
      to: hearersOf(transaction, event.type, event.accountId),
      nowMs,
    });
    return true;
  });
}

/**
 * Writes those of the events that were not written before. One that nobody hears of is not written, so
 * that an endpoint that is added later hears of it.
 */
export async function writeNewEvents(
  { read, write }: Pick<Database, 'read' | 'write'>,
  events: readonly NewEvent[],
  nowMs: number,
): Promise<void> {
  if (events.length === 0) return;
  const keys = events.flatMap(({ onceKey }) => onceKey ?? []);
  const query = read.selectFrom('events').select('once_key').where('once_key', 'in', keys);
  const known = new Set((await query.execute()).map((row) => row.once_key));
  for (const event of events) {
    if (known.has(event.onceKey)) continue;
    const hearer = hearersOf(read, event.type, event.accountId).select('id').limit(1);
    if (await hearer.executeTakeFirst()) await writeEvent(write, event, nowMs);
  }
}

/** Writes a test event for one endpoint, whatever it wants. */
export function writeTest(
  write: Db,
  endpoint: { readonly id: string; readonly account_id: string | null },
  nowMs: number,
): Promise<void> {
  return transact(write, async (transaction) => {
    const event = { type: 'test', data: { endpoint_id: endpoint.id } } as const;
    const about = { id: newIdWithPrefix('evt'), accountId: endpoint.account_id, onceKey: null };
    await insertEvent(transaction, { ...event, ...about }, nowMs);
    const to = transaction.selectFrom('alert_endpoints').where('id', '=', endpoint.id);
    await deliver(transaction, about.id, { to, nowMs });
  });
}

/** Writes an event about the service that was sent already to some of its endpoints. */
export function recordTold(
  write: Db,
  { id, type, data, createdAtMs: nowMs }: StoredEvent,
  told: ReadonlySet<string>,
): Promise<void> {
  return transact(write, async (transaction) => {
    const about = { accountId: null, onceKey: null };
    const event = { id, type, data: JSON.parse(data) as never, ...about } as NewEvent &
      typeof about;
    if (!(await insertEvent(transaction, { id, ...event }, nowMs))) return;
    await deliver(transaction, id, { to: hearersOf(transaction, type, null), nowMs });
    await transaction
      .updateTable('event_deliveries')
      .set({ next_at_ms: null, tried_at_ms: nowMs, delivered_at_ms: nowMs, attempts: 1 })
      .where('event_id', '=', id)
      .where('endpoint_id', 'in', ['', ...told])
      .execute();
  });
}

/** Returns the operators' endpoints that hear of a type about the service. */
export function readHearers(db: Db, type: AlertType) {
  return hearersOf(db, type, null).where('account_id', 'is', null).selectAll().execute();
}

function hearersOf(db: Db, type: AlertType, accountId: string | null) {
  const { heardBy } = alertEvents[type];
  return db
    .selectFrom('alert_endpoints')
    .where('disabled_at_ms', 'is', null)
    .where((eb) => eb.or([eb('types', 'is', null), eb('types', 'like', `%"${type}"%`)]))
    .where((eb) => {
      const isOfAccount =
        accountId === null ? eb('account_id', 'is not', null) : eb('account_id', '=', accountId);
      return eb.or([
        ...(heardBy.includes('accounts') ? [isOfAccount] : []),
        ...(heardBy.includes('operators') ? [eb('account_id', 'is', null)] : []),
      ]);
    });
}

/** Returns false when an event with its key is there. */
async function insertEvent(
  transaction: Transaction<Tables>,
  { id, type, data, accountId, onceKey }: NewEvent & { readonly id: string },
  nowMs: number,
): Promise<boolean> {
  const row = { id, type, account_id: accountId, once_key: onceKey, data: JSON.stringify(data) };
  const inserted = await transaction
    .insertInto('events')
    .values({ ...row, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

type Delivery = { readonly to: ReturnType<typeof hearersOf>; readonly nowMs: number };

async function deliver(
  transaction: Transaction<Tables>,
  eventId: string,
  { to, nowMs }: Delivery,
): Promise<void> {
  const time = sql<number>`${sql.lit(nowMs)}`;
  const rows = to.select([
    sql<string>`${eventId} || '.' || id`.as('id'),
    sql<string>`${eventId}`.as('event_id'),
    'id as endpoint_id',
    time.as('next_at_ms'),
    time.as('created_at_ms'),
  ]);
  await transaction
    .insertInto('event_deliveries')
    .columns(['id', 'event_id', 'endpoint_id', 'next_at_ms', 'created_at_ms'])
    .expression(rows)
    .execute();
}

/** Returns a page of an owner's deliveries, newest first; null when the cursor is invalid. */
export function listDeliveries(
  read: Db,
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
  write: Db,
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
export async function removeOldEvents(write: Db, nowMs: number): Promise<void> {
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
