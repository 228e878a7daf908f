// The dashboard's catalogue for an account.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { changeTerms } from '../../src/domain/accounts/manage-accounts.ts';
import type { MeasuredModel, ModelCatalogue } from '../../src/management/contract/models.ts';
import { micros } from '../../src/lib/money.ts';
import { signIn } from '../support/dashboard.ts';
import { startGateway } from '../support/gateway.ts';
import { jsonOf } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { until, whileTimePasses } from '../support/until.ts';

const clock = new TestClock();
const gateway = await startGateway({ pricing: { markup: 1.1 } }, { clock });
after(() => gateway.stop());

test("prices are the account's own: the same as its keys see and are charged", async () => {
  const member = await signIn(gateway, { role: 'member' });
  const modelPrice = { modelId: 'gpt-6-luna', multiplierPpm: 500_000 };
  const terms = { priceMultiplierPpm: 900_000, modelPrice };
  await changeTerms(gateway.database.write, member.account, terms);
  const { key } = await gateway.makeKey({ account: member.account });
  const listed = await member.get(`/accounts/${member.account}/models`);
  const { chat, images } = listed.json<ModelCatalogue>();
  type Info = {
    id: string;
    image_prices: { output: Record<string, number> };
    [x: string]: unknown;
  };
  const infos = (await gateway.get('/v1/models/info', { key })).json<{ data: Info[] }>().data;
  const ofKey = new Map(infos.map((model) => [model.id, model]));
  assert.equal(chat.find(({ id }) => id === 'gpt-6-luna')!.multiplier_ppm, 500_000);
  let compared = 0;
  for (const { id, price, multiplier_ppm: multiplier } of chat) {
    if (!price) continue;
    assert.equal(multiplier, id === 'gpt-6-luna' ? 500_000 : 900_000);
    assert.equal(price.base.input_micros / 1_000_000, ofKey.get(id)!['input_price_per_1m'], id);
    assert.equal(price.base.output_micros / 1_000_000, ofKey.get(id)!['output_price_per_1m'], id);
    compared++;
  }
  assert.ok(compared > 50);
  for (const { id, price } of images) {
    const { output } = ofKey.get(id)!.image_prices;
    const rounded = (prices: Readonly<Record<string, number>>, unit: number) =>
      Object.entries(prices).map(([tier, each]) => [tier, (each / unit).toFixed(9)]);
    const ofAccount = Object.fromEntries(rounded(price!.output_micros, 1_000_000));
    assert.deepEqual(ofAccount, Object.fromEntries(rounded(output, 1)), id);
  }
});

test('the catalogue of another account is not found', async () => {
  const [one, other] = [await signIn(gateway), await signIn(gateway)];
  assert.equal((await one.get(`/accounts/${other.account}/models`)).status, 404);
});

test('speed and uptime are those of the account’s own requests in the mode', async () => {
  const member = await signIn(gateway, { role: 'member' });
  const { key } = await gateway.makeKey({ account: member.account });
  const stranger = await gateway.makeKey();
  const ask = (content: string, { by = key, model = 'gpt-6-luna' } = {}) => {
    const body = { model, stream: true, messages: [{ role: 'user', content }] };
    // Fast enough for the sandbox's delays.
    return whileTimePasses(clock, gateway.post('/v1/chat/completions', { key: by, body }), 50);
  };
  for (const _ of [1, 2, 3]) await ask('sandbox: tokens=300\nsandbox: delay_ms=4000\nHello');
  await ask('sandbox: status=503\nHello');
  await ask('sandbox: status=400\nHello');
  await ask('sandbox: status=529\nHello', { model: 'gpt-4o' });
  await ask('Hello', { by: stranger.key, model: 'claude-haiku-4-5' });
  type Measured = { readonly days: number; readonly data: readonly MeasuredModel[] };
  const read = (mode: string) =>
    jsonOf<Measured>(member.get(`/accounts/${member.account}/models/measured?mode=${mode}`));

  // The last requests may still be on their way into the counts.
  await until(async () => {
    await gateway.program.app.gateway.observe.activity.flush();
    const found = (await read('test')).data;
    return found.length === 2 && found.every(({ failed }) => failed === 1);
  });
  // A failure of more than 30 days ago does not count.
  await gateway.database.transient
    .insertInto('activity_days')
    .values({
      account_id: member.account,
      mode: 'test',
      day: '2026-10-01',
      key_id: 'key_old',
      model_id: 'gpt-5',
      outcome: 'upstream_error',
      requests: 1,
      saved_micros: micros(0),
      input_tokens: 0,
      output_tokens: 0,
    })
    .execute();
  const { days, data } = await read('test');
  assert.equal(days, 30);
  const [failing, used, ...others] = data;
  assert.deepEqual(others, []);
  const unmeasured = { first_token: null, whole: null, tokens_per_second: null };
  assert.deepEqual(failing, { id: 'gpt-4o', answered: 0, failed: 1, ...unmeasured });
  assert.ok(used?.first_token && used.whole, JSON.stringify(used));
  assert.deepEqual([used.id, used.answered, used.failed], ['gpt-6-luna', 3, 1]);
  // Within ten percent of the four seconds that the sandbox waits, or later.
  assert.ok(used.whole.p50_ms >= 3_600, JSON.stringify(used));
  assert.ok(used.first_token.p95_ms <= used.whole.p95_ms, JSON.stringify(used));
  assert.ok(used.tokens_per_second! > 0 && used.tokens_per_second! <= 300 / 3.6);
  assert.deepEqual((await read('live')).data, []);
});
