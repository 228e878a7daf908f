// What a handler of the dashboard's API is given, and what it gives back.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditedChanges } from '../../audit/audited-changes.ts';
import type { Access, BodyOf, Endpoint, OutputOf, ParametersOf, QueryOf } from '../../dashboard-contract/endpoint.ts';
import type { Membership, Session } from '../../users/session.ts';
import type { ServerContext } from '../context.ts';

type Call<Name extends string, E extends Endpoint> = {
  readonly context: ServerContext;
  readonly params: ParametersOf<Name>;
  readonly query: QueryOf<E>;
  readonly body: BodyOf<E>;
  /** null only where nobody need be signed in. */
  readonly session: E['access'] extends 'public' ? Session | null : Session;
  /** Of the path: the caller is at least what the endpoint asks for in it. */
  readonly account: E['access'] extends 'member' | 'admin' | 'owner' ? Membership : null;
  /** The caller's changes, each with its row in the audit log. */
  readonly changes: AuditedChanges;
  /** For what JSON cannot say: the client's address, its cookies. */
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
};

declare const isAccountedFor: unique symbol;

/** What a handler that may change something answers; made by `unchanged` or `audited`, so that each says which. */
export type Changed<Output> = { readonly output: Output; readonly [isAccountedFor]: true };

/** Nothing was changed that the audit log speaks of. */
export function unchanged<Output>(output: Output): Changed<Output> {
  return { output } as Changed<Output>;
}

/** What was changed was written in one transaction with its row in the audit log. */
export function audited<Output>(output: Output): Changed<Output> {
  return { output } as Changed<Output>;
}

type ResultOf<Name, Output> = Name extends `GET ${string}` ? Output : Changed<Output>;

/** A handler for each endpoint of a table. */
export type Handlers<Table> = {
  readonly [Name in keyof Table & string]: Table[Name] extends Endpoint
    ? (call: Call<Name, Table[Name]>) => Promise<ResultOf<Name, OutputOf<Table[Name]>>>
    : never;
};

/** A handler whose types were checked with its table. */
export type AnyHandler = (call: Call<string, Endpoint & { readonly access: Access }>) => Promise<unknown>;
