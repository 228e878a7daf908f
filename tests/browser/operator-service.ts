// The operator's pages in a real browser: all keys, the audit log, the catalogue and the
// configuration.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { answerContent } from '../support/answers.ts';
import {
  checkAccessibility,
  checkLooks,
  confirmIdentity,
  phone,
  unconfirmed,
  untilThereAre,
  visitsOf,
} from '../support/browser.ts';
import { quickHash, signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import { rowOf } from '../support/rows.ts';
import { until } from '../support/until.ts';

const password = 'correct horse battery';
let gateway: TestGateway;
let operator: DashboardClient;

const route = (provider: string) => ({
  routes: [{ provider, model: 'up' }],
  max_input_tokens: 10_000,
  max_output_tokens: 1_000,
});

before(async () => {
  gateway = await startGateway({
    metrics: { token: 'a-token-that-nobody-sees' },
    models: {
      'good-model': {
        ...route('local'),
        prices: { input: 1, output: 10 },
        retires_at: '2026-11-30',
      },
      'unpriced-model': route('nowhere'),
    },
    providers: {
      nowhere: {
        kind: 'openai',
        base_url: 'http://127.0.0.1:1/v1',
        api_key: 'sk-nowhere',
        enabled: false,
      },
    },
  });
  operator = await signIn(gateway, {
    operator: true,
    role: null,
    name: 'Grace Hopper',
    email: 'grace@example.com',
    passwordHash: quickHash(password),
  });
});
after(() => gateway.stop());

const visit = visitsOf(() => ({ gateway, user: operator }));

function row(page: Page, text: string): Locator {
  return page.getByRole('row').filter({ hasText: text });
}

async function choose(
  page: Page,
  within: Locator,
  button: string | RegExp,
  item: string,
): Promise<void> {
  await within.getByRole('button', { name: button }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

function ask(key: string, model: string) {
  return gateway.post('/v1/chat/completions', {
    key,
    body: { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 20 },
  });
}

test('an operator sees the open invitations of an account and withdraws one', async () => {
  const owner = await signIn(gateway, { name: 'Olga' });
  const { account } = owner;
  await owner.post(`/accounts/${account}/invitations`, { email: 'one@example.com', role: 'admin' });
  await visit(
    `/operator/accounts/${account}?tab=members`,
    async (page) => {
      await row(page, 'one@example.com').getByText('Olga').waitFor();
      await page.getByLabel('E-mail address').fill('two@example.com');
      await page.getByRole('button', { name: 'Invite', exact: true }).click();
      await confirmIdentity(page, password);
      await row(page, 'two@example.com').getByText('Grace Hopper').waitFor();
      await checkLooks(page, 'operator-account-invitations');
      await row(page, 'one@example.com').getByRole('button', { name: 'Withdraw' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
      await row(page, 'one@example.com').waitFor({ state: 'detached' });
      const link = page.getByRole('region', { name: 'Invitation link' });
      await link.waitFor();
      await row(page, 'two@example.com').getByRole('button', { name: 'Withdraw' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
      await page.getByText('No open invitations.').waitFor();
      assert.equal(await link.count(), 0, 'a link that works no longer is not shown');
    },
    { ignores: unconfirmed },
  );
});

test('a form saves what was changed in it, and keeps what others have changed meanwhile', async () => {
  const owner = await signIn(gateway, { name: 'Olga' });
  await visit(`/operator/accounts/${owner.account}?tab=terms`, async (page) => {
    await page.getByLabel('Requests per minute').fill('60');
    await ok(owner.patch(`/accounts/${owner.account}/settings`, { name: 'New name' }));
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Account saved').waitFor();
    const { name, requests_per_minute } = await rowOf(gateway.database, 'accounts', {
      id: owner.account,
    });
    assert.deepEqual([name, requests_per_minute], ['New name', 60]);
  });
});

test('a long name pushes no button out of sight', async () => {
  const name = 'Wolfeschlegelsteinhausenbergerdorff'.repeat(2);
  const email = `${name.toLowerCase().slice(0, 60)}@department.of.a.large.university.example.com`;
  const { account } = await signIn(gateway, { name, email });
  await visit(`/operator/accounts/${account}?tab=members`, async (page) => {
    const reset = row(page, email).getByRole('button');
    await isInside(reset, page.getByRole('main'));
    await page.setViewportSize(phone);
    await page.getByText('Reset link…').click();
    const dialog = page.getByRole('dialog');
    await isInside(dialog.getByRole('button', { name: 'Close' }), dialog);
  });
});

async function isInside(part: Locator, whole: Locator): Promise<void> {
  const [inner, outer] = [await part.boundingBox(), await whole.boundingBox()];
  assert.ok(inner && outer && inner.x + inner.width <= outer.x + outer.width);
}

test('an operator makes a reset link with the password, and none with a wrong one', async () => {
  const { account, email, userId } = await signIn(gateway, { name: 'Ada' });
  const links = async () => {
    const rows = gateway.database.read.selectFrom('sign_in_links').select('token_digest');
    return (await rows.where('user_id', '=', userId).execute()).length;
  };
  await visit(
    `/operator/accounts/${account}?tab=members`,
    async (page) => {
      const make = async () => {
        await row(page, email).getByRole('button', { name: 'Password reset link' }).click();
        await page.getByRole('button', { name: 'Create link' }).click();
      };
      await make();
      const asked = page.getByRole('dialog', { name: 'Confirm that it is you' });
      await asked.getByRole('textbox', { name: 'Your password' }).fill('not the password');
      await asked.getByRole('button', { name: 'Confirm' }).click();
      await asked.getByText('The password is wrong.').waitFor();
      await checkAccessibility(page);
      assert.equal(await links(), 0);
      await confirmIdentity(page, password);
      const shown = page.getByRole('dialog', { name: `Password reset link for ${email}` });
      const link = (await shown.locator('code').first().textContent())!.trim();
      assert.match(link, /\/reset-password\?token=/);
      assert.equal(await links(), 1);
    },
    { ignores: /status of 40[03]/ },
  );
});

test('an operator creates an admin key, whose text is shown once, and revokes it', async () => {
  await visit(
    '/operator/admin-keys',
    async (page) => {
      await page.getByText('No admin keys yet').waitFor();
      await page.getByRole('button', { name: 'Create admin key' }).click();
      const drawer = page.getByRole('dialog', { name: 'Create an admin key' });
      await drawer.getByLabel('Name').fill('Shop');
      await drawer.getByRole('button', { name: 'Create admin key' }).click();
      await drawer.getByText('Choose at least one scope.').waitFor();
      await drawer.getByLabel('accounts:read').and(page.locator(':focus')).waitFor();
      await drawer.getByLabel('accounts:read').check();
      await drawer.getByLabel('credits:write').check();
      await checkLooks(page, 'operator-admin-keys-create');
      await drawer.getByLabel('Allowed IP addresses').fill('not an address');
      await drawer.getByRole('button', { name: 'Create admin key' }).click();
      const asked = page.getByRole('dialog', { name: 'Confirm that it is you' });
      await asked.getByRole('textbox', { name: 'Your password' }).fill('not the password');
      await asked.getByRole('button', { name: 'Confirm' }).click();
      await asked.getByText('The password is wrong.').waitFor();
      await checkLooks(page, 'confirmation');
      await confirmIdentity(page, password);
      await drawer.getByText(/is not an address/).waitFor();
      await drawer.getByLabel('Allowed IP addresses').press('Backspace');
      await drawer.getByLabel('Allowed IP addresses').fill('127.0.0.1');
      await drawer.getByRole('button', { name: 'Create admin key' }).click();
      await confirmIdentity(page, password);
      const dialog = page.getByRole('dialog', { name: 'Key “Shop” created' });
      const secret = (await dialog.locator('code').first().textContent())!.trim();
      assert.match(secret, /^tg_admin_/);
      await checkAccessibility(page);
      await dialog.getByRole('button', { name: 'Done' }).click();

      const statusOf = async (path: string) =>
        (await gateway.get(`/admin/v1${path}`, { key: secret })).status;
      assert.deepEqual([await statusOf('/accounts'), await statusOf('/keys')], [200, 403]);
      await page.reload();
      const shop = page.getByRole('row', { name: /Shop/ });
      await shop.getByText('credits:write').waitFor();
      await shop.getByText('127.0.0.1').waitFor();
      assert.ok(!(await page.content()).includes(secret));
      await checkLooks(page, 'operator-admin-keys');

      await shop.getByRole('button', { name: 'Revoke Shop' }).click();
      const question = page.getByRole('dialog', { name: /^Revoke the admin key/ });
      await question.getByRole('button', { name: 'Revoke', exact: true }).click();
      await shop.getByText('Revoked').waitFor();
      assert.equal(await statusOf('/accounts'), 401);
    },
    { ignores: /status of 40[03]/ },
  );
});

test('an operator finds, disables, enables and revokes any key, and its requests follow', async () => {
  gateway.upstream.on(
    '/local/v1/chat/completions',
    answerContent('chat', { text: 'Hello', tokens: { input: 30, output: 5 } }),
  );
  const { key, id, account } = await gateway.makeKey({ creditUsd: 1, name: 'Nightly jobs' });
  await ok(ask(key, 'good-model'));
  await visit('/operator/keys', async (page) => {
    await page.getByRole('searchbox', { name: 'Search by name' }).fill(key);
    const mine = row(page, 'Nightly jobs');
    await mine.getByText('Active', { exact: true }).waitFor();
    await choose(page, mine, 'Actions for Nightly jobs', 'Disable…');
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await mine.getByText('Disabled', { exact: true }).waitFor();
    await until(async () => (await ask(key, 'good-model')).status === 401);
    await choose(page, mine, 'Actions for', 'Enable…');
    await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click();
    await mine.getByText('Active', { exact: true }).waitFor();
    await until(async () => (await ask(key, 'good-model')).status === 200);
    await choose(page, mine, 'Actions for', 'Revoke…');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await mine.getByText('Revoked', { exact: true }).waitFor();
    await until(async () => (await ask(key, 'good-model')).status === 401);
    await checkAccessibility(page);
  });
  await signIn(gateway, { email: 'other@example.com' });
  await visit(`/operator/audit?of=${account}&subject=${id}`, async (page) => {
    await row(page, 'key.revoke').waitFor();
    await page.getByRole('combobox', { name: 'Changed by' }).fill('grace@');
    await page.getByRole('option', { name: 'grace@example.com' }).click();
    await page.waitForURL((url) => url.searchParams.get('actor') === operator.userId);
    await row(page, 'key.enable').waitFor();
    // A heading row and three changes.
    await untilThereAre(page.getByRole('row'), 4);
    await page.getByText('turned on the key').waitFor();
    await row(page, 'key.revoke').getByText('key.revoke').click();
    await row(page, 'key.revoke').getByText('revoked', { exact: true }).waitFor();
    await checkLooks(page, 'operator-audit');
    await row(page, 'key.revoke').getByRole('link', { name: 'Nightly jobs' }).click();
    await page.getByRole('dialog', { name: 'Nightly jobs' }).waitFor();
    await page.goBack();
    await row(page, 'key.revoke').waitFor();
    await page.getByRole('combobox', { name: 'Changed by' }).fill('other@');
    await page.getByRole('option', { name: 'other@example.com' }).click();
    await page.getByText('No matching changes').waitFor();
    await checkAccessibility(page);
  });
});

test('the home page links a model that has ended to the catalogue, which marks it', async () => {
  await visit('/operator', async (page) => {
    const warning = page.getByRole('listitem').filter({ hasText: 'good-model on 2026-11-30' });
    await warning.getByRole('link', { name: 'Catalogue' }).click();
    const model = page
      .getByRole('table', { name: 'Models' })
      .getByRole('row', { name: 'good-model' });
    await model.getByText('Ended', { exact: true }).waitFor();
  });
});

test('the catalogue lists models on sale first, the others by what would bring them', async () => {
  await visit('/operator/catalogue', async (page) => {
    await page.getByRole('searchbox', { name: 'Search models' }).fill('-model');
    const sold = page.getByRole('table', { name: 'Models' }).getByRole('row');
    await untilThereAre(sold, 2);
    await sold.nth(1).getByText('good-model').first().waitFor();
    await page.getByRole('button', { name: 'Switch on nowhere: 1 model' }).click();
    await row(page, 'unpriced-model').waitFor();
    await checkLooks(page, 'operator-catalogue-groups');
    await page.getByRole('link', { name: 'Switch on nowhere' }).click();
    await page.getByRole('dialog', { name: 'nowhere' }).waitFor();
    await page.goBack();
    await page.getByRole('radiogroup', { name: 'Which models' }).getByText('Live').click();
    await page.waitForURL((url) => url.searchParams.get('show') === 'live');
    await untilThereAre(page.getByRole('button', { name: /^Switch on/ }), 0);
    await page.waitForURL((url) => url.searchParams.get('q') === '-model');
  });
});

test('the configuration is searched, marks changed settings and hides secrets', async () => {
  await visit('/operator/settings', async (page) => {
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('metrics.token');
    const setting = page.getByRole('term').filter({ hasText: 'metrics.token' }).first();
    await setting.getByText('Changed').waitFor();
    assert.match(await setting.locator('xpath=..').innerText(), /Hidden/);
    await page.waitForURL((url) => url.searchParams.get('q') === 'metrics.token');
    await page.getByRole('radio', { name: 'All' }).waitFor({ state: 'attached' });
    assert.doesNotMatch(await page.content(), /a-token-that-nobody-sees|sk-nowhere/);
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('frobnicate');
    await page.getByText('No matching settings').waitFor();
    await checkAccessibility(page);
  });
});
