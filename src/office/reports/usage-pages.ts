// Pages of an account's charges that match the filters.
import { invalidRequest } from '../../canonical/errors.ts';
import { parseUtcDay } from '../../lib/iso-time.ts';
import { dayMs } from '../../lib/utc-time.ts';
import type { UsageExportQuery } from '../contract/usage.ts';
import { readKeyNames } from '../../domain/keys/manage-keys.ts';
import type { Charge } from '../../domain/ledger/book.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { listCharges, type ChargeQuery } from '../../domain/ledger/reports/queries.ts';
import { readTagsOf } from '../../domain/ledger/reports/tags.ts';
import type { UsageCursor } from '../../domain/ledger/reports/usage-cursor.ts';
import type { OfficeContext } from '../context.ts';

export type NamedCharge = {
  readonly charge: Charge;
  readonly keyName: string;
  readonly tags: readonly string[];
};
export type UsagePage = {
  readonly records: readonly NamedCharge[];
  readonly next: UsageCursor | null;
};

/** `cursor`: the `next` of the previous page; null: start with the newest. */
type PageQuery = UsageExportQuery & { readonly limit: number; readonly cursor: UsageCursor | null };

export async function readPage(
  { database }: OfficeContext,
  accountId: string,
  query: PageQuery,
): Promise<UsagePage> {
  const charges = toChargeQuery(accountId, query);
  const { charges: found, next } = await listCharges(database.read, charges);
  const [names, tags] = await Promise.all([
    readKeyNames(database, [...new Set(found.map(({ keyId }) => keyId))]),
    readTagsOf(database.read, found),
  ]);
  return {
    records: found.map((charge) => ({
      charge,
      keyName: names.get(charge.keyId) ?? '',
      tags: tags.get(charge.id) ?? [],
    })),
    next,
  };
}

/** Throws ApiError `invalid_request` when the day does not exist. */
function toChargeQuery(
  accountId: string,
  { mode, key, model, member, endpoint, outcome, tag, provider, hour, ...page }: PageQuery,
): ChargeQuery {
  return {
    ledgerId: ledgerIdOf(accountId, mode),
    limit: page.limit,
    cursor: page.cursor,
    keyId: key,
    modelId: model,
    member,
    endpoint,
    tag,
    provider,
    weekHour: hour,
    ending: outcome,
    fromMs: page.from === undefined ? undefined : startOfDay('from', page.from),
    toMs: page.to === undefined ? undefined : startOfDay('to', page.to) + dayMs,
  };
}

/** Throws ApiError `invalid_request` when the day does not exist. */
export function startOfDay(name: string, day: string): number {
  const startMs = parseUtcDay(day);
  if (startMs !== null) return startMs;
  throw invalidRequest(name, `\`${name}\` must be a calendar day, such as 2026-11-21.`);
}

const daysMax = 366;

/** Throws ApiError `invalid_request`. */
export function checkDays(from: string, to: string, max = daysMax): void {
  const days = (startOfDay('to', to) - startOfDay('from', from)) / dayMs + 1;
  if (days < 1 || days > max)
    throw invalidRequest('to', `\`to\` must be from 0 to ${max - 1} days after \`from\`.`);
}
