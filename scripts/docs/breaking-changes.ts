// Finds what a new version of an OpenAPI document takes away from clients of the old one. A request
// that was accepted must still be accepted, and an answer must still have what it promised.
import { isObject, type JsonObject } from '../../src/lib/json.ts';

/**
 * Returns one line for each breaking change, such as `GET /v1/usage: the answer 200
 * application/json: data[].cost_cents is gone`. New operations, optional fields, error codes and
 * kinds of events break nothing.
 */
export function findBreakingChanges(before: JsonObject, after: JsonObject): readonly string[] {
  const found = new Set<string>();
  const documents = { before, after };
  for (const [path, operations] of entries(before.paths)) {
    for (const [method, operation] of entries(operations)) {
      const name = `${method.toUpperCase()} ${path}`;
      const next = objectAt(objectAt(after.paths, path), method);
      const note = (what: string) => found.add(`${name}: ${what}`);
      if (next) compareOperations(documents, [operation as JsonObject, next], note);
      else note('the operation is gone');
    }
  }
  return [...found];
}

/** The changes that docs/breaking-changes.md declares, one in each line of its list. */
export function declaredChanges(markdown: string): ReadonlySet<string> {
  const lines = markdown.split('\n').filter((line) => line.startsWith('- '));
  return new Set(lines.map((line) => line.slice('- '.length)));
}

type Documents = { readonly before: JsonObject; readonly after: JsonObject };
type Pair = readonly [before: JsonObject, after: JsonObject];
type Note = (what: string) => void;

function compareOperations(documents: Documents, [before, after]: Pair, note: Note): void {
  for (const way of listOf(before.security))
    if (!listOf(after.security).some((one) => JSON.stringify(one) === JSON.stringify(way)))
      note(`the authentication ${JSON.stringify(way)} is gone`);
  if (listOf(before.security).length === 0 && listOf(after.security).length > 0)
    note('authentication is required');
  compareParameters(documents, [before, after], note);
  const [body, nextBody] = [before.requestBody, after.requestBody].map(asObject);
  if (nextBody!.required === true && body!.required !== true) note('a body is required');
  compareContents(documents, [body!, nextBody!], { place: 'the body', side: 'request', note });
  for (const [status, response] of entries(before.responses)) {
    const answer = resolve(documents.before, response);
    const next = resolve(documents.after, objectAt(after.responses, status));
    const place = `the answer ${status}`;
    if (Object.keys(next).length === 0) {
      if (Number(status) < 400) note(`${place} is gone`);
      continue;
    }
    for (const [header] of entries(answer.headers))
      if (!objectAt(next.headers, header)) note(`${place}: the header ${header} is gone`);
    compareContents(documents, [answer, next], { place, side: 'response', note });
  }
}

function compareParameters(documents: Documents, [before, after]: Pair, note: Note): void {
  const keyOf = ({ in: place, name }: JsonObject) => `${String(place)} parameter ${String(name)}`;
  const [old, next] = [before, after].map(
    ({ parameters }) =>
      new Map(listOf(parameters).map((one) => [keyOf(one as JsonObject), one as JsonObject])),
  );
  for (const [key, parameter] of old!) {
    const kept = next!.get(key);
    if (!kept) note(`the ${key} is gone`);
    else
      compareSchemas(documents, [asObject(parameter.schema), asObject(kept.schema)], {
        place: `the ${key}`,
        side: 'request',
        note,
      });
  }
  for (const [key, parameter] of next!)
    if (parameter.required === true && old!.get(key)?.required !== true)
      note(`the ${key} is required`);
}

type SchemaPath = {
  readonly place: string;
  readonly side: 'request' | 'response';
  readonly note: Note;
};

function compareContents(documents: Documents, [before, after]: Pair, at: SchemaPath): void {
  for (const [mediaType, content] of entries(before.content)) {
    const next = objectAt(after.content, mediaType);
    const place = `${at.place} ${mediaType}`;
    if (!next) at.note(`${place} is gone`);
    else
      for (const keyword of ['schema', 'x-itemSchema'])
        compareSchemas(
          documents,
          [asObject((content as JsonObject)[keyword]), asObject(next[keyword])],
          { ...at, place },
        );
  }
}

/** Keywords that may not change, and those that may only rise or fall in a request. */
const fixed = ['const', 'pattern', 'contentMediaType'];
const lowerBounds = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'];
const upperBounds = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'];

