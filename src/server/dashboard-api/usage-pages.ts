// The charges of an account that pass the filters, page by page.
import { invalidRequest } from '../../canonical/errors.ts';
import type { UsageExportQuery } from '../../dashboard-contract/usage.ts';
import { readKeyNames } from '../../keys/manage-keys.ts';
import type { Charge } from '../../ledger/book.ts';
import { ledgerIdOf } from '../../ledger/commands.ts';
import { listCharges, type ChargeQuery } from '../../ledger/queries.ts';
import type { UsageCursor } from '../../ledger/usage-cursor.ts';
import type { ServerContext } from '../context.ts';

export type NamedCharge = { readonly charge: Charge; readonly keyName: string };
export type UsagePage = { readonly records: readonly NamedCharge[]; readonly next: UsageCursor | null };

/** `cursor`: the `next` of the page before; null: from the newest. */
export type PageQuery = UsageExportQuery & { readonly limit: number; readonly cursor: UsageCursor | null };

/** Throws ApiError `invalid_request` for a day that there is not. */
export async function readPage({ database }: ServerContext, accountId: string, query: PageQuery): Promise<UsagePage> {
  const { charges, next } = await listCharges(database.read, toChargeQuery(accountId, query));
  const names = await readKeyNames(database, [...new Set(charges.map(({ keyId }) => keyId))]);
  return { records: charges.map((charge) => ({ charge, keyName: names.get(charge.keyId) ?? '' })), next };
}

/** Throws ApiError `invalid_request` for a day that there is not. */
function toChargeQuery(
  accountId: string,
  { mode, key, model, endpoint, outcome, from, to, limit, cursor }: PageQuery,
): ChargeQuery {
  return {
    ledgerId: ledgerIdOf(accountId, mode),
    limit,
    cursor,
    keyId: key,
    modelId: model,
    endpoint,
    ending: outcome,
    fromMs: from === undefined ? undefined : startOfDay('from', from),
    toMs: to === undefined ? undefined : startOfDay('to', to) + dayMs,
  };
}

export const dayMs = 86_400_000;

/** Throws ApiError `invalid_request` for a day that there is not. */
export function startOfDay(name: string, day: string): number {
  const startMs = Date.parse(`${day}T00:00:00Z`);
  if (new Date(startMs).toJSON()?.startsWith(day)) return startMs;
  throw invalidRequest(name, `\`${name}\` must be a day of the calendar, as 2026-11-21.`);
}
