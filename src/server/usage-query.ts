// Reads the query of `GET /v1/usage`. An unknown or unreadable parameter is a 400 that names it:
// ignoring a filter would show charges that were not asked for. No filter begins with `_`.
import { invalidCursor, invalidRequest } from '../canonical/errors.ts';
import type { Catalog } from '../domain/catalog/catalog.ts';
import type { ChargeQuery } from '../domain/ledger/reports/queries.ts';
import { parseUtcDay } from '../lib/iso-time.ts';
import { dayMs } from '../lib/utc-time.ts';
import { decodeUsageCursor, type UsageCursor } from '../domain/ledger/reports/usage-cursor.ts';

const names = ['limit', 'cursor', 'request_id', 'from', 'to', 'model', 'tag', 'key'] as const;
type Name = (typeof names)[number];
type Values = Readonly<Partial<Record<Name, string>>>;

const limitDefault = 20;
const limitMax = 100;

/** Throws ApiError `invalid_request`. */
export function readUsageQuery(
  parameters: unknown,
  catalog: Pick<Catalog, 'resolve' | 'images'>,
): Omit<ChargeQuery, 'ledgerId'> {
  const values = readValues(parameters as Readonly<Record<string, unknown>>);
  const fromMs = values.from === undefined ? undefined : readTime('from', values.from).startMs;
  const toMs = values.to === undefined ? undefined : readTime('to', values.to).endMs;
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs)
    throw invalidRequest('from', '`from` must be before `to`.');
  return {
    limit: readLimit(values.limit),
    cursor: readCursor(values.cursor),
    holdId: values.request_id,
    keyId: readKeyId(values.key),
    tag: values.tag,
    modelId: values.model === undefined ? undefined : modelIdOf(catalog, values.model),
    fromMs,
    toMs,
  };
}

/** An empty cursor means the first page. */
function readValues(parameters: Readonly<Record<string, unknown>>): Values {
  const values: Partial<Record<Name, string>> = {};
  for (const [name, value] of Object.entries(parameters)) {
    // Clients add names such as `_` against caches.
    if (name.startsWith('_')) continue;
    if (!isName(name)) throw unknownParameter(name);
    if (typeof value !== 'string')
      throw invalidRequest(name, `\`${name}\` was given more than once. Give it once.`);
    if (name === 'cursor' && value === '') continue;
    if (value.trim() === '')
      throw invalidRequest(name, `\`${name}\` is empty. Give it a value, or leave it out.`);
    values[name] = value;
  }
  return values;
}

function isName(name: string): name is Name {
  return (names as readonly string[]).includes(name);
}

function unknownParameter(name: string) {
  const known = names.map((one) => `\`${one}\``).join(', ');
  return invalidRequest(name, `\`${name}\` is not a parameter of /v1/usage. It takes ${known}.`);
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return limitDefault;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > limitMax)
    throw invalidRequest('limit', `\`limit\` must be a whole number from 1 to ${limitMax}.`);
  return limit;
}

/** Throws ApiError 400 for a cursor that is none of ours. */
function readCursor(text: string | undefined): UsageCursor | null {
  if (text === undefined) return null;
  const position = decodeUsageCursor(text);
  if (!position) throw invalidCursor();
  return position;
}

function readKeyId(text: string | undefined): string | undefined {
  if (text === undefined || /^key_\w{1,64}$/.test(text)) return text;
  throw invalidRequest(
    'key',
    '`key` must be the id of a key, as records have it in `key_id`, never the key itself.',
  );
}

/**
 * Returns the id of a named model. A name that has left the catalogue can still be the id of
 * earlier charges.
 */
function modelIdOf({ resolve, images }: Pick<Catalog, 'resolve' | 'images'>, name: string): string {
  return (resolve(name) ?? images.resolve(name))?.id ?? name;
}

const pattern = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?:Z|[+ -]\d\d:\d\d))?$/;

/**
 * Reads a UTC day, which means the whole day, or an exact time (ISO 8601 with zone). The end is
 * exclusive.
 */
function readTime(
  name: 'from' | 'to',
  text: string,
): { readonly startMs: number; readonly endMs: number } {
  const [, day, time] = pattern.exec(text) ?? [];
  // An unencoded `+` in a query is a space.
  const startMs =
    day === undefined || parseUtcDay(day) === null ? NaN : Date.parse(text.replace(' ', '+'));
  if (!Number.isNaN(startMs))
    return { startMs, endMs: time === undefined ? startMs + dayMs : startMs };
  throw invalidRequest(
    name,
    `\`${name}\` must be a day, as 2026-11-21, or a time with its zone, as 2026-11-21T12:00:00Z.`,
  );
}
