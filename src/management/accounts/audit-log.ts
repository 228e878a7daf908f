// The audit log, for operators; and an account's as its owners see it: without who works for the
// operator, and without the operator's own settings.
import { listChanges } from '../../domain/audit/audit-log.ts';
import { type NamedEntry, withNames } from '../../domain/audit/names.ts';
import { findOutsideOperators } from '../../domain/users/user-records.ts';
import type { auditEndpoints } from '../contract/audit-log.ts';
import type { Handlers } from '../handlers.ts';

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

export const auditHandlers: Handlers<typeof auditEndpoints> = {
  'GET /operator/audit-log': async ({ context, query, page }) => {
    const { account: accountId, actor: actorId, action, subject } = query;
    const filters = { accountId, actorId, action, subject };
    const found = await listChanges(context.database.read, { ...filters, ...page });
    if (!found) return null;
    return { rows: await withNames(context.database.read, found.entries), next: found.next };
  },

  'GET /accounts/:account/audit-log': async ({ context: { database }, params, query, page }) => {
    const accountId = params.account;
    const found = await listChanges(database.read, { accountId, action: query.action, ...page });
    if (!found) return null;
    const users = found.entries.flatMap(({ actor }) => (actor.kind === 'user' ? [actor.id] : []));
    const userIds = [...new Set(users)];
    const operators = await findOutsideOperators(database.read, { userIds, accountId });
    const isOperators = ({ actor }: NamedEntry) =>
      actor.kind === 'command' || actor.kind === 'admin-key' || operators.has(actor.id);
    const named = await withNames(database.read, found.entries);
    const rows = named.map((entry) => (isOperators(entry) ? masked(entry) : entry));
    return { rows, next: found.next };
  },
};

function masked(entry: NamedEntry): NamedEntry {
  const { [entry.actor.id]: _own, ...names } = entry.names;
  const isOfAccount = entry.action.startsWith('account.');
  return {
    ...entry,
    actor: { kind: entry.actor.kind, id: '', name: 'The operator', address: null },
    before: isOfAccount ? shownPart(entry.before) : entry.before,
    after: isOfAccount ? shownPart(entry.after) : entry.after,
    names,
  };
}

function shownPart(fields: unknown): unknown {
  if (typeof fields !== 'object' || fields === null) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => shownFields.has(name)));
}
