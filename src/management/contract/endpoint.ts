// Describes a call that manages accounts: who may make it and through which door, its input and its
// output. The web app imports these files as types only; the server checks requests against their
// schemas, and tests check the answers.
import type { Static, TObject, TSchema } from 'typebox';
import type { AdminScope } from '../../terms/admin-scope.ts';
import type { ConfirmationFields, Confirmed, PageFields } from './common.ts';

/** Who may make a call in the dashboard, by the cookie of a session. */
export type Access =
  /** Anybody. */
  | 'public'
  /** Every user who is signed in. */
  | 'user'
  /** Every user of the account in the path. */
  | 'viewer'
  /** A member, admin or owner of the account in the path. */
  | 'member'
  /** An admin or owner of the account in the path. */
  | 'admin'
  /** An owner of the account in the path. */
  | 'owner'
  /** An operator. Operators do not belong to the accounts. */
  | 'operator';

/**
 * Example: `GET /accounts/:account/keys`. The dashboard has it below `/dashboard-api`, the admin
 * API below `/admin/v1`, there without `/operator`. A name that begins with `/admin/v1` is a call
 * of the admin API alone.
 */
export type EndpointName = `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`;

export type Endpoint = {
  /** Left out: the dashboard does not have it. */
  readonly access?: Access;
  /** Operators have it too, for every account, below `/operator`. */
  readonly operator?: true;
  /**
   * An operator who reads it leaves a row in the account's audit log: each time, or once in a UTC
   * day for all of these.
   */
  readonly noted?: 'each' | 'daily';
  /** The scope that an admin key needs. Left out: the admin API does not have it. */
  readonly scope?: AdminScope;
  /** The admin API has it without the account in its path: the id behind it is enough. */
  readonly withoutAccount?: true;
  /**
   * Asks users to confirm afresh that it is them (`Confirmation`), because the call gives a way in
   * that outlives the session.
   */
  readonly confirmed?: Confirmed;
  /** With an admin key: takes an `Idempotency-Key`, under which the request runs once. */
  readonly idempotency?: 'optional' | 'required';
  /** The commands that do the same, for whoever has a shell on the machine. */
  readonly commands?: readonly string[];
  /** For the APIs' descriptions, like `note`. */
  readonly summary: string;
  readonly note?: string;
  /** Its fields are texts, whole numbers, booleans or lists of texts. */
  readonly query?: TObject;
  /** The admin API refuses fields that are not in it. */
  readonly body?: TObject;
  /** Fields of the body that only the dashboard has. */
  readonly inDashboard?: readonly string[];
} & Answer;

type Answer =
  | { readonly output: TSchema }
  /** A file of this type, which only the dashboard has. */
  | { readonly file: 'text/csv' | 'application/pdf' }
  /** A list that grows, page by page. */
  | { readonly page: TSchema }
  /**
   * A list that the dashboard gets whole, and the admin API in pages, in the order of this field.
   */
  | { readonly list: TSchema; readonly order: string };

export type List = Extract<Endpoint, { readonly page: TSchema } | { readonly list: TSchema }>;

export function isList(declared: Endpoint): declared is List {
  return 'page' in declared || 'list' in declared;
}

/** Example: `endpoint({ access: 'user', summary: 'Get the profile', output: Profile })` */
export function endpoint<const Shape extends Endpoint>(shape: Shape): Shape {
  return shape;
}

/** The values of an output's schema. */
export type Output<Schema extends TSchema> = ReadonlyDeep<Static<Schema>>;

type ReadonlyDeep<Value> = Value extends object
  ? { readonly [Name in keyof Value]: ReadonlyDeep<Value[Name]> }
  : Value;

/** An answer of the dashboard's API. */
export type OutputOf<E> = E extends { readonly output: infer Schema extends TSchema }
  ? Output<Schema>
  : E extends { readonly page: infer Row extends TSchema }
    ? { readonly data: readonly Output<Row>[]; readonly next_cursor: string | null }
    : E extends { readonly list: infer Row extends TSchema }
      ? { readonly data: readonly Output<Row>[] }
      : never;

/** The input of an endpoint that takes none. */
type Nothing = Readonly<Record<string, never>>;

export type QueryOf<E> = E extends { readonly page: TSchema }
  ? (E extends { readonly query: TObject } ? FilterOf<E> : unknown) & PageFields
  : FilterOf<E>;
/** A query without its paging. */
export type FilterOf<E> = E extends { readonly query: infer Schema extends TObject }
  ? Static<Schema>
  : Nothing;

type OwnBodyOf<E> = E extends { readonly body: infer Schema extends TObject }
  ? Static<Schema>
  : unknown;
export type BodyOf<E> = E extends { readonly confirmed: Confirmed }
  ? OwnBodyOf<E> & ConfirmationFields
  : E extends { readonly body: TObject }
    ? OwnBodyOf<E>
    : Nothing;

/** The names after colons: in `GET /accounts/:account/keys/:key`, `account` and `key`. */
type ParameterOf<Name extends string> = Name extends `${string}:${infer Rest}`
  ? Rest extends `${infer Parameter}/${infer Further}`
    ? Parameter | ParameterOf<Further>
    : Rest
  : never;
export type ParametersOf<Name extends string> = Readonly<Record<ParameterOf<Name>, string>>;
