// The input and output of a handler of the admin API.
import type { AdminEndpoint } from '../contract/admin/endpoint.ts';
import type { DashboardContext } from '../context.ts';
import type { BodyOf, OutputOf, ParametersOf, QueryOf } from '../contract/endpoint.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import type { Once } from './once.ts';

export type AdminCall<Name extends string, E extends AdminEndpoint> = {
  readonly context: DashboardContext;
  readonly params: ParametersOf<Name>;
  readonly query: QueryOf<E>;
  readonly body: BodyOf<E>;
  /** The admin key's changes. Each writes its audit row. */
  readonly changes: AuditedChanges;
  /** The client's address. */
  readonly address: string;
  /** For endpoints that take an Idempotency-Key. */
  readonly once: Once;
};

/** One handler for each endpoint of a table. */
export type AdminHandlers<Table> = {
  readonly [Name in keyof Table & string]: Table[Name] extends AdminEndpoint
    ? (call: AdminCall<Name, Table[Name]>) => Promise<OutputOf<Table[Name]>>
    : never;
};

/** Any handler; its types were checked against its table. */
export type AnyAdminHandler = (call: AdminCall<string, AdminEndpoint>) => Promise<unknown>;
