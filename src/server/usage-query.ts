// Reads the queries of `GET /v1/usage` and `GET /v1/usage/prompt-cache`. An unknown or unreadable
// parameter is a 400 that names it: ignoring a filter would show charges that were not asked for.
// No filter begins with `_`.
import { invalidCursor, invalidRequest } from '../canonical/errors.ts';
import type { Catalog } from '../domain/catalog/catalog.ts';
import { cacheDaysMax, cacheGroups } from '../domain/ledger/reports/cache-report.ts';
import type { ChargeQuery } from '../domain/ledger/reports/queries.ts';
import { parseUtcDay } from '../lib/iso-time.ts';
import { dayMs } from '../lib/utc-time.ts';
import { decodeUsageCursor, type UsageCursor } from '../domain/ledger/reports/usage-cursor.ts';
import { readLimit } from './page-limit.ts';

const filters = ['from', 'to', 'model', 'key'] as const;
const usageNames = ['limit', 'cursor', 'request_id', 'tag', ...filters] as const;
const cacheNames = ['by', ...filters] as const;
type Name = (typeof usageNames | typeof cacheNames)[number];
type Values = Readonly<Partial<Record<Name, string>>>;

const limitMax = 100;

type Names = Pick<Catalog, 'resolve' | 'images'>;

/** Throws ApiError `invalid_request`. */
export function readUsageQuery(parameters: unknown, catalog: Names): Omit<ChargeQuery, 'ledgerId'> {
  const values = readValues(parameters, usageNames, '/v1/usage');
  return {
    limit: readLimit(values.limit, limitMax),
    cursor: readCursor(values.cursor),
    holdId: values.request_id,
    tag: values.tag,
    ...readFilters(values, catalog),
  };
}

/** Throws ApiError `invalid_request`. */
export function readCacheQuery(parameters: unknown, catalog: Names, nowMs: number) {
  const values = readValues(parameters, cacheNames, '/v1/usage/prompt-cache');
  const by = cacheGroups.find((group) => group === (values.by ?? 'model'));
  if (!by) throw invalidRequest('by', `\`by\` must be one of ${cacheGroups.join(', ')}.`);
  const filter = readFilters(values, catalog);
  const toMs = filter.toMs ?? nowMs + 1;
  const fromMs = filter.fromMs ?? toMs - 7 * dayMs;
  if (fromMs >= toMs || toMs - fromMs > cacheDaysMax * dayMs)
    throw invalidRequest('from', `\`from\` must be at most ${cacheDaysMax} days before \`to\`.`);
  return { ...filter, by, fromMs, toMs };
}

function readFilters(values: Values, catalog: Names) {
  const fromMs = values.from === undefined ? undefined : readTime('from', values.from).startMs;
  const toMs = values.to === undefined ? undefined : readTime('to', values.to).endMs;
  return {
    keyId: readKeyId(values.key),
    modelId: values.model === undefined ? undefined : modelIdOf(catalog, values.model),
    ...checkOrder({ fromMs, toMs }),
  };
}

/** Returns the range. Throws ApiError `invalid_request` for one that ends before it begins. */
export function checkOrder<R extends { readonly fromMs?: number; readonly toMs?: number }>(
  range: R,
): R {
  if ((range.fromMs ?? -Infinity) < (range.toMs ?? Infinity)) return range;
  throw invalidRequest('from', '`from` must be before `to`, or the same day.');
}

/** An empty cursor means the first page. */
function readValues(parameters: unknown, names: readonly Name[], path: string): Values {
  const values: Partial<Record<Name, string>> = {};
  for (const [given, value] of Object.entries(parameters as Record<string, unknown>)) {
    // Clients add names such as `_` against caches.
    if (given.startsWith('_')) continue;
    const name = names.find((known) => known === given);
    if (!name) throw unknownParameter(given, names, path);
    if (typeof value !== 'string')
      throw invalidRequest(name, `\`${name}\` was given more than once. Give it once.`);
    if (name === 'cursor' && value === '') continue;
    if (value.trim() === '')
      throw invalidRequest(name, `\`${name}\` is empty. Give it a value, or leave it out.`);
    values[name] = value;
  }
  return values;
}

function unknownParameter(name: string, names: readonly Name[], path: string) {
  const known = names.map((one) => `\`${one}\``).join(', ');
  return invalidRequest(name, `\`${name}\` is not a parameter of ${path}. It takes ${known}.`);
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
function modelIdOf({ resolve, images }: Names, name: string): string {
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
