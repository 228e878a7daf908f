// Providers, models and prices in a real browser: an operator adds a provider and tries it, sells a
// model, changes its price after a preview, switches off and undoes, without a file or a restart.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { answerContent } from '../support/answers.ts';
import { checkLooks, confirmIdentity, openBrowser, type TestBrowser } from '../support/browser.ts';
import { quickHash, signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonOf, ok } from '../support/http.ts';
import { answerJson } from '../support/upstream.ts';

const password = 'correct horse battery';
const credential = 'sk-typed-in-the-browser-4321';
const expected = /status of 40[0349]/;
let gateway: TestGateway;
let browser: TestBrowser;
let operator: DashboardClient;

before(async () => {
  [gateway, browser] = await Promise.all([startGateway(), openBrowser()]);
  const who = { operator: true, role: null, passwordHash: quickHash(password) };
  operator = await signIn(gateway, who);
  gateway.upstream.on('/own/v1/models', answerJson({ data: [{ id: 'up' }, { id: 'other' }] }));
  const content = { text: 'one two', tokens: { input: 5, output: 200 } };
  gateway.upstream.on('/own/v1/chat/completions', answerContent('chat', content));
});
after(() => gateway.stop());

function visit<Result>(path: string, look: (page: Page) => Promise<Result>): Promise<Result> {
  const options = { baseUrl: gateway.url, cookie: operator.cookie, ignores: expected };
  return browser.withPage(options, async (page) => {
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    return look(page);
  });
}

const drawer = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true });
const press = (within: Page | Locator, name: string) =>
  within.getByRole('button', { name, exact: true }).click();

async function save(page: Page, within: Locator, button: string) {
  await press(within, button);
  await confirmIdentity(page, password);
  await page.getByText('Saved. Every gateway').first().waitFor();
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
    await own.getByText('2 models').waitFor();
    await own.getByRole('combobox', { name: 'Model to try' }).click();
    await page.getByRole('option', { name: 'up', exact: true }).click();
    await press(own, 'Test');
    await own.getByText('it answered').waitFor();
    await checkLooks(page, 'operator-provider-tested');
    await save(page, own, 'Save and switch on');
    await own.getByText('On', { exact: true }).waitFor();

    await press(own, 'Sell up');
    const model = drawer(page, 'up');
    await press(model, 'Sell');
    await confirmIdentity(page, password);
    await model.getByText(/prices.*input.*is required/).waitFor();
    await model.getByLabel('Input').fill('1');
    await model.getByLabel('Output').fill('10');
    await checkLooks(page, 'operator-model-sold');
    await save(page, model, 'Sell');
    assert.equal((await ok(ask(key))).costMicros, 2_005);
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
    await confirmIdentity(page, password);
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
