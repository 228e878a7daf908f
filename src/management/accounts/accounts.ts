// Accounts: their settings, limits and prices.
import { invalidRequest } from '../../canonical/errors.ts';
import { findAccounts, readTerms } from '../../domain/accounts/manage-accounts.ts';
import {
  findAccount,
  searchAccounts,
  type FoundAccount,
} from '../../domain/accounts/search-accounts.ts';
import type { Catalog } from '../../domain/catalog/catalog.ts';
import { resolveKeyModel } from '../../domain/catalog/resolve-key-model.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { sumDays } from '../../domain/ledger/reports/daily-sums.ts';
import { readLossStandings } from '../../domain/ledger/reports/loss-budget.ts';
import { readLastDays } from '../../domain/ledger/reports/service-sums.ts';
import { reportAccounts } from '../../domain/ledger/reports/report.ts';
import { readFirstOwners } from '../../domain/users/members.ts';
import { dayMs, dayOf, dayStartMs } from '../../lib/utc-time.ts';
import { createAccount, noSuchAccount, purgeAccount, updateAccount } from '../changes/accounts.ts';
import type { ManagementContext } from '../context.ts';
import type { AccountDetail, AccountRow, accountsEndpoints } from '../contract/accounts.ts';
import type { Handlers } from '../handlers.ts';
import { daysBetween, toDayCosts } from '../reports/analytics-sums.ts';
import { ifGiven, readLimits } from './keys.ts';
import { checkName } from '../sign-in/sign-in-fields.ts';

export const accountsHandlers: Handlers<typeof accountsEndpoints> = {
  'GET /operator/accounts': async ({ context, query, page }) => {
    const { search: text, frozen: isFrozen } = query;
    const found = await searchAccounts(context.database, { text, isFrozen, ...page });
    return found && { rows: await withSums(context, found.accounts), next: found.next };
  },

  'POST /operator/accounts': ({ body, once }) => {
    const name = readName(body.name);
    const terms = { priceMultiplierPpm: body.price_multiplier_ppm, limits: readLimits(body) };
    return once.inTransaction(async ({ context, changes }) => {
      // Creates and audits nothing when the id exists.
      const made = await createAccount(changes, { id: once.accountId, name, ...terms });
      if (made.terms.name !== name) throw once.conflict('for an account with another name.');
      return readDetail(context, made.id);
    });
  },

  'GET /operator/accounts/:account': ({ context, params }) => readDetail(context, params.account),

  'PATCH /operator/accounts/:account': async ({ context, params, body, changes }) => {
    await updateAccount(changes, params.account, {
      name: ifGiven(body.name, readName),
      isFrozen: body.frozen,
      retainResponses: body.retain_responses,
      priceMultiplierPpm: body.price_multiplier_ppm,
      limits: readLimits(body),
    });
    return readDetail(context, params.account);
  },

  'POST /operator/accounts/:account/purge': ({ params, changes }) =>
    purgeAccount(changes, params.account),

  'GET /admin/v1/accounts/:account/prices': ({ context, params }) =>
    readPrices(context, params.account),

  'PATCH /operator/accounts/:account/prices': async ({ context, params, body, changes }) => {
    const { price_multiplier_ppm: priceMultiplierPpm, model_prices: modelPrices = [] } = body;
    const { catalog } = context.gateway.hosts;
    const wanted = modelPrices.map((price, index) => ({
      modelPrice: readModelPrice(catalog, price, `model_prices[${index}].model`),
    }));
    await changes.together(async (grouped) => {
      for (const change of [{ priceMultiplierPpm }, ...wanted])
        await updateAccount(grouped, params.account, change);
    });
    return readPrices(context, params.account);
  },

  'GET /accounts/:account/settings': async ({ context, params }) => {
    const [account] = await findAccounts(context.database.read, [params.account]);
    if (!account) throw noSuchAccount();
    const { id, name, retainResponses, requiresSecondFactor, createdAtMs } = account;
    const created_at = new Date(createdAtMs).toISOString();
    return {
      id,
      name,
      retain_responses: retainResponses,
      requires_second_factor: requiresSecondFactor,
      created_at,
    };
  },

  'PATCH /accounts/:account/settings': async ({ params, body, session, changes }) => {
    const name = ifGiven(body.name, checkName);
    const { retain_responses: retainResponses, requires_second_factor: requiresSecondFactor } =
      body;
    if (requiresSecondFactor && !session.hasSecondFactor)
      throw invalidRequest(
        'requires_second_factor',
        'Add an authenticator app in your own profile first: else the account would be closed to you too.',
      );
    await updateAccount(changes, params.account, { name, retainResponses, requiresSecondFactor });
  },
};

