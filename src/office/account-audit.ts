// An account's audit log as its owners see it: without who works for the operator, and without the
// operator's own settings.
import { type AuditEntry, listChanges } from '../domain/audit/audit-log.ts';
import { invalidCursor } from '../canonical/errors.ts';
import { findOutsideOperators } from '../domain/users/user-records.ts';
import type { DashboardContext } from './context.ts';

const pageRows = 50;

/** Fields of changes of an account that its owners may see. */
const shownFields = new Set([
  'name',
  'frozen',
  'retain_responses',
  'requests_per_minute',
  'tokens_per_minute',
  'concurrent_requests',
  'allowed_addresses',
  'amount_micros',
  'mode',
  'threshold_micros',
]);

type Query = {
  readonly accountId: string;
  readonly action?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
};

/** Throws ApiError `invalid_request` when the cursor is none of ours. */
export async function listAccountChanges(
  { database }: DashboardContext,
  { accountId, action, limit = pageRows, cursor }: Query,
): Promise<{ readonly data: readonly AuditEntry[]; readonly next_cursor: string | null }> {
  const page = await listChanges(database, {
    accountId,
    ...(action !== undefined && { action }),
    limit,
    cursor: cursor ?? null,
  });
  if (!page) throw invalidCursor();
  const users = page.entries.flatMap(({ actor }) => (actor.kind === 'user' ? [actor.id] : []));
  const userIds = [...new Set(users)];
  const operators = await findOutsideOperators(database.read, { userIds, accountId });
  const isOperators = ({ actor }: AuditEntry) =>
    actor.kind === 'command' || actor.kind === 'admin-key' || operators.has(actor.id);
  return {
    data: page.entries.map((entry) => (isOperators(entry) ? masked(entry) : entry)),
    next_cursor: page.next,
  };
}

function masked(entry: AuditEntry): AuditEntry {
  const isOfAccount = entry.action.startsWith('account.');
  return {
    ...entry,
    actor: { kind: entry.actor.kind, id: '', name: 'The operator', address: null },
    before: isOfAccount ? shownPart(entry.before) : entry.before,
    after: isOfAccount ? shownPart(entry.after) : entry.after,
  };
}

function shownPart(fields: unknown): unknown {
  if (typeof fields !== 'object' || fields === null) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => shownFields.has(name)));
}
