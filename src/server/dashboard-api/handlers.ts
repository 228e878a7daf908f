// What a handler of the dashboard's API is given, and what it gives back.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Change } from '../../audit/audit-log.ts';
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
  /** For what JSON cannot say: the client's address, its cookies. */
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
};

/** With what the audit log says of it; null: nothing was changed. */
export type Changed<Output> = {
  readonly output: Output;
  readonly change: Change | null;
  /** Who made it, where nobody was signed in before. */
  readonly by?: { readonly userId: string; readonly email: string };
};

export function changed<Output>(output: Output, change: Change | null, by?: Changed<Output>['by']): Changed<Output> {
  return { output, change, by };
}

type ResultOf<Name, Output> = Name extends `GET ${string}` ? Output : Changed<Output>;

/** A handler for each endpoint of a table. What changes something says what, so that no change goes unlogged. */
export type Handlers<Table> = {
  readonly [Name in keyof Table & string]: Table[Name] extends Endpoint
    ? (call: Call<Name, Table[Name]>) => Promise<ResultOf<Name, OutputOf<Table[Name]>>>
    : never;
};

/** A handler whose types were checked with its table. */
export type AnyHandler = (call: Call<string, Endpoint & { readonly access: Access }>) => Promise<unknown>;
