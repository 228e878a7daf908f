// The dashboard's catalogue for an account.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { changeTerms } from '../../src/domain/accounts/manage-accounts.ts';
import type { ModelCatalogue } from '../../src/dashboard-contract/models.ts';
import { signIn } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ pricing: { markup: 1.1 } });
});
after(() => gateway.stop());

test("prices are the account's own: the same as its keys see and are charged", async () => {
  const member = await signIn(gateway, { role: 'member' });
  const modelPrice = { modelId: 'gpt-5-mini', multiplierPpm: 500_000 };
  await changeTerms(gateway.database, member.account, { priceMultiplierPpm: 900_000, modelPrice });
  const { key } = await gateway.makeKey({ account: member.account });
  const { chat, images } = (
    await member.get(`/accounts/${member.account}/models`)
  ).json<ModelCatalogue>();
  const told = (await gateway.get('/v1/models/info', { key })).json<{
    data: {
      id: string;
      image_prices: { output: Record<string, number> };
      [field: string]: unknown;
    }[];
  }>().data;
  const ofKey = new Map(told.map((model) => [model.id, model]));
  assert.equal(chat.find(({ id }) => id === 'gpt-5-mini')!.multiplier_ppm, 500_000);
  let compared = 0;
  for (const { id, price, multiplier_ppm: multiplier } of chat) {
    if (!price) continue;
    assert.equal(multiplier, id === 'gpt-5-mini' ? 500_000 : 900_000);
    assert.equal(price.base.input_micros / 1_000_000, ofKey.get(id)!['input_price_per_1m'], id);
    assert.equal(price.base.output_micros / 1_000_000, ofKey.get(id)!['output_price_per_1m'], id);
    compared++;
  }
  assert.ok(compared > 50);
  for (const { id, price } of images) {
    const { output } = ofKey.get(id)!.image_prices;
    const usd = Object.fromEntries(
      Object.entries(price!.output_micros).map(([tier, micros]) => [
        tier,
        (micros / 1_000_000).toFixed(9),
      ]),
    );
    assert.deepEqual(
      usd,
      Object.fromEntries(Object.entries(output).map(([tier, price_]) => [tier, price_.toFixed(9)])),
      id,
    );
  }
});

test('the catalogue of another account is not found', async () => {
  const [one, other] = [await signIn(gateway), await signIn(gateway)];
  assert.equal((await one.get(`/accounts/${other.account}/models`)).status, 404);
});
