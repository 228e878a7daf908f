// Describes an endpoint of the dashboard's API: who may call it, its input and its output. The web
// app imports these files as types only; the server checks requests against their schemas.
import type { Static, TObject, TSchema } from 'typebox';
import type { ConfirmationFields } from './common.ts';

/** Who may call an endpoint. */
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
 * Example: `GET /accounts/:account/keys`, relative to `/dashboard-api`. Paths of accounts begin
 * with `/accounts/:account`, those of operators with `/operator`.
 */
export type EndpointName = `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`;

export type Endpoint = {
  readonly access: Access;
  /**
   * Asks users to confirm afresh that it is them (`Confirmation`), because the call gives a way in
   * that outlives the session.
   */
  readonly confirmed?: boolean;
  /** For the API's description, like `note`. */
  readonly summary: string;
  readonly note?: string;
  /** Its fields are texts, whole numbers, booleans or lists of texts. */
  readonly query?: TObject;
  readonly body?: TObject;
  /** The answer, as JSON. Tests check every answer against it. */
  readonly output: TSchema;
};

/** Example: `endpoint({ access: 'user', summary: 'Get the profile', output: Profile })` */
export function endpoint<const Shape extends Endpoint>(shape: Shape): Shape {
  return shape;
}

/** The values of an output's schema. */
export type Output<Schema extends TSchema> = ReadonlyDeep<Static<Schema>>;

type ReadonlyDeep<Value> = Value extends object
  ? { readonly [Name in keyof Value]: ReadonlyDeep<Value[Name]> }
  : Value;

export type OutputOf<E> = E extends { readonly output: infer Schema extends TSchema }
  ? Output<Schema>
  : never;
/** The input of an endpoint that takes none. */
type Nothing = Readonly<Record<string, never>>;

export type QueryOf<E> = E extends { readonly query: infer Schema extends TObject }
  ? Static<Schema>
  : Nothing;
type OwnBodyOf<E> = E extends { readonly body: infer Schema extends TObject }
  ? Static<Schema>
  : unknown;
export type BodyOf<E> = E extends { readonly confirmed: true }
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
