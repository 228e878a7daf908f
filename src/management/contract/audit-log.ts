// The audit log.
import { Type } from 'typebox';
import { AccountFilter, closed, orNull } from './common.ts';
import { endpoint } from './endpoint.ts';

export type { AuditAction, AuditKind } from '../../terms/audit-action.ts';

export const AuditEntry = closed({
  id: Type.String(),
  created_at: Type.String(),
  /** `name`: an e-mail address, a command, a service, an admin key's name. */
  actor: closed({
    kind: Type.Enum(['user', 'command', 'service', 'admin-key']),
    id: Type.String(),
    name: Type.String(),
    address: orNull(Type.String()),
  }),
  account_id: orNull(Type.String()),
  action: Type.String({ description: '`key.update`' }),
  subject: Type.String(),
  before: Type.Unknown({ description: 'The fields that changed.' }),
  after: Type.Unknown(),
  names: Type.Record(Type.String(), Type.String()),
});

export const auditEndpoints = {
  'GET /operator/audit-log': endpoint({
    access: 'operator',
    scope: 'audit:read',
    summary: 'List the audit log',
    note: 'Newest first. `action`: one, or what it begins with, as `key.`.',
    query: Type.Object({
      account: AccountFilter,
      actor: Type.Optional(Type.String({ maxLength: 64 })),
      action: Type.Optional(Type.String({ maxLength: 64 })),
      subject: Type.Optional(Type.String({ maxLength: 200 })),
    }),
    page: AuditEntry,
  }),
  'GET /accounts/:account/audit-log': endpoint({
    access: 'owner',
    summary: 'List the changes of the account',
    note: 'Newest first. `action`: one, or what it begins with, as `key.`. Changes by the operator have neither name nor address.',
    query: Type.Object({ action: Type.Optional(Type.String({ maxLength: 64 })) }),
    page: AuditEntry,
  }),
};
