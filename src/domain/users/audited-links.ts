// Wraps the sign-in library's database adapter. When a new or existing user is linked to an
// identity provider, one transaction writes the link and its audit row. The library writes these
// rows itself, so it must know the audit log as one of its tables.
import type { BetterAuthPlugin, DBAdapter, DBTransactionAdapter } from 'better-auth';
import type { Insertable } from 'kysely';
import type { AuditLogTable } from '../../db/schema.ts';

/** Builds the audit log's row for a change that a user made without being signed in. */
export type OwnChangeRow = (change: {
  readonly action: 'user.link-provider' | 'account.create';
  readonly user: { readonly id: string; readonly email: string };
  /** Default: the change is about the user. */
  readonly accountId?: string;
  readonly after: object;
}) => Insertable<AuditLogTable>;

const auditModel = 'auditLog';
const text = { type: 'string', required: false } as const;

/** The audit log's table, described for the library. */
export const auditSchema = {
  [auditModel]: {
    modelName: 'audit_log',
    fields: {
      actor_kind: text,
      actor_id: text,
      actor_name: text,
      address: text,
      account_id: text,
      action: text,
      subject: text,
      before: text,
      after: text,
      created_at_ms: { type: 'number', bigint: true, required: false },
    },
  },
} satisfies BetterAuthPlugin['schema'];

export function withAuditedLinks(adapter: DBAdapter, rowOf: OwnChangeRow): DBAdapter {
  const create: DBAdapter['create'] = (call) =>
    call.model === 'account'
      ? adapter.transaction((inner) => auditing(inner, rowOf).create(call))
      : adapter.create(call);
  return {
    ...adapter,
    create,
    transaction: (callback) => adapter.transaction((inner) => callback(auditing(inner, rowOf))),
  };
}

function auditing(inner: DBTransactionAdapter, rowOf: OwnChangeRow): DBTransactionAdapter {
  return {
    ...inner,
    create: async (call) => {
      const created = await inner.create(call);
      if (call.model === 'account') await recordLink(inner, rowOf, call.data);
      return created as never;
    },
  };
}

async function recordLink(
  inner: DBTransactionAdapter,
  rowOf: OwnChangeRow,
  link: Record<string, unknown>,
): Promise<void> {
  const where = [{ field: 'id', value: String(link['userId']) }];
  const user = await inner.findOne<{ readonly id: string; readonly email: string }>({
    model: 'user',
    where,
  });
  if (!user) throw new Error('cannot record the linked identity provider: its user does not exist');
  const row = rowOf({
    action: 'user.link-provider',
    user,
    after: { provider: link['providerId'] },
  });
  await inner.create({ model: auditModel, data: row, forceAllowId: true });
}
