// Pages of an account's charges that match the filters.
import type { UsageQuery } from '../contract/usage.ts';
import { findLogged, type LoggedRequest } from '../../domain/activity/queries.ts';
import { readKeyNames } from '../../domain/keys/manage-keys.ts';
import type { Charge } from '../../domain/ledger/book.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { listCharges } from '../../domain/ledger/reports/queries.ts';
import { readTagsOf } from '../../domain/ledger/reports/tags.ts';
import type { UsageCursor } from '../../domain/ledger/reports/usage-cursor.ts';
import type { ManagementContext } from '../context.ts';
import { rangeOf } from './days.ts';
import { chargeFilter } from './request-filters.ts';

export type NamedCharge = {
  readonly charge: Charge;
  readonly keyName: string;
  /** null: removed, or not written yet. */
  readonly logged: LoggedRequest | null;
  readonly tags: readonly string[];
};
export type UsagePage = {
  readonly records: readonly NamedCharge[];
  readonly next: UsageCursor | null;
};

/** `cursor`: the `next` of the previous page; null: start with the newest. */
type PageQuery = UsageQuery & { readonly limit: number; readonly cursor: UsageCursor | null };

/** Throws ApiError `invalid_request` when a day does not exist. */
export async function readPage(
  { database }: ManagementContext,
  accountId: string,
  query: PageQuery,
): Promise<UsagePage> {
  const { limit, cursor, mode } = query;
  const filter = chargeFilter(query, rangeOf(query));
  const page = { ledgerId: ledgerIdOf(accountId, mode), limit, cursor, ...filter };
  const { charges: found, next } = await listCharges(database.read, page);
  const [names, tags, history] = await Promise.all([
    readKeyNames(database.read, [...new Set(found.map(({ keyId }) => keyId))]),
    readTagsOf(database.read, found),
    findLogged(database.read, { accountId, requestIds: found.map(({ id }) => id) }),
  ]);
  return {
    records: found.map((charge) => ({
      charge,
      keyName: names.get(charge.keyId) ?? '',
      logged: history.get(charge.id) ?? null,
      tags: tags.get(charge.id) ?? [],
    })),
    next,
  };
}
