// The models with their prices, and the prices of an account.
import { Type } from 'typebox';
import { closed, orNull } from '../common.ts';
import { ChatModel, ImageModelEntry } from '../models.ts';
import { AccountDetail, Multiplier } from '../operator-accounts.ts';
import { AccountFilter, page, PageQuery } from './common.ts';
import { adminEndpoint } from './endpoint.ts';

export const PricedModel = Type.Union([
  closed({ type: Type.Literal('chat'), ...ChatModel.properties }),
  closed({ type: Type.Literal('image'), ...ImageModelEntry.properties }),
]);

const AccountPrices = closed({
  price_multiplier_ppm: AccountDetail.properties.price_multiplier_ppm,
  model_prices: AccountDetail.properties.model_prices,
});

export const pricesEndpoints = {
  'GET /models': adminEndpoint({
    scope: 'prices:read',
    summary: 'List the models with their prices',
    note: 'In the order of their ids, at list prices with the markup. `account`: at its prices.',
    query: Type.Object({ ...PageQuery, account: AccountFilter }),
    output: page(PricedModel),
  }),
  'GET /accounts/:account/prices': adminEndpoint({
    scope: 'prices:read',
    summary: 'Get the price multipliers of an account',
    output: AccountPrices,
  }),
  'PATCH /accounts/:account/prices': adminEndpoint({
    scope: 'prices:write',
    summary: 'Change the price multipliers of an account',
    note: 'All of it, or nothing. A model whose multiplier is null gets the account’s.',
    body: closed({
      price_multiplier_ppm: Type.Optional(Multiplier),
      model_prices: Type.Optional(
        Type.Array(
          closed({
            model: Type.String({ minLength: 1, maxLength: 200 }),
            multiplier_ppm: orNull(Multiplier),
          }),
          { maxItems: 100 },
        ),
      ),
    }),
    output: AccountPrices,
  }),
};
