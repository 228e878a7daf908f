// The input and output of handlers, and what a door does before one runs. A handler serves one call
// of the contract, at each door that has it.
import type {
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
  onRequestHookHandler,
  onSendAsyncHookHandler,
} from 'fastify';
import type { TSchema } from 'typebox';
import type { AdminScope } from '../terms/admin-scope.ts';
import type { AuditedChanges } from '../domain/audit/audited-changes.ts';
import type { Membership, Session } from '../domain/users/session.ts';
import type {
  BodyOf,
  Endpoint,
  FilterOf,
  Output,
  OutputOf,
  ParametersOf,
} from './contract/endpoint.ts';
import type { ManagementContext } from './context.ts';
import type { Done } from './contract/common.ts';
import type { Once } from './once.ts';
import type { PageOf, Paging, Place } from './paging.ts';

/** Who calls: a user with a session, or a program with an admin key. */
export type Caller = {
  /** null: an admin key, or nobody is signed in. */
  readonly session: Session | null;
  /** The membership in the path's account, with at least the role that the call needs. */
  readonly account: Membership | null;
  /** The caller's changes. Each writes its audit row. */
  readonly changes: AuditedChanges;
  /** Runs what it is given once under an Idempotency-Key. */
  readonly once: Once;
  /** Asks users to confirm that it is them (`confirmed: 'when-judged'`). */
  readonly confirm: () => Promise<void>;
};

export type Call<Name extends string, E extends Endpoint> = Writing<Name> &
  Judging<E> & {
    readonly context: ManagementContext;
    readonly params: E extends { readonly withoutAccount: true }
      ? Optional<ParametersOf<Name>, 'account'>
      : ParametersOf<Name>;
    readonly query: FilterOf<E>;
    readonly body: BodyOf<E>;
    /** The part of a list that is asked for. */
    readonly page: Place;
    readonly session: SessionOf<E>;
    readonly account: MembershipOf<E>;
    /** For what the JSON body lacks: the client's address and cookies. */
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
  };

type Optional<Fields, Name extends string> = Omit<Fields, Name> & {
  readonly [Each in Name]?: string;
};

/** A call that only reads cannot change anything. */
type Writing<Name> = Name extends `GET ${string}` ? unknown : Pick<Caller, 'changes' | 'once'>;

type Judging<E> = E extends { readonly confirmed: 'when-judged' }
  ? Pick<Caller, 'confirm'>
  : unknown;

type SessionOf<E> = E extends { readonly access: 'public' } | { readonly scope: AdminScope }
  ? Session | null
  : Session;

type MembershipOf<E> = E extends { readonly access: 'viewer' | 'member' | 'admin' | 'owner' }
  ? E extends { readonly operator: true } | { readonly scope: AdminScope }
    ? Membership | null
    : Membership
  : null;

/** The result of a handler: nothing for `Done`; null for a page whose cursor the list did not return. */
type ResultOf<E> = E extends { readonly output: typeof Done }
  ? void
  : E extends { readonly page: infer Row extends TSchema }
    ? PageOf<Output<Row>> | null
    : E extends { readonly list: infer Row extends TSchema }
      ? readonly Output<Row>[]
      : E extends { readonly file: string }
        ? FastifyReply
        : OutputOf<E>;

/** One handler for each call of a table. */
export type Handlers<Table> = {
  readonly [Name in keyof Table & string]: Table[Name] extends Endpoint
    ? (call: Call<Name, Table[Name]>) => Promise<ResultOf<Table[Name]>>
    : never;
};

/** Any handler; its types were checked against its table. */
export type AnyHandler = (call: Call<string, Endpoint>) => Promise<unknown>;

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** A way in: how it recognizes callers, and how its lists are read. */
export type Door = { readonly paging: Paging; readonly calls: readonly DoorCall[] };

type DoorCall = {
  readonly method: Method;
  readonly url: string;
  /** The name in the contract. */
  readonly declared: string;
  /** Checks who calls, before the body is read. */
  readonly onRequest: (onRequestHookHandler | onRequestAsyncHookHandler)[];
  readonly onSend?: onSendAsyncHookHandler;
  /** Both throw ApiError 400. */
  readonly readQuery: (request: FastifyRequest) => unknown;
  readonly readBody: (request: FastifyRequest) => unknown;
  readonly enter: (asked: Asked) => Promise<Caller>;
};

export type Asked = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly body: unknown;
};

export function splitName(name: string): { readonly method: Method; readonly path: string } {
  const [method, path] = name.split(' ') as [Method, string];
  return { method, path };
}
