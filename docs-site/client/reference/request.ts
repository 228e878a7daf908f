// An example request of a call, as the reference shows it and its form begins.
import { resolve, type ApiDocument, type Call, type Parameter, type Schema } from './document.ts';
import { jsonText } from './samples.ts';

export type SampleRequest = {
  readonly method: string;
  readonly url: string;
  /** Programs read it from the variable. null: the call needs none. */
  readonly key: SampleKey | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

type SampleKey = { readonly variable: string; readonly shown: string };

const keys: Readonly<Record<string, SampleKey>> = {
  bearer: { variable: 'TOLLGATE_KEY', shown: 'YOUR_KEY' },
  admin: { variable: 'TOLLGATE_ADMIN_KEY', shown: 'ADMIN_KEY' },
  metrics: { variable: 'METRICS_TOKEN', shown: 'METRICS_TOKEN' },
};

/** `base`: the gateway's address. Returns null for a call that no plain request makes. */
export function exampleRequest(api: ApiDocument, call: Call, base: string): SampleRequest | null {
  if ('101' in call.responses) return null;
  const { method, parameters = [], requestBody, security = [] } = call;
  const required = parameters.filter((parameter) => parameter.required);
  const values = new Map(required.map((parameter) => [parameter, placeholder(parameter)]));
  const scheme = security.flatMap(Object.keys).find((name) => name in keys);
  const [type, media] =
    Object.entries(requestBody?.content ?? {}).toSorted(
      ([one], [other]) => Number(isJson(other)) - Number(isJson(one)),
    )[0] ?? [];
  const example = media && (media.example ?? exampleOf(api, media.schema ?? {}, 'value'));
  return {
    method,
    url: base + addressOf(call, values),
    key: scheme === undefined ? null : keys[scheme]!,
    headers: { ...(type && { 'Content-Type': type }), ...headersOf(values) },
    body: media ? bodyText(type!, example) : null,
  };
}

function isJson(type: string): boolean {
  return type === 'application/json';
}

function bodyText(type: string, example: unknown): string {
  if (isJson(type)) return jsonText(example);
  return new URLSearchParams(example as Record<string, string>).toString();
}

function placeholder({ name, schema }: Parameter): string {
  return String(schema?.examples?.[0] ?? name.toUpperCase());
}

type Values = ReadonlyMap<Parameter, string>;

/** Returns path and query with the values. A parameter without one keeps its place. */
export function addressOf({ path }: Call, values: Values): string {
  const given = [...values].filter(([, value]) => value !== '');
  const query = new URLSearchParams(
    given
      .filter(([{ in: place }]) => place === 'query')
      .map(([{ name }, value]): [string, string] => [name, value]),
  );
  const filled = path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = given.find(([one]) => one.in === 'path' && one.name === name)?.[1];
    // Ids of models may contain slashes.
    return value === undefined ? whole : encodeURIComponent(value).replaceAll('%2F', '/');
  });
  return query.size === 0 ? filled : `${filled}?${query}`;
}

export function headersOf(values: Values): Record<string, string> {
  const given = [...values].filter(([{ in: place }, value]) => place === 'header' && value !== '');
  return Object.fromEntries(given.map(([{ name }, value]) => [name, value]));
}

const depthMax = 8;

/** Returns a small value of a schema: what is required, and what is said to be an example. */
function exampleOf(api: ApiDocument, schema: Schema, name: string, depth = 0): unknown {
  const own = resolve(api, schema);
  const { examples, default: usual, const: only, enum: choices } = own;
  const given = examples?.[0] ?? usual ?? only ?? choices?.[0];
  if (given !== undefined || depth > depthMax) return given ?? null;
  const inner = own.anyOf?.[0] ?? own.oneOf?.[0];
  if (inner) return exampleOf(api, inner, name, depth + 1);
  const type = typeof own.type === 'string' ? own.type : own.type?.[0];
  switch (type) {
    case 'string':
      return name.toUpperCase();
    case 'integer':
    case 'number':
      return own.minimum ?? 1;
    case 'boolean':
      return true;
    case 'array':
      return own.minItems ? [exampleOf(api, own.items ?? {}, name, depth + 1)] : [];
    default: {
      const fields = (own.required ?? []).map((field) => [
        field,
        exampleOf(api, own.properties?.[field] ?? {}, field, depth + 1),
      ]);
      return Object.fromEntries(fields);
    }
  }
}
