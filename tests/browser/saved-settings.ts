// Providers, models and prices in a real browser: an operator adds a provider and tries it, sells a
// model, changes its price after a preview, switches off and undoes, without a file or a restart.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { answerContent } from '../support/answers.ts';
import { checkLooks, confirmIdentity, visitsOf } from '../support/browser.ts';
import { quickHash, signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonOf, ok } from '../support/http.ts';
import { answerJson } from '../support/upstream.ts';

const password = 'correct horse battery';
/** Prices from then on apply later, whenever the tests run. */
const nextYear = `${new Date().getUTCFullYear() + 1}-12-31`;
const credential = 'sk-typed-in-the-browser-4321';
const expected = /status of 40[0349]/;
let gateway: TestGateway;
let operator: DashboardClient;

before(async () => {
  gateway = await startGateway();
  const who = { operator: true, role: null, passwordHash: quickHash(password) };
  operator = await signIn(gateway, who);
  const pricing = { input: 0.5, output: 2, unit: 'usd_per_1m_tokens' };
  const list = {
    data: [
      { id: 'up', max_model_len: 8_192 },
      { id: 'other', pricing },
    ],
  };
  gateway.upstream.on('/own/v1/models', answerJson(list));
  const content = { text: 'one two', tokens: { input: 5, output: 200 } };
  gateway.upstream.on('/own/v1/chat/completions', answerContent('chat', content));
});
after(() => gateway.stop());

const visit = visitsOf(() => ({ gateway, user: operator }), { ignores: expected });

const drawer = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true });
const press = (within: Page | Locator, name: string) =>
  within.getByRole('button', { name, exact: true }).click();

/** Saves, and waits until nothing is left to save. */
async function save(page: Page, within: Locator, button: string, then = button) {
  await press(within, button);
  await confirmIdentity(page, password);
  await within.getByRole('button', { name: then, exact: true, disabled: true }).waitFor();
}

function ask(key: string, model = 'up') {
  const body = { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 200 };
  return gateway.post('/v1/chat/completions', { key, body });
}

test('an operator adds a provider, tries it before saving, sells a model and switches it off', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  await visit('/operator/providers', async (page) => {
    await press(page, 'Add provider');
    const choice = page.getByRole('dialog', { name: 'Add a provider' });
    await choice.getByRole('combobox', { name: 'Provider' }).fill('own-vllm');
    await press(choice, 'Next');
    const own = drawer(page, 'own-vllm');
    const link = own.getByRole('link', { name: 'clouds' });
    assert.equal(await link.getAttribute('href'), '/docs/clouds');
    // Errors of the API are at their fields.
    await own.getByLabel('Address').fill('not an address');
    await own.getByLabel('API key').fill(credential);
    await press(own, 'Test');
    await own.getByText(/`?kind`? .*is required/).waitFor();
    await own.getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: 'openai-compatible' }).click();
    await press(own, 'Test');
    await own.getByText(/base_url.*address/).waitFor();
    await own.getByLabel('Address').fill(`${gateway.upstream.url}/own/v1`);
    await press(own, 'Test');
    await confirmIdentity(page, password);
    await own.getByText('2 models').waitFor();
    await own.getByRole('combobox', { name: 'Model to try' }).click();
    await page.getByRole('option', { name: 'up', exact: true }).click();
    await press(own, 'Test');
    await confirmIdentity(page, password);
    await own.getByText('it answered').waitFor();
    await checkLooks(page, 'operator-provider-tested');
    await save(page, own, 'Save and switch on', 'Save changes');
    await own.getByText('On', { exact: true }).waitFor();

    await own.getByText('$0.5 in and $2 out per million').waitFor();
    await own.getByText('8,192 tokens').waitFor();
    await press(own, 'Sell up');
    const model = drawer(page, 'up');
    // What is wrong is said before the password is asked for.
    await press(model, 'Sell');
    await model.getByText(/prices.*input.*is required/).waitFor();
    await model.getByLabel('Input').fill('1');
    await model.getByLabel('Output').fill('10');
    await checkLooks(page, 'operator-model-sold');
    await press(model, 'Sell');
    await confirmIdentity(page, password);
    await model.waitFor({ state: 'detached' });
    await own.getByRole('button', { name: 'Edit up' }).waitFor();
    assert.equal((await ok(ask(key))).costMicros, 2_005);
    const { settings } = await jsonOf<{ settings: { models: { up: object } } }>(
      operator.get('/operator/settings/saved'),
    );
    assert.deepEqual(settings.models.up, {
      routes: [{ provider: 'own-vllm', model: 'up' }],
      prices: { input: 1, output: 10 },
      context_tokens: 8_192,
      max_input_tokens: 8_192,
      max_output_tokens: 8_192,
    });
    assert.equal(gateway.upstream.requests.at(-1)!.headers.authorization, `Bearer ${credential}`);

    await press(own, 'Switch off…');
    await press(page.getByRole('dialog', { name: 'Switch off own-vllm?' }), 'Switch off');
    await confirmIdentity(page, password);
    await own.getByText('Off', { exact: true }).waitFor();
    assert.equal((await ask(key)).status, 404);
    await press(own, 'Switch on…');
    await press(page.getByRole('dialog', { name: 'Switch on own-vllm?' }), 'Switch on');
    await confirmIdentity(page, password);
    await own.getByText('On', { exact: true }).waitFor();
    assert.equal((await ask(key)).status, 200);
    assert.ok(!(await page.content()).includes(credential));
  });
});

