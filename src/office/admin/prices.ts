// The models with their prices, and the prices of an account.
import type { pricesEndpoints } from '../contract/admin/prices.ts';
import { invalidRequest } from '../../canonical/errors.ts';
import type { DashboardContext } from '../context.ts';
import { describeCatalogue } from '../models.ts';
import { noSuchAccount, readDetail } from '../operator-accounts.ts';
import { listPricePpm } from '../../domain/catalog/price.ts';
import { readTerms, type AccountChange } from '../../domain/accounts/manage-accounts.ts';
import type { Catalog } from '../../domain/catalog/catalog.ts';
import { resolveKeyModel } from '../../domain/catalog/resolve-key-model.ts';
import { updateAccount } from '../changes/accounts.ts';
import { requireAccount } from './accounts.ts';
import type { AdminHandlers } from './handlers.ts';
import { pageOf } from './paging.ts';

export const pricesHandlers: AdminHandlers<typeof pricesEndpoints> = {
  'GET /models': async ({ context, query }) => {
    const { config, clock } = context.gateway;
    const { catalog, searchers } = context.gateway.hosts;
    const { chat, images } = describeCatalogue({
      catalog,
      config,
      multiplierPpmOf: await multipliersOf(context, query.account),
      isSearchLive: searchers.live !== null,
      nowMs: clock.nowMs(),
    });
    const models = [
      ...chat.map((model) => ({ type: 'chat' as const, ...model })),
      ...images.map((model) => ({ type: 'image' as const, ...model })),
    ];
    return pageOf(models, ({ id }) => id, query);
  },

  'GET /accounts/:account/prices': ({ context, params }) => readPrices(context, params.account),

  'PATCH /accounts/:account/prices': async ({ context, params, body, changes }) => {
    const { price_multiplier_ppm: priceMultiplierPpm, model_prices: modelPrices = [] } = body;
    const wanted: readonly AccountChange[] = [
      { priceMultiplierPpm },
      ...modelPrices.map((price, index) => ({
        modelPrice: readModelPrice(context.gateway.hosts.catalog, price, index),
      })),
    ];
    await changes.together(async (grouped) => {
      for (const change of wanted)
        if (!(await updateAccount(grouped, params.account, change))) throw noSuchAccount();
    });
    return readPrices(context, params.account);
  },
};

async function multipliersOf(
  { database }: DashboardContext,
  accountId: string | undefined,
): Promise<(modelId: string) => number> {
  if (accountId === undefined) return () => listPricePpm;
  await requireAccount(database, accountId);
  const terms = await readTerms(database.read, accountId);
  const multipliers = new Map(Object.entries(terms.model_multipliers_ppm));
  return (modelId) => multipliers.get(modelId) ?? terms.price_multiplier_ppm;
}

async function readPrices(context: DashboardContext, accountId: string) {
  const { price_multiplier_ppm, model_prices } = await readDetail(context, accountId);
  return { price_multiplier_ppm, model_prices };
}

type ModelPrice = { readonly model: string; readonly multiplier_ppm: number | null };

/** Throws ApiError 400. */
function readModelPrice(catalog: Catalog, { model, multiplier_ppm }: ModelPrice, index: number) {
  const modelId = resolveKeyModel(catalog, model);
  // A price of a model that has left the catalogue can still be cleared.
  if (modelId === null && multiplier_ppm !== null)
    throw invalidRequest(`model_prices[${index}].model`, `There is no model '${model}'.`);
  return { modelId: modelId ?? model, multiplierPpm: multiplier_ppm };
}