const listedDays = 30;

function readName(text: string): string {
  return checkName(text, 'Give the account a name.');
}

type ModelPrice = { readonly model: string; readonly multiplier_ppm: number | null };

/** Throws ApiError 400. */
function readModelPrice(catalog: Catalog, { model, multiplier_ppm }: ModelPrice, field: string) {
  const modelId = resolveKeyModel(catalog, model);
  // A price of a model that has left the catalogue can still be cleared.
  if (modelId === null && multiplier_ppm !== null)
    throw invalidRequest(field, `There is no model '${model}'. Choose one of the catalogue.`);
  return { modelId: modelId ?? model, multiplierPpm: multiplier_ppm };
}

async function readPrices(context: ManagementContext, accountId: string) {
  const { price_multiplier_ppm, model_prices } = await readDetail(context, accountId);
  return { price_multiplier_ppm, model_prices };
}

/** Throws ApiError 404. */
async function readDetail(
  { database, gateway }: Pick<ManagementContext, 'database' | 'gateway'>,
  accountId: string,
): Promise<AccountDetail> {
  const account = await findAccount(database, accountId);
  if (!account) throw noSuchAccount();
  const {
    name: _name,
    frozen: _frozen,
    model_multipliers_ppm: multipliers,
    ...terms
  } = await readTerms(database.read, accountId);
  const prices = Object.entries(multipliers).map(([model, multiplier_ppm]) => ({
    model,
    multiplier_ppm,
  }));
  const ledgerId = ledgerIdOf(accountId, 'live');
  const losses = { ledgerId, limits: gateway.config.limits, nowMs: gateway.clock.nowMs() };
  const standing = (await readLossStandings(database.read, losses)).get(ledgerId);
  return {
    ...toRow(account),
    ...terms,
    model_prices: prices.toSorted((one, other) => one.model.localeCompare(other.model)),
    provoked_loss_micros: standing?.causedMicros ?? 0,
    loss_budget_exceeded: standing?.isExceeded ?? false,
  };
}

async function withSums(
  { database: { read }, gateway }: ManagementContext,
  accounts: readonly FoundAccount[],
) {
  const ids = accounts.map(({ id }) => id);
  const today = dayStartMs(gateway.clock.nowMs());
  const range = { fromMs: today - (listedDays - 1) * dayMs, toMs: today + dayMs };
  const sums = await reportAccounts(read, { mode: 'live', ...range }, ids);
  const owners = await readFirstOwners(read, ids);
  const lastDays = await readLastDays(read, ids);
  const days = daysBetween(dayOf(range.fromMs), dayOf(today));
  const dayRange = { fromDay: days[0]!, toDay: days.at(-1)! };
  const revenues = Map.groupBy(
    await sumDays(read, { of: { mode: 'live' }, ...dayRange, by: 'account', ids }),
    ({ group }) => group,
  );
  return accounts.map((account) => {
    const sum = sums.get(account.id);
    return {
      ...toRow(account),
      owner: owners.get(account.id) ?? null,
      last_charged_on: lastDays.get(account.id) ?? null,
      last_30_days: {
        revenue_micros: sum?.revenueMicros ?? 0,
        cost_micros: sum?.costMicros ?? 0,
        margin_micros: sum?.marginMicros ?? 0,
        day_revenues_micros: toDayCosts(revenues.get(account.id) ?? [], days),
      },
    };
  });
}

function toRow(account: FoundAccount): AccountRow {
  return {
    id: account.id,
    name: account.name,
    created_at: new Date(account.createdAtMs).toISOString(),
    frozen: account.isFrozen,
    price_multiplier_ppm: account.priceMultiplierPpm,
    live: balanceOf(account.live),
    test: balanceOf(account.test),
  };
}

function balanceOf({ postedMicros, heldMicros }: FoundAccount['live']) {
  return {
    posted_micros: postedMicros,
    held_micros: heldMicros,
    available_micros: postedMicros - heldMicros,
  };
}
