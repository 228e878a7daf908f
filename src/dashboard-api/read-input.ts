// Reads and checks the query and the body of a request to the dashboard's API.
import type { FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import { invalidRequest } from '../canonical/errors.ts';
import { compileSchema } from '../lib/schema.ts';
import { readJsonBody } from '../server/middleware/body.ts';
import { nulRefused } from '../server/middleware/refuse-nul.ts';

const emptyObject = {};

export function bodyReader(schema: TObject | undefined): (request: FastifyRequest) => unknown {
  if (!schema) return () => emptyObject;
  const check = compileSchema(schema);
  return (request) => checked(check, readJsonBody(request));
}

/**
 * Converts query texts to the numbers, booleans and lists that the schema asks for, then checks
 * them. Throws ApiError `invalid_request`.
 */
export function queryReader(schema: TObject | undefined): (request: FastifyRequest) => unknown {
  if (!schema) return () => emptyObject;
  const check = compileSchema(schema);
  const types = schema.properties as Record<string, { readonly type?: string }>;
  return (request) => {
    const query = request.query as Record<string, string | string[]>;
    const known = Object.entries(query).filter(([name, value]) => name in types && value !== '');
    return checked(
      check,
      Object.fromEntries(known.map(([name, value]) => [name, fromText(types[name]!.type, value)])),
    );
  };
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
 * Returns the path of the first value or name with a NUL character; null when there is none. Values
 * of the contract are shallow.
 */
function findNul(value: unknown, path = ''): string | null {
  if (typeof value === 'string') return value.includes('\0') ? path : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, child] of Object.entries(value)) {
    const found = name.includes('\0')
      ? path
      : findNul(child, path === '' ? name : `${path}.${name}`);
    if (found !== null) return found;
  }
  return null;
}

function checked(check: ReturnType<typeof compileSchema>, value: unknown): unknown {
  const problem = check(value);
  if (!problem) {
    const nul = findNul(value);
    if (nul !== null) throw nulRefused(nul);
    return value;
  }
  const subject = problem.path === '' ? 'The request' : `\`${problem.path}\``;
  throw invalidRequest(problem.path === '' ? null : problem.path, `${subject} ${problem.message}.`);
}
