// The operator's home and the search in a real browser.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { answerContent } from '../support/answers.ts';
import {
  checkAccessibility,
  checkLooks,
  takePicture,
  untilThereAre,
  visitsOf,
  withPage,
} from '../support/browser.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { modelOf } from '../support/model-of.ts';

const dayMs = 86_400_000;

/** The page counts its days by the browser's clock. The first test ends on the day after. */
const clock = new TestClock(Date.now() - dayMs);
let gateway: TestGateway<RunningApp>;
let operator: DashboardClient;

before(async () => {
  gateway = await startGateway(
    {
      models: {
        'good-model': modelOf([{ provider: 'local', model: 'up' }], {
          prices: { input: 1, output: 10 },
        }),
      },
    },
    { clock },
  );
  gateway.upstream.on(
    '/local/v1/chat/completions',
    answerContent('chat', { text: 'Hello', tokens: { input: 30, output: 5 } }),
  );
  operator = await signIn(gateway, { operator: true, name: 'Grace Hopper' });
});
after(() => gateway.stop());

const visit = visitsOf(() => ({ gateway, user: operator }));

function ask(key: string) {
  return gateway.post('/v1/chat/completions', {
    key,
    body: { model: 'good-model', max_tokens: 20, messages: [{ role: 'user', content: 'Hi' }] },
  });
}

test('the home shows what was earned and what to do, and each figure leads to its parts', async () => {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 0.0003 });
  const { costMicros } = await ask(key);
  assert.ok(costMicros! > 0);
  clock.jumpTo(clock.nowMs() + dayMs);
  const { key: other } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  await ask(other);
  await ask(other);
  const days = { from: dayOf(clock.nowMs() - dayMs), to: dayOf(clock.nowMs()) };
  await visit(`/operator?from=${days.from}&to=${days.from}`, async (page) => {
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.getByText('Make a backup').waitFor();
    await page.getByText('Set a mail server').waitFor();
    await page
      .getByText('less than a day')
      .or(page.getByText(/\d d at/))
      .first()
      .waitFor();
    const table = page.getByRole('table', { name: 'Report' });
    await table.getByRole('link', { name: 'Test' }).waitFor();
    await checkLooks(page, 'operator-home');

    // Cost leads to the models, losses to the keys, and an account to its statement.
    await page.getByText('Cost', { exact: true }).first().locator('..').getByRole('link').click();
    await table.getByRole('link', { name: 'good-model' }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('by'), 'model');
    await page.getByText('Margin', { exact: true }).first().locator('..').getByRole('link').click();
    await page.waitForURL((url) => url.searchParams.get('by') === 'day');
    await page
      .getByText('Revenue', { exact: true })
      .first()
      .locator('..')
      .getByRole('link')
      .click();
    await table.getByRole('link', { name: 'Test' }).click();
    await page.getByText(account).first().waitFor();
    await page.getByRole('table', { name: 'Statement' }).waitFor();
    assert.equal(
      await page.getByText('Card payments are not set up').count(),
      0,
      'the account has credit',
    );
    await page.getByRole('button', { name: 'Debit' }).waitFor();
    await checkAccessibility(page);
  });
});

test('a rise of the revenue is good, one of the cost neither, and a chart has the days before', async () => {
  const today = dayOf(clock.nowMs());
  await visit(`/operator?from=${today}&to=${today}`, async (page) => {
    const changeOf = (label: string) =>
      page.getByText(label, { exact: true }).first().locator('xpath=..').innerText();
    const chart = page.getByRole('figure', { name: 'Revenue, cost and margin by day' });
    await chart.getByRole('list').getByText('Revenue before').waitFor();
    assert.match(await changeOf('Revenue'), /\+100%\s*, better/);
    assert.match(await changeOf('Cost'), /\+100%\s*from/);
    await page.goto('/operator/accounts');
    await page
      .getByRole('img', { name: /^Revenue by day: first/ })
      .first()
      .waitFor();
    await checkLooks(page, 'operator-accounts');
  });
});

test('the operator area begins with the home', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  await ask(key);
  await visit('/operator', async (page) => {
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.getByText('30 days').first().waitFor();
    await page.getByRole('radiogroup', { name: 'Days' }).getByText('7 days').click();
    await page.waitForURL((url) => url.searchParams.get('days') === '7');
    await page
      .getByRole('table', { name: 'Report' })
      .getByRole('link', { name: 'Test' })
      .first()
      .waitFor();
  });
});

test('the search finds keys, requests, models, accounts, documentation and actions by keyboard', async () => {
  const { key } = await gateway.makeKey({ account: operator.account, name: 'Night train' });
  const reply = await ok(
    gateway.post('/v1/chat/completions', {
      key,
      body: { model: 'gpt-6-luna', messages: [{ role: 'user', content: 'Hi' }] },
    }),
  );
  const open = async (page: Page, text: string) => {
    // A drawer that closes takes the focus back.
    await untilThereAre(page.getByRole('dialog'), 0);
    await page.keyboard.press('Control+K');
    const box = page.getByRole('dialog', { name: 'Search' });
    await box.getByRole('textbox').pressSequentially(text);
    return box;
  };
  await visit('/', async (page) => {
    let box = await open(page, 'night tr');
    await box.getByRole('button', { name: /Night train/ }).waitFor();
    await checkLooks(page, 'search');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Night train' }).waitFor();
    await page.keyboard.press('Escape');

    box = await open(page, `X-Request-Id: ${reply.requestId}`);
    await box.getByRole('button', { name: new RegExp(reply.requestId) }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('request') === reply.requestId);
    await page.getByRole('dialog').getByText('GPT-6 Luna').first().waitFor();
    await page.keyboard.press('Escape');

    box = await open(page, 'good-model');
    await box.getByRole('button', { name: /good-model/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: /good-model/ }).waitFor();
    await page.keyboard.press('Escape');

    box = await open(page, 'idempotency');
    await box.getByText('Documentation', { exact: true }).first().waitFor();
    await box
      .getByRole('button', { name: /idempot/i })
      .first()
      .waitFor();
    await takePicture(page, 'search-docs');
    await page.keyboard.press('Escape');

    box = await open(page, operator.account);
    await box.getByRole('button', { name: new RegExp(operator.account) }).waitFor();
    await page.keyboard.press('Escape');

    // A pasted key is not sent: only its last characters are.
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(request.url()));
    box = await open(page, key);
    await box.getByRole('button', { name: /Night train/ }).waitFor();
    assert.ok(!asked.some((url) => url.includes(key.slice(8))), asked.join());
    await page.keyboard.press('Escape');

    await open(page, 'zzzzqqqq');
    await page.getByText('Nothing found').waitFor();
    await page.keyboard.press('Escape');
    await open(page, 'create key');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Create a key' }).waitFor();
  });
});

test('a member finds neither actions nor accounts that are not for members', async () => {
  const member = await signIn(gateway, { role: 'member', account: operator.account });
  await withPage({ baseUrl: gateway.url, cookie: member.cookie }, async (page) => {
    await page.goto('/');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+K');
    const box = page.getByRole('dialog', { name: 'Search' });
    await box.getByRole('button', { name: /^Keys/ }).waitFor();
    for (const name of ['Create key', 'Top up', 'Invite a member', 'All keys', 'Home'])
      assert.equal(await box.getByText(name, { exact: true }).count(), 0, name);
    await page.keyboard.type(operator.email);
    await page.getByText('Nothing found').waitFor();
  });
});

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
