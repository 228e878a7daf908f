// Customers in sight of an operator: an account's requests, analytics and keys, read-only, the search
// of all requests, and an account made with its owner and key.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { checkLooks, confirmIdentity, settle, unconfirmed, visitsOf } from '../support/browser.ts';
import { quickHash, signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import { rowsOf } from '../support/rows.ts';
import type { RunningApp } from '../support/running-app.ts';
import { modelOf } from '../support/model-of.ts';

const password = 'correct horse battery';

let gateway: TestGateway<RunningApp>;
let operator: DashboardClient;
let customer: { account: string; key: string; good: string; bad: string };

before(async () => {
  gateway = await startGateway({
    bodies: { days_max: 5 },
    models: {
      'good-model': modelOf([{ provider: 'local', model: 'up' }], {
        max_output_tokens: 1_000,
        prices: { input: 1000, output: 1000 },
      }),
    },
  });
  gateway.upstream.on(
    '/local/v1/chat/completions',
    answerContent('chat', { text: 'Hello', tokens: { input: 30, output: 5 } }),
  );
  operator = await signIn(gateway, {
    operator: true,
    name: 'Grace Hopper',
    passwordHash: quickHash(password),
  });
  const owner = await signIn(gateway, { name: 'Customer' });
  const { account } = owner;
  const { key } = await gateway.makeKey({ account, name: 'Backend', creditUsd: 5, bodyDays: 2 });
  const ask = (model: string) =>
    gateway.post('/v1/chat/completions', {
      key,
      body: { model, max_tokens: 20, messages: [{ role: 'user', content: 'the secret plan' }] },
    });
  const good = await ok(ask('good-model'));
  const bad = await ask('no-such-model');
  await gateway.program.app.gateway.observe.activity.flush();
  await gateway.program.app.gateway.observe.bodies.flush();
  customer = { account, key, good: good.requestId, bad: bad.requestId };
});
after(() => gateway.stop());

const visit = visitsOf(() => ({ gateway, user: operator }));

test('an operator looks up a customer’s failed request by its id, and why it failed', async () => {
  await visit('/operator', async (page) => {
    await page.keyboard.press('Control+K');
    const box = page.getByRole('dialog', { name: 'Search' });
    await box.getByRole('textbox').pressSequentially(customer.bad);
    await box.getByRole('button', { name: new RegExp(customer.bad) }).waitFor();
    await page.keyboard.press('Enter');
    const drawer = page.getByRole('dialog', { name: 'Request' });
    await drawer.getByText('About model_not_found').waitFor();
    assert.match(page.url(), new RegExp(`/operator/accounts/${customer.account}`));
  });
});

test('an account’s requests, analytics and keys are shown read-only, and bodies leave a row', async () => {
  await visit(`/operator/accounts/${customer.account}`, async (page) => {
    await page.getByRole('tab', { name: 'Requests' }).click();
    const table = page.getByRole('table', { name: 'Requests' });
    await table.getByText('model_not_found').first().waitFor();
    await checkLooks(page, 'operator-account-requests');
    await table
      .getByRole('row', { name: /good-model/ })
      .getByRole('button')
      .click();
    const drawer = page.getByRole('dialog', { name: 'Request' });
    await drawer.getByText('Held in advance').waitFor();
    await drawer.getByRole('tab', { name: 'Conversation' }).click();
    await drawer.getByRole('region', { name: 'User' }).getByText('the secret plan').waitFor();
    assert.equal(await drawer.getByRole('link', { name: 'Open in playground' }).count(), 0);
    await drawer.getByRole('tab', { name: 'Request' }).click();
    await drawer.getByText('the secret plan').waitFor();
    // Steps open no body: only a click is an operator's look at one.
    for (const [letter, id] of [
      ['k', customer.bad],
      ['j', customer.good],
    ] as const) {
      await page.keyboard.press(letter);
      await drawer.getByText(id, { exact: true }).waitFor();
      await drawer.getByRole('tab', { name: 'Details', selected: true }).waitFor();
    }
    await settle(page);
    await page.keyboard.press('Escape');
    const rows = await rowsOf(gateway.database, 'audit_log', { account_id: customer.account });
    const bodies = rows.filter(({ action }) => action === 'account.read-bodies');
    assert.deepEqual(new Set(bodies.map(({ subject }) => subject)), new Set([customer.good]));

    await page.getByRole('tab', { name: 'Analytics' }).click();
    await page.getByRole('figure', { name: 'Cost by day' }).waitFor();
    await checkLooks(page, 'operator-account-analytics');
    // A figure leads to the requests of this account, not to the operator's own.
    await page.getByRole('list', { name: 'Errors' }).getByRole('link').first().click();
    await table.getByText('model_not_found').first().waitFor();
    assert.equal(new URL(page.url()).searchParams.get('tab'), 'requests');

    await page.getByRole('tab', { name: 'Keys' }).click();
    assert.equal(new URL(page.url()).searchParams.get('code'), null);
    await page
      .getByRole('button', { name: /Backend/ })
      .first()
      .click();
    const key = page.getByRole('dialog', { name: 'Backend' });
    await key.getByText('Spent today').first().or(key.getByText('Today')).first().waitFor();
    assert.equal(await key.getByRole('button', { name: 'Save changes' }).count(), 0);
    await checkLooks(page, 'operator-account-key');
  });
});

test('the list of accounts, the home and the payments show who earns what', async () => {
  await visit('/operator/accounts', async (page) => {
    const row = page.getByRole('table').getByRole('row', { name: /Never/ });
    await row.first().waitFor();
    await page.getByRole('table').getByText('$0.04').first().waitFor();
    await checkLooks(page, 'operator-accounts-list');
  });
  await visit('/operator', async (page) => {
    await page.getByRole('figure', { name: 'Revenue, cost and margin by day' }).waitFor();
    const movers = page.locator('section', { hasText: 'Biggest movers' });
    await movers.getByRole('link').first().waitFor();
    await page.getByText('Prepaid balances').waitFor();
    await checkLooks(page, 'operator-home-trend');
    await page.getByRole('link', { name: 'All payments' }).click();
    await page.getByText('No payments yet').waitFor();
    await checkLooks(page, 'operator-payments-all');
  });
});

test('an account, its owner’s invitation and its key are made in one dialog', async () => {
  await visit(
    '/operator/accounts?create=yes',
    async (page) => {
      const dialog = page.getByRole('dialog', { name: 'Create account' });
      await dialog.getByRole('textbox', { name: 'Name' }).fill('Acme');
      await dialog.getByRole('textbox', { name: 'First owner' }).fill('boss@example.com');
      await dialog.getByRole('textbox', { name: 'First live key' }).fill('Production');
      await dialog.getByRole('textbox', { name: 'Most spend' }).fill('50');
      await checkLooks(page, 'operator-create-account');
      await dialog.getByRole('button', { name: 'Create account' }).click();
      await confirmIdentity(page, password);
      const secret = await dialog.getByRole('region', { name: 'The new key' }).innerText();
      assert.match(secret, /^tg_live_\w+$/);
      await dialog.getByRole('region', { name: 'Link for the owner' }).waitFor();
      await checkLooks(page, 'operator-account-created');
      await dialog.getByRole('link', { name: 'Open the account' }).click();
      await page.getByRole('heading', { level: 1, name: 'Acme' }).waitFor();
      const id = new URL(page.url()).pathname.split('/').at(-1)!;
      const [key] = await rowsOf(gateway.database, 'api_keys', { account_id: id });
      assert.deepEqual([key!.name, key!.monthly_cap_micros], ['Production', 50_000_000]);
    },
    { ignores: unconfirmed },
  );
});
