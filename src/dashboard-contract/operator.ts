// Endpoints for operators.
import { Type } from 'typebox';
import { PageQuery, type Page } from './common.ts';
import { endpoint } from './endpoint.ts';

export type { AuditKind } from '../canonical/audit-action.ts';

type AuditEntry = {
  readonly id: string;
  readonly created_at: string;
  /** `name`: an e-mail address, a command, a service. */
  readonly actor: {
    readonly kind: 'user' | 'command' | 'service';
    readonly id: string;
    readonly name: string;
    readonly address: string | null;
  };
  readonly account_id: string | null;
  /** `key.update` */
  readonly action: string;
  readonly subject: string;
  /** The fields that changed. */
  readonly before: unknown;
  readonly after: unknown;
};

export const operatorEndpoints = {
  /** `action`: one, or what it begins with, as `key.`. */
  'GET /operator/audit-log': endpoint<Page<AuditEntry>>()({
    access: 'operator',
    query: Type.Object({
      ...PageQuery,
      account: Type.Optional(Type.String()),
      actor: Type.Optional(Type.String()),
      action: Type.Optional(Type.String()),
      subject: Type.Optional(Type.String()),
    }),
  }),
};