/** `seen`: named schemas that are compared already on the way here. */
function compareSchemas(
  documents: Documents,
  pair: Pair,
  at: SchemaPath,
  seen: readonly string[] = [],
): void {
  const name = typeof pair[0].$ref === 'string' ? pair[0].$ref : null;
  if (name !== null && seen.includes(name)) return;
  const known = name === null ? seen : [...seen, name];
  const before = resolve(documents.before, pair[0]);
  const after = resolve(documents.after, pair[1]);
  const [kinds, nextKinds] = [kindsOf(documents.before, before), kindsOf(documents.after, after)];
  const into = (one: Pair, step: string) =>
    compareSchemas(documents, one, { ...at, place: `${at.place}${step}` }, known);
  if (kinds.size > 1 || nextKinds.size > 1) {
    for (const [kind, branch] of kinds) {
      const next = nextKinds.get(kind);
      if (next) into([branch, next], kind.startsWith('type ') ? '' : ` (${kind})`);
      else if (at.side === 'request') at.note(`${at.place} may not be ${kind} any more`);
    }
    if (at.side === 'response' && nextKinds.has('type null') && !kinds.has('type null'))
      at.note(`${at.place} may be null`);
    return;
  }
  compareValues([before, after], at);
  compareObjects([before, after], at, into);
  if (isObject(before.items)) into([before.items, asObject(after.items)], '[]');
  if (isObject(before.contentSchema))
    into([before.contentSchema, asObject(after.contentSchema)], '');
}

function compareValues([before, after]: Pair, { place, side, note }: SchemaPath): void {
  if (before.type !== after.type && !(side === 'request' && after.type === undefined))
    note(`${place} was ${String(before.type)}, and is ${String(after.type)}`);
  for (const keyword of fixed)
    if (after[keyword] !== undefined && after[keyword] !== before[keyword])
      note(`${place}: ${keyword} is ${JSON.stringify(after[keyword])}`);
  if (side === 'response') return;
  const allowed = listOf(after.enum);
  for (const value of listOf(before.enum))
    if (allowed.length > 0 && !allowed.includes(value))
      note(`${place} may not be ${JSON.stringify(value)} any more`);
  if (allowed.length > 0 && before.enum === undefined) note(`${place} is limited to a list`);
  for (const keyword of lowerBounds)
    if (numberOf(after[keyword], -Infinity) > numberOf(before[keyword], -Infinity))
      note(`${place}: ${keyword} rose to ${String(after[keyword])}`);
  for (const keyword of upperBounds)
    if (numberOf(after[keyword], Infinity) < numberOf(before[keyword], Infinity))
      note(`${place}: ${keyword} fell to ${String(after[keyword])}`);
}

function compareObjects(
  [before, after]: Pair,
  { place, side, note }: SchemaPath,
  into: (pair: Pair, step: string) => void,
): void {
  const [required, nextRequired] = [listOf(before.required), listOf(after.required)];
  for (const [field, schema] of entries(before.properties)) {
    const next = objectAt(after.properties, field);
    if (!next) note(`${place}.${field} is gone`);
    else into([schema as JsonObject, next], `.${field}`);
    if (next && side === 'response' && required.includes(field) && !nextRequired.includes(field))
      note(`${place}.${field} may be left out`);
  }
  if (side === 'response') return;
  for (const field of nextRequired)
    if (!required.includes(field)) note(`${place}.${String(field)} is required`);
  if (after.additionalProperties === false && before.additionalProperties !== false)
    note(`${place} may not have other fields any more`);
}

/** The branches of a union, flat, by what tells them apart. A plain schema is its only branch. */
function kindsOf(document: JsonObject, schema: JsonObject): ReadonlyMap<string, JsonObject> {
  const kinds = new Map<string, JsonObject>();
  const visit = (one: JsonObject) => {
    const branch = resolve(document, one);
    if (Array.isArray(branch.anyOf)) for (const each of branch.anyOf) visit(each as JsonObject);
    else kinds.set(kindOf(branch, one.$ref), one);
  };
  visit(schema);
  return kinds;
}

function kindOf({ type, const: constant, properties }: JsonObject, name: unknown): string {
  for (const tag of ['type', 'role', 'kind']) {
    const value = objectAt(properties, tag)?.const;
    if (value !== undefined) return `${tag} ${JSON.stringify(value)}`;
    if (objectAt(properties, tag)?.pattern !== undefined) return 'other kinds';
  }
  if (constant !== undefined) return JSON.stringify(constant);
  if (typeof name === 'string') return name.slice('#/components/schemas/'.length);
  const [field] = Object.keys(asObject(properties));
  return field === undefined ? `type ${String(type)}` : `an object with ${field}`;
}

function resolve(document: JsonObject, value: unknown): JsonObject {
  const schema = asObject(value);
  if (typeof schema.$ref !== 'string') return schema;
  const steps = schema.$ref.split('/').slice(1);
  return steps.reduce<JsonObject>((at, step) => asObject(at[step]), document);
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function objectAt(value: unknown, name: string): JsonObject | null {
  const child = asObject(value)[name];
  return isObject(child) ? child : null;
}

function entries(value: unknown): [string, unknown][] {
  return Object.entries(asObject(value));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
