// Who changed what, and when: every change that was made in the dashboard or by a command. Append-only, in the database's own rules as well.
import type { Insertable, Selectable } from 'kysely';
import type { Database } from '../db/database.ts';
import type { AuditLogTable } from '../db/schema.ts';
import { newIdWithPrefix } from '../lib/ids.ts';
import { systemClock } from '../lib/clock.ts';

/** What is said of a change. Secrets never stand in it. */
export type Change = {
  /** `key.update`: the kind of thing, and what became of it. */
  readonly action: string;
  /** The id of the thing. */
  readonly subject: string;
  /** null: of no account, or of one that the change says nothing about. Left out: the account of the call. */
  readonly accountId?: string | null;
  /** Only the fields that changed; null: there was nothing before. */
  readonly before: object | null;
  /** null: there is nothing any more. */
  readonly after: object | null;
};

export type Actor = {
  readonly kind: 'user' | 'command' | 'service';
  /** A user's id; of a command its name, of a service its own. */
  readonly id: string;
  /** As people know it: an e-mail address. */
  readonly name: string;
  /** Where it came from over the network. */
  readonly address: string | null;
};

export type AuditEntry = {
  readonly id: string;
  readonly created_at: string;
  readonly actor: { readonly kind: Actor['kind']; readonly id: string; readonly name: string; readonly address: string | null };
  readonly account_id: string | null;
  readonly action: string;
  readonly subject: string;
  readonly before: unknown;
  readonly after: unknown;
};

type Told = { readonly actor: Actor; readonly change: Change; readonly accountId: string | null };

/** `write` may be a transaction: then the note is made with the change or not at all. */
export async function recordChange({ write }: Pick<Database, 'write'>, told: Told, nowMs = systemClock.nowMs()): Promise<void> {
  await write.insertInto('audit_log').values(auditRowOf(told, nowMs)).execute();
}

export function auditRowOf({ actor, change, accountId }: Told, nowMs: number): Insertable<AuditLogTable> {
  return {
    id: newIdWithPrefix('aud'),
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
    address: actor.address,
    account_id: change.accountId === undefined ? accountId : change.accountId,
    action: change.action,
    subject: change.subject,
    before: change.before && JSON.stringify(change.before),
    after: change.after && JSON.stringify(change.after),
    created_at_ms: nowMs,
  };
}

export type AuditQuery = {
  /** Left out: of all accounts. */
  readonly accountId?: string;
  readonly actorId?: string;
  /** An action, or what it begins with: `key.` */
  readonly action?: string;
  readonly subject?: string;
  readonly limit: number;
  /** The `next` of the page before. */
  readonly cursor: string | null;
};

/** Newest first. `next` is null on the last page. null when the cursor is none of ours. */
export async function listChanges(
  database: Database,
  { accountId, actorId, action, subject, limit, cursor }: AuditQuery,
): Promise<{ readonly entries: readonly AuditEntry[]; readonly next: string | null } | null> {
  let query = database.read.selectFrom('audit_log').selectAll();
  if (accountId !== undefined) query = query.where('account_id', '=', accountId);
  if (actorId !== undefined) query = query.where('actor_id', '=', actorId);
  if (subject !== undefined) query = query.where('subject', '=', subject);
  if (action !== undefined) query = query.where('action', '>=', action).where('action', '<', `${action}\uffff`);
  const after = cursor === null ? null : readCursor(cursor);
  if (cursor !== null && !after) return null;
  if (after) query = query.where((eb) => eb(eb.refTuple('created_at_ms', 'id'), '<', eb.tuple(after.createdAtMs, after.id)));
  const rows = await query
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { entries: page.map(toEntry), next: rows.length > limit && last ? `${last.created_at_ms}|${last.id}` : null };
}

function readCursor(cursor: string): { readonly createdAtMs: number; readonly id: string } | null {
  const match = /^(\d{1,15})\|(\w{1,64})$/.exec(cursor);
  return match && { createdAtMs: Number(match[1]), id: match[2]! };
}

function toEntry(row: Selectable<AuditLogTable>): AuditEntry {
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