test('a changed price is previewed on the last week, and charged from then on', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  await ok(ask(key));
  await visit('/operator/catalogue?model=up', async (page) => {
    const model = drawer(page, 'up');
    await model.getByLabel('Output').fill('20');
    await press(model, 'Preview on last week');
    const preview = model.getByRole('table', { name: 'Preview' });
    // Two requests of the test before, and one.
    await preview.getByRole('row', { name: /up 3 \$0\.006015 \$0\.012015/ }).waitFor();
    await model.getByLabel('Aliases').fill('uppish');
    await model.getByLabel('Aliases').press('Enter');
    await checkLooks(page, 'operator-model-preview');
    await save(page, model, 'Save changes');
    assert.equal((await ok(ask(key, 'uppish'))).costMicros, 4_005);
    // A price for later.
    await press(model, 'Add price');
    const later = model.getByRole('group', { name: 'Price 2' });
    await later.getByLabel('From').fill(nextYear);
    assert.equal(await later.getByLabel('Input').inputValue(), '1', 'as before');
    await later.getByLabel('Output').fill('30');
    await save(page, model, 'Save changes');
    assert.equal((await ok(ask(key))).costMicros, 4_005);
    await press(model, 'Close');
    const sold = page
      .getByRole('table', { name: 'Models' })
      .getByRole('row', { name: /Own price/ });
    await sold.getByText('$20.00').waitFor();

    await press(page, 'Markup ×1, web search');
    await page.getByRole('textbox', { name: 'Markup' }).fill('much');
    await press(page, 'Save markup');
    await page.getByText(/pricing\.markup.*must be a number/).waitFor();
    await page.getByRole('textbox', { name: 'Markup' }).fill('1.5');
    await save(page, page.getByRole('main'), 'Save markup');
    await page.getByRole('button', { name: 'Markup ×1.5, web search' }).waitFor();
  });
  const { data } = await jsonOf<{ data: { id: string; price: { input_micros: number } | null }[] }>(
    operator.get('/operator/catalogue'),
  );
  assert.equal(data.find(({ id }) => id === 'up')!.price!.input_micros, 1_000_000);
});

test('a model is switched off, and sold again', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  await visit('/operator/catalogue?model=up', async (page) => {
    const model = drawer(page, 'up');
    await press(model, 'Switch off…');
    await press(page.getByRole('dialog', { name: 'Switch off up?' }), 'Switch off');
    await confirmIdentity(page, password);
    await model.getByRole('button', { name: 'Switch on…' }).waitFor();
    await press(model, 'Close');
    await press(page, 'up');
    assert.equal((await ask(key)).status, 404);
    await press(model, 'Switch on…');
    await press(page.getByRole('dialog', { name: 'Switch on up?' }), 'Switch on');
    await confirmIdentity(page, password);
    await model.getByText('On sale').waitFor();
    assert.equal((await ask(key)).status, 200);
  });
});

