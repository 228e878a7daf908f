// The contract as each of its two doors shows it: the dashboard's API, which a session opens, and
// the admin API, which an admin key opens. Their paths, their paging and what they refuse differ.
import { Type, type TObject, type TSchema } from 'typebox';
import type { AdminScope } from '../../terms/admin-scope.ts';
import { closed, orNull } from './common.ts';
import { type Access, type Endpoint, type EndpointName, isList, type List } from './endpoint.ts';

type Shown = {
  /** Its name in the contract. */
  readonly declared: string;
  readonly summary: string;
  readonly note?: string;
  readonly query?: TObject;
  readonly body?: TObject;
};
export type SessionEndpoint = Shown & {
  readonly access: Access;
  readonly confirmed?: Endpoint['confirmed'];
  readonly noted?: Endpoint['noted'];
  readonly output: TSchema;
  /** The type of a file; then the output is its text. */
  readonly file?: string;
};
export type KeyEndpoint = Shown & {
  readonly scope: AdminScope;
  readonly idempotency?: Endpoint['idempotency'];
  readonly output: TObject;
};

type Contract = Readonly<Record<string, Endpoint>>;
type Door<Shape> = Readonly<Record<EndpointName, Shape>>;

/** Returns the calls of the dashboard's API, by names relative to `/dashboard-api`. */
export function sessionDoor(contract: Contract): Door<SessionEndpoint> {
  const calls = Object.entries(contract).flatMap(([name, endpoint]) => {
    const { access, operator } = endpoint;
    const shown = {
      ...endpoint,
      declared: name,
      ...('page' in endpoint && { query: withFields(endpoint.query, sessionPaging) }),
      output: sessionOutput(endpoint),
    };
    return [
      ...(access ? [[name, { ...shown, access }] as const] : []),
      ...(operator
        ? [[name.replace(' ', ' /operator'), { ...shown, access: 'operator' }] as const]
        : []),
    ];
  });
  return Object.fromEntries(calls);
}

/** Returns the calls of the admin API, by names relative to `/admin/v1`. */
export function keyDoor(contract: Contract): Door<KeyEndpoint> {
  const calls = Object.entries(contract).flatMap(([name, endpoint]) => {
    const { scope, query, body, inDashboard = [] } = endpoint;
    if (!scope) return [];
    const fields = Object.entries(body?.properties ?? {});
    const own = fields.filter(([field]) => !inDashboard.includes(field));
    const shown = {
      ...endpoint,
      declared: name,
      scope,
      ...(isList(endpoint) && { query: withFields(query, keyPaging) }),
      ...(body && { body: closed(Object.fromEntries(own)) }),
      output: isList(endpoint) ? keyPage(rowOf(endpoint)) : (sessionOutput(endpoint) as TObject),
    };
    const path = endpoint.withoutAccount ? name.replace('/accounts/:account', '') : name;
    return [[path.replace(/ \/(?:admin\/v1|operator)/, ' '), shown] as const];
  });
  return Object.fromEntries(calls);
}

const sessionPaging = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  cursor: Type.Optional(Type.String()),
};

const keyPaging = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Default: 50.' })),
  after: Type.Optional(
    Type.String({ maxLength: 500, description: 'The `next_cursor` of the page before.' }),
  ),
};

function withFields(query: TObject | undefined, paging: TObject['properties']): TObject {
  return Type.Object({ ...paging, ...query?.properties });
}

function rowOf(endpoint: List): TSchema {
  return 'page' in endpoint ? endpoint.page : endpoint.list;
}

function sessionOutput(endpoint: Endpoint): TSchema {
  if (!isList(endpoint)) return 'output' in endpoint ? endpoint.output : Type.String();
  const data = Type.Array(rowOf(endpoint));
  return 'page' in endpoint
    ? closed({ data, next_cursor: orNull(Type.String()) })
    : closed({ data });
}

function keyPage(row: TSchema): TObject {
  return closed({
    data: Type.Array(row),
    has_more: Type.Boolean(),
    next_cursor: orNull(Type.String(), 'null on the last page.'),
  });
}
