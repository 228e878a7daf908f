// The input and output of a handler of the dashboard's API.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditedChanges } from '../domain/audit/audited-changes.ts';
import type {
  Access,
  BodyOf,
  Endpoint,
  OutputOf,
  ParametersOf,
  QueryOf,
} from './contract/endpoint.ts';
import type { Membership, Session } from '../domain/users/session.ts';
import type { DashboardContext } from './context.ts';

type Call<Name extends string, E extends Endpoint> = {
  readonly context: DashboardContext;
  readonly params: ParametersOf<Name>;
  readonly query: QueryOf<E>;
  readonly body: BodyOf<E>;
  /** null only when the endpoint is public and nobody is signed in. */
  readonly session: E['access'] extends 'public' ? Session | null : Session;
  /** The membership in the path's account. It has at least the role that the endpoint requires. */
  readonly account: E['access'] extends 'viewer' | 'member' | 'admin' | 'owner' ? Membership : null;
  /** The caller's changes. Each writes its audit row. */
  readonly changes: AuditedChanges;
  /** For what the JSON body lacks: the client's address and cookies. */
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
};

declare const isDeclared: unique symbol;

/**
 * The result of a handler that may change something. Created only by `unchanged` or `audited`, so
 * each handler states which applies.
 */
export type Changed<Output> = { readonly output: Output; readonly [isDeclared]: true };

/** Marks a result without a change that the audit log records. */
export function unchanged<Output>(output: Output): Changed<Output> {
  return { output } as Changed<Output>;
}

/** Marks a result whose change was written in one transaction with its audit row. */
export function audited<Output>(output: Output): Changed<Output> {
  return { output } as Changed<Output>;
}

type ResultOf<Name, Output> = Name extends `GET ${string}` ? Output : Changed<Output>;

/** One handler for each endpoint of a table. */
export type Handlers<Table> = {
  readonly [Name in keyof Table & string]: Table[Name] extends Endpoint
    ? (call: Call<Name, Table[Name]>) => Promise<ResultOf<Name, OutputOf<Table[Name]>>>
    : never;
};

/** Any handler; its types were checked against its table. */
export type AnyHandler = (
  call: Call<string, Endpoint & { readonly access: Access }>,
) => Promise<unknown>;
