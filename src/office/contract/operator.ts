// Endpoints for operators.
import { Type } from 'typebox';
import { closed, orNull, page, PageQuery } from './common.ts';
import { endpoint } from './endpoint.ts';

export type { AuditKind } from '../../canonical/audit-action.ts';

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
});

export const operatorEndpoints = {
  'GET /operator/audit-log': endpoint({
    access: 'operator',
    summary: 'List the audit log',
    note: '`action`: one, or what it begins with, as `key.`.',
    query: Type.Object({
      ...PageQuery,
      account: Type.Optional(Type.String()),
      actor: Type.Optional(Type.String()),
      action: Type.Optional(Type.String()),
      subject: Type.Optional(Type.String()),
    }),
    output: page(AuditEntry),
  }),
};