test('fields that the file sets are locked, and name their line', async () => {
  await visit('/operator/providers?provider=openai', async (page) => {
    const openai = drawer(page, 'openai');
    await openai
      .getByText(/Set by tollgate\.yaml:1/)
      .first()
      .waitFor();
    assert.equal(await openai.getByLabel('Address').isDisabled(), true);
    assert.equal(await openai.getByLabel('API key').isDisabled(), true);
    assert.equal(await openai.getByLabel('Address').inputValue(), `${gateway.upstream.url}/v1`);
    await checkLooks(page, 'operator-provider-locked');
  });
});

test('somebody else’s change is told, and the next try is on top of it', async () => {
  await visit('/operator/providers?provider=own-vllm', async (page) => {
    const own = drawer(page, 'own-vllm');
    await press(own, 'More settings');
    await own.getByLabel('Pass fields').fill('custom_sampler');
    await own.getByLabel('Pass fields').press('Enter');
    const { version } = await jsonOf<{ version: number }>(operator.get('/operator/settings/saved'));
    const changes = [{ path: ['aliases', 'theirs'], value: 'gpt-6-luna' }];
    await ok(operator.patch('/operator/settings/saved', { version, changes }));
    await press(own, 'Save changes');
    await own.getByText('Somebody else has saved settings meanwhile.').waitFor();
    await save(page, own, 'Save changes');
    const saved = await jsonOf<{ settings: Record<string, Record<string, object>> }>(
      operator.get('/operator/settings/saved'),
    );
    assert.equal(saved.settings['aliases']!['theirs'], 'gpt-6-luna');
    assert.deepEqual(saved.settings['providers']!['own-vllm'], {
      base_url: `${gateway.upstream.url}/own/v1`,
      kind: 'openai-compatible',
      pass_fields: ['custom_sampler'],
    });
  });
});

test('versions are undone in one click, restored and exported, and the file is read again', async () => {
  const file = join(gateway.program.dataDir, 'tollgate.yaml');
  const written = readFileSync(file, 'utf8');
  await visit('/operator/settings', async (page) => {
    const versions = page.getByRole('table', { name: 'Versions' });
    const newest = versions.getByRole('row').nth(1);
    await newest.getByText('changed the provider own-vllm').waitFor();
    await press(newest, 'Undo');
    await confirmIdentity(page, password);
    await newest.getByText(/as in version/).waitFor();
    const saved = async () =>
      (
        await jsonOf<{ settings: { providers: Record<string, object>; models?: object } }>(
          operator.get('/operator/settings/saved'),
        )
      ).settings;
    assert.ok(!('pass_fields' in (await saved()).providers['own-vllm']!));
    await press(page, 'Show all versions');
    await press(page, 'Restore version 1');
    await press(page.getByRole('dialog', { name: 'Restore version 1?' }), 'Restore');
    await confirmIdentity(page, password);
    await newest.getByText('as in version 1', { exact: true }).waitFor();
    assert.equal((await saved()).models, undefined);
    await press(page, 'Export');
    await page.getByRole('region', { name: 'Configuration file' }).getByText('own-vllm').waitFor();
    await page.getByText('OWN_VLLM_API_KEY').waitFor();
    await checkLooks(page, 'operator-settings-export');
    await page.keyboard.press('Escape');
    try {
      writeFileSync(file, written.replace('"providers"', '"providres"'));
      await press(page, 'Read the file again');
      await page.getByText(/not the newest/).waitFor();
      await page
        .getByText(/tollgate\.yaml:1:\d+: .*providres/)
        .first()
        .waitFor();
      await checkLooks(page, 'operator-settings-problem');
    } finally {
      writeFileSync(file, written);
    }
    await press(page, 'Read the file again');
    await page.getByText(/not the newest/).waitFor({ state: 'detached' });
  });
});
