// The parts of an OpenAPI 3.1 document that the reference page shows.
import type { Audience } from '../../contents.ts';

export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** The schema of JSON that is sent as text, such as an event's data. */
  readonly contentSchema?: Schema;
};

export type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
};

type Media = {
  readonly schema?: Schema;
  readonly example?: unknown;
  /** Describes each event of a stream. */
  readonly 'x-itemSchema'?: Schema;
};
type Content = Readonly<Record<string, Media>>;

export type Answer = {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
};

type Operation = {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
};

type Tag = { readonly name: string; readonly description?: string };

export type ApiDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags?: readonly Tag[];
};

/** An operation with its place. */
export type Call = Operation & { readonly method: string; readonly path: string };

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** Returns the operations in the document's order. */
export function callsOf({ paths }: ApiDocument): Call[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

export type Group = {
  readonly name: string;
  readonly description: string;
  readonly calls: readonly Call[];
};

/** Groups that only operators read, in their order. */
const operatorsTags = ['Admin', 'Operation'];

export function groupsOf(api: ApiDocument, audience: Audience): Group[] {
  const calls = callsOf(api);
  const placeOf = ({ name }: Tag) => operatorsTags.indexOf(name);
  const shown = (api.tags ?? [])
    .filter((tag) => (placeOf(tag) === -1) === (audience === 'customers'))
    .toSorted((one, other) => placeOf(one) - placeOf(other));
  return shown.map(({ name, description = '' }) => ({
    name,
    description,
    calls: calls.filter(({ tags = [] }) => tags.includes(name)),
  }));
}

/** Follows `$ref` within the document. */
export function resolve<Value extends object>(api: ApiDocument, value: Value): Value {
  const { $ref: reference } = value as { readonly $ref?: string };
  if (reference === undefined) return value;
  const steps = reference.replace('#/', '').split('/');
  let found: unknown = api;
  for (const step of steps)
    found = (found as Record<string, unknown>)[step.replaceAll('~1', '/').replaceAll('~0', '~')];
  return resolve(api, found as Value);
}

/** Returns what a body is made of: for a stream, the data of its events. */
export function schemaOf({ schema, 'x-itemSchema': event }: Media): Schema | undefined {
  return event?.properties?.['data']?.contentSchema ?? schema;
}

export function nameOf({ $ref: reference }: Schema): string | null {
  return reference?.split('/').at(-1) ?? null;
}
