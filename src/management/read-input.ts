// Reads and checks the query and the body of a request to the dashboard's API.
import type { FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import { invalidRequest } from '../canonical/errors.ts';
import { compileSchema } from '../lib/schema.ts';
import { readJsonBody } from '../server/middleware/body.ts';
import { nulRefused } from '../server/middleware/refuse-nul.ts';

const emptyObject = {};

const hasBody = ({ body }: FastifyRequest) => body instanceof Uint8Array && body.length > 0;

export function bodyReader(schema: TObject | undefined): (request: FastifyRequest) => unknown {
  if (!schema) return () => emptyObject;
  const check = compileSchema(schema);
  return (request) => checked(check, hasBody(request) ? readJsonBody(request) : emptyObject);
}

/**
 * Converts query texts to the numbers, booleans and lists that the schema asks for, then checks
 * them. Throws ApiError `invalid_request`. `isStrict`: also for a name that is not in the schema. Then
 * an empty text is a value, too: a filter that is ignored shows too much.
 */
export function queryReader(
  schema: TObject | undefined,
  { isStrict = false } = {},
): (request: FastifyRequest) => unknown {
  if (!schema && !isStrict) return () => emptyObject;
  const check = schema ? compileSchema(schema) : () => null;
  const types = (schema?.properties ?? {}) as Record<string, { readonly type?: string }>;
  return (request) => {
    const query = request.query as Record<string, string | string[]>;
    const unknown = isStrict
      ? Object.keys(query).find((name) => !Object.hasOwn(types, name))
      : undefined;
    if (unknown !== undefined) throw unknownParameter(unknown, Object.keys(types));
    const known = Object.entries(query).filter(
      ([name, value]) => Object.hasOwn(types, name) && (isStrict || value !== ''),
    );
    return checked(
      check,
      Object.fromEntries(known.map(([name, value]) => [name, fromText(types[name]!.type, value)])),
    );
  };
}

function unknownParameter(name: string, known: readonly string[]) {
  const takes = known.length === 0 ? 'none' : known.map((one) => `\`${one}\``).join(', ');
  return invalidRequest(
    name,
    `\`${name.slice(0, 100)}\` is not a parameter of this endpoint. It takes ${takes}.`,
  );
}

function fromText(type: string | undefined, value: string | string[]): unknown {
  if (type === 'array') return [value].flat();
  if (typeof value !== 'string') return value;
  if ((type === 'integer' || type === 'number') && /^-?\d+(\.\d+)?$/.test(value))
    return Number(value);
  if (type === 'boolean' && /^(true|false)$/.test(value)) return value === 'true';
  return value;
}

/**
 * Returns the path of the first value or name that `isFound` finds; null when there is none. Values
 * of the contract are shallow.
 */
function findText(value: unknown, isFound: (text: string) => boolean, path = ''): string | null {
  if (typeof value === 'string') return isFound(value) ? path : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, child] of Object.entries(value)) {
    const found = isFound(name)
      ? path
      : findText(child, isFound, path === '' ? name : `${path}.${name}`);
    if (found !== null) return found;
  }
  return null;
}

const hasNul = (text: string) => text.includes('\0');
/** No database stores half of a surrogate pair: what it returns is another text. */
const isTorn = (text: string) => !text.isWellFormed();

function checked(check: ReturnType<typeof compileSchema>, value: unknown): unknown {
  const problem = check(value);
  if (!problem) {
    const nul = findText(value, hasNul);
    if (nul !== null) throw nulRefused(nul);
    const torn = findText(value, isTorn);
    if (torn !== null)
      throw invalidRequest(
        torn,
        `\`${torn}\` holds half of a character (an unpaired surrogate). Send whole characters.`,
      );
    return value;
  }
  const subject = problem.path === '' ? 'The request' : `\`${problem.path}\``;
  throw invalidRequest(problem.path === '' ? null : problem.path, `${subject} ${problem.message}.`);
}
