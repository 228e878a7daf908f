// The common part of all requests for tasks. A task is work of a model other than answering a
// conversation, such as embeddings or speech.
import { Type, type Static, type TObject } from 'typebox';
import { refuseProblem } from '../../canonical/errors.ts';
import type { JsonObject } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';

export type TaskRequest = {
  /** As it came. */
  readonly body: JsonObject;
  readonly model: string;
  /** Fields that are left out. */
  readonly ignored: readonly string[];
  /** The answer comes as server-sent events; left out: it does not. */
  readonly isEvents?: boolean;
};

/**
 * Returns a function that reads the fields of a body. It throws ApiError `invalid_request`, which names
 * the field. `unchecked`: a field that is checked by hand, in better words. `renamed`: what other vendors
 * call a field.
 */
export function fieldReader<Schema extends TObject>(
  schema: Schema,
  unchecked?: string,
  renamed: Names = {},
) {
  const { properties } = schema;
  const others = Object.entries(renamed).map(([name, own]) => [name, properties[own]!] as const);
  const checked = [...Object.entries(properties), ...others].filter(([name]) => name !== unchecked);
  const findProblem = compileSchema(Type.Object(Object.fromEntries(checked)));
  return (body: unknown) => {
    refuseProblem(findProblem(body));
    const fields = withOwnNames(body as JsonObject, renamed) as Static<Schema> & JsonObject;
    const ignored = Object.entries(fields).flatMap(([name, value]) =>
      Object.hasOwn(properties, name) || value === null ? [] : [name],
    );
    return { fields, ignored };
  };
}

type Names = Readonly<Record<string, string>>;

/** The own name counts when both have a value. */
function withOwnNames(body: JsonObject, renamed: Names): JsonObject {
  const others = Object.entries(renamed).filter(
    ([name, own]) => Object.hasOwn(body, name) && (body[own] ?? null) === null,
  );
  if (others.length === 0) return body;
  const own = { ...body };
  for (const [name, ownName] of others) {
    own[ownName] = body[name];
    delete own[name];
  }
  return own;
}
