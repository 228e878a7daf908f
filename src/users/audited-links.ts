// Between the sign-in library and its tables: whoever is tied to a provider, as a new user or as one that there was, is so in one transaction
// with a row in the audit log. The library makes these rows itself, so that the audit log is a table of its too.
import type { BetterAuthPlugin, DBAdapter, DBTransactionAdapter } from 'better-auth';
import type { Insertable } from 'kysely';
import type { AuditLogTable } from '../db/schema.ts';

/** The audit log's row of what a user has changed without being signed in. */
export type OwnChangeRow = (change: {
  readonly action: 'user.link-provider' | 'account.create';
  readonly user: { readonly id: string; readonly email: string };
  /** Left out: it is about the user. */
  readonly accountId?: string;
  readonly after: object;
}) => Insertable<AuditLogTable>;

const auditModel = 'auditLog';
const text = { type: 'string', required: false } as const;

/** The table as the library needs to know it. */
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
    call.model === 'account' ? adapter.transaction((inner) => auditing(inner, rowOf).create(call)) : adapter.create(call);
  return { ...adapter, create, transaction: (callback) => adapter.transaction((inner) => callback(auditing(inner, rowOf))) };
}

function auditing(inner: DBTransactionAdapter, rowOf: OwnChangeRow): DBTransactionAdapter {
  return {
    ...inner,
    create: async (call) => {
      const created = await inner.create(call);
      if (call.model === 'account') await noteLink(inner, rowOf, call.data);
      return created as never;
    },
  };
}

async function noteLink(inner: DBTransactionAdapter, rowOf: OwnChangeRow, link: Record<string, unknown>): Promise<void> {
  const where = [{ field: 'id', value: String(link['userId']) }];
  const user = await inner.findOne<{ readonly id: string; readonly email: string }>({ model: 'user', where });
  if (!user) throw new Error('a provider was tied to a user who is not there');
  const row = rowOf({ action: 'user.link-provider', user, after: { provider: link['providerId'] } });
  await inner.create({ model: auditModel, data: row, forceAllowId: true });
}
