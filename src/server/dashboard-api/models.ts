// What can be called, and what the account pays for it.
import { readAccountPrices } from '../../accounts/account-prices.ts';
import type { modelsEndpoints } from '../../dashboard-contract/models.ts';
import type { Handlers } from './handlers.ts';
import { describeCatalogue } from './model-catalogue.ts';

export const modelsHandlers: Handlers<typeof modelsEndpoints> = {
  'GET /accounts/:account/models': async ({ context, account }) => {
    const { catalog, config, searchers, clock } = context.gateway;
    const prices = await readAccountPrices(context.database, account.accountId);
    if (!prices) throw new Error(`the account ${account.accountId} has members and no row`);
    return describeCatalogue({
      catalog,
      config,
      multiplierPpmOf: (modelId) => prices.modelMultipliersPpm.get(modelId) ?? prices.multiplierPpm,
      isSearchLive: searchers.live !== null,
      nowMs: clock.nowMs(),
    });
  },
};
