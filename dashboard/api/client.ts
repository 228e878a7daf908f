// Client of the dashboard API, typed by the contract:
// `await api('GET /accounts/:account/keys', { params, query })`.
import type { Contract } from '../../src/management/contract/contract.ts';
import type {
  BodyOf,
  OutputOf,
  ParametersOf,
  QueryOf,
} from '../../src/management/contract/endpoint.ts';
import { ApiError, readApiError } from './api-error.ts';
import { noteLost } from './connection.ts';
import { takeEarly } from './early-requests.ts';

export const apiPath = '/dashboard-api';

export type EndpointKey = keyof Contract;
export type ReadKey = Extract<EndpointKey, `GET ${string}`>;
export type ChangeKey = Exclude<EndpointKey, ReadKey>;

export type Output<Key extends EndpointKey> = OutputOf<Contract[Key]>;
export type Query<Key extends EndpointKey> = QueryOf<Contract[Key]>;
export type Body<Key extends EndpointKey> = BodyOf<Contract[Key]>;
type Params<Key extends EndpointKey> = ParametersOf<Key>;

/** Makes a part optional when it has no required field. */
type Part<Name extends string, Fields> = string extends keyof Fields
  ? { readonly [N in Name]?: Fields }
  : Partial<Fields> extends Fields
    ? { readonly [N in Name]?: Fields }
    : { readonly [N in Name]: Fields };

export type Input<Key extends EndpointKey> = Part<'params', Params<Key>> &
  Part<'query', Query<Key>> &
  Part<'body', Body<Key>>;

type AnyInput = {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

/** Throws ApiError, with code `unreachable` when no response came. */
export async function api<Key extends EndpointKey>(
  key: Key,
  input: Input<Key>,
  signal?: AbortSignal,
): Promise<Output<Key>> {
  const [method, path] = key.split(' ') as [string, string];
  const { params, query, body } = input as AnyInput;
  return call<Output<Key>>(method, fillPath(path, params) + queryText(query), body, signal);
}

/** Calls a path below `/dashboard-api`. Returns undefined for a 204. Throws ApiError. */
async function call<Answer>(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Answer> {
  const response = await reach(apiPath + path, {
    method,
    signal,
    headers: {
      accept: 'application/json',
      ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
    },
    body: method === 'GET' ? undefined : JSON.stringify(body ?? {}),
  });
  if (!response.ok) throw await readApiError(response);
  return (response.status === 204 ? undefined : await response.json()) as Answer;
}

/** Throws ApiError `unreachable` when no response came, and the signal's reason when aborted. */
export async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    const early = init.method === 'GET' ? takeEarly(url) : undefined;
    const response = await (early ?? fetch(url, { ...init, credentials: 'same-origin' }));
    // A proxy found no gateway.
    if (response.status === 502 || response.status === 504) noteLost();
    return response;
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    noteLost();
    const message = 'The gateway cannot be reached. Check your connection and try again.';
    throw new ApiError({ status: 0, code: 'unreachable', message, cause });
  }
}

function fillPath(path: string, params: AnyInput['params']): string {
  return path.replaceAll(/:(\w+)/g, (_whole, name: string) =>
    encodeURIComponent(params?.[name] ?? ''),
  );
}

/** Skips empty and missing values. A list becomes one parameter per member. */
export function queryText(query: AnyInput['query']): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const single of Array.isArray(value) ? value : [value]) {
      if (single !== undefined && single !== null && single !== '')
        search.append(name, String(single));
    }
  }
  return search.size === 0 ? '' : `?${search}`;
}
