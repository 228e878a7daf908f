// The audit log: who changed what and when, in the dashboard, by a command or by an admin key.
// Append-only; the database enforces it too.
import type { Insertable, Selectable, Transaction } from 'kysely';
import type { AuditAction } from '../../terms/audit-action.ts';
import { readNewestFirst } from '../../db/newest-first.ts';
import type { Db, Tables } from '../../db/schema.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { systemClock } from '../../lib/clock.ts';

/** A change as the audit log records it. Must never contain secrets. */
export type Change = {
  readonly action: AuditAction;
  /** The id of the changed object. */
  readonly subject: string;
  /** null: the change belongs to no account. Default: the account of the call. */
  readonly accountId?: string | null;
  /** Only the fields that changed. null, the default: the object is new, or only something is done. */
  readonly before?: object | null;
  /** null, the default: the object was removed. */
  readonly after?: object | null;
};

export type Actor = {
  readonly kind: Tables['audit_log']['actor_kind'];
  /** A user's id, a command's name, a service's name, or an admin key's id. */
  readonly id: string;
  /** The name for people, such as an e-mail address. */
  readonly name: string;
  readonly address: string | null;
};

export type AuditEntry = ReturnType<typeof toEntry>;

type AuditRecord = {
  readonly actor: Actor;
  readonly change: Change;
  readonly accountId: string | null;
};

/**
 * Writes an audit row. `write` may be a transaction, so that the row is written with the change or
 * not at all.
 */
export async function recordChange(
  write: Db,
  record: AuditRecord,
  nowMs = systemClock.nowMs(),
): Promise<void> {
  await write.insertInto('audit_log').values(auditRowOf(record, nowMs)).execute();
}

export function auditRowOf(
  { actor, change, accountId }: AuditRecord,
  nowMs: number,
): Insertable<Tables['audit_log']> {
  return {
    id: newIdWithPrefix('aud'),
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
    address: actor.address,
    account_id: change.accountId === undefined ? accountId : change.accountId,
    action: change.action,
    subject: change.subject,
    before: change.before ? JSON.stringify(change.before) : null,
    after: change.after ? JSON.stringify(change.after) : null,
    created_at_ms: nowMs,
  };
}

type BookingNote = {
  readonly accountId: string;
  readonly paymentId: string;
  readonly part: 'payment' | 'refund' | 'dispute';
  readonly deltaMicros: number;
};

const actions = {
  payment: 'payment.receive',
  refund: 'payment.refund',
  dispute: 'payment.dispute',
} as const;

/** Records a payment's effect on a balance, with Stripe as the actor. */
export async function recordBooking(
  transaction: Transaction<Tables>,
  { accountId, paymentId, part, deltaMicros }: BookingNote,
): Promise<void> {
  const actor = { kind: 'service', id: 'stripe', name: 'Stripe', address: null } as const;
  const after = { delta_micros: deltaMicros };
  const change = { action: actions[part], subject: paymentId, after };
  await recordChange(transaction, { actor, change, accountId });
}

type AuditQuery = {
  /** Default: all accounts. */
  readonly accountId?: string;
  readonly actorId?: string;
  /** An action, or a prefix such as `key.` */
  readonly action?: string;
  readonly subject?: string;
  readonly limit: number;
  /** The `next` of the page before. */
  readonly cursor: string | null;
};

/**
 * Returns a page of changes, newest first; its `next` is null on the last page. Returns null when
 * the cursor is invalid.
 */
export async function listChanges(
  read: Db,
  { accountId, actorId, action, subject, limit, cursor }: AuditQuery,
): Promise<{ readonly entries: readonly AuditEntry[]; readonly next: string | null } | null> {
  let query = read.selectFrom('audit_log').selectAll();
  if (accountId !== undefined) query = query.where('account_id', '=', accountId);
  if (actorId !== undefined) query = query.where('actor_id', '=', actorId);
  if (subject !== undefined) query = query.where('subject', '=', subject);
  if (action !== undefined)
    query = query.where('action', '>=', action).where('action', '<', `${action}\uffff`);
  const page = await readNewestFirst(query, { table: 'audit_log', limit, cursor });
  return page && { entries: page.rows.map(toEntry), next: page.next };
}

function toEntry(row: Selectable<Tables['audit_log']>) {
  return {
    id: row.id,
    created_at: new Date(row.created_at_ms).toISOString(),
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name, address: row.address },
    account_id: row.account_id,
    action: row.action,
    subject: row.subject,
    before: row.before === null ? null : (JSON.parse(row.before) as unknown),
    after: row.after === null ? null : (JSON.parse(row.after) as unknown),
  };
}
