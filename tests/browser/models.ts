// The catalogue in a real browser.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { changeTerms } from '../../src/domain/accounts/manage-accounts.ts';
import { sumActivity } from '../../src/domain/activity/queries.ts';
import {
  checkAccessibility,
  checkLooks,
  countClicks,
  phone,
  takePicture,
  visitsOf,
  withPage,
} from '../support/browser.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import type { RunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';

let gateway: TestGateway<RunningApp>;
let member: DashboardClient;
before(async () => {
  gateway = await startGateway({ aliases: { fast: 'gpt-6-luna' } }, { clock: new TestClock() });
  member = await signIn(gateway, { role: 'member' });
  const modelPrice = { modelId: 'gpt-6-luna', multiplierPpm: 800_000 };
  await changeTerms(gateway.database.write, member.account, { modelPrice });
  await gateway.makeKey({ account: member.account });
});
after(() => gateway.stop());

const visit = visitsOf(() => ({ gateway, user: member }));

const rowsOf = (page: Page) =>
  page.getByRole('table', { name: 'Language models' }).locator('tbody tr');

test('embedding models have a tab with their sizes and prices, and open in the playground', async () => {
  await visit('/models?mode=test&tab=others', async (page) => {
    const rows = page.getByRole('table', { name: 'Other models' }).locator('tbody tr');
    await rows.getByText('Text Embedding 3 Small').waitFor();
    await checkLooks(page, 'models-others');
    await page.getByRole('searchbox', { name: 'Search models' }).fill('embedding 3 small');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
    assert.match((await rows.textContent()) ?? '', /1 to 1,536\$0\.02/);
    await rows.getByText('Text Embedding 3 Small').click();
    await page.getByText('up to 8,192 tokens').waitFor();
    await page.getByRole('link', { name: 'Try it in the playground' }).click();
    await page.getByLabel('Texts').waitFor();
    assert.match(page.url(), /tab=others/);
  });
});

test('models are found by alias, vendor and ability', async () => {
  await visit('/models?open=gone', async (page) => {
    await page.getByText('“gone” is not sold here now').waitFor();
    await rowsOf(page).first().waitFor();
    assert.equal(await rowsOf(page).count(), 30);
    await page.getByRole('button', { name: /^Show all \d+ models$/ }).click();
    assert.ok((await rowsOf(page).count()) > 50);
    await checkAccessibility(page);
    await takePicture(page, 'models');
    await page.getByRole('searchbox', { name: 'Search models' }).fill('fast luna');
    await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 1);
    await rowsOf(page).getByText('−20%').waitFor();
    await page.getByRole('searchbox', { name: 'Search models' }).fill('');
    await page.getByRole('combobox', { name: 'Vendor' }).click();
    await page.getByRole('option', { name: 'Anthropic' }).click();
    await page.getByRole('group', { name: 'Abilities' }).getByText('Web search').click();
    await page.waitForURL(/ability=search/);
    await page.waitForFunction(() => {
      const rows = [...document.querySelectorAll('tbody tr')];
      return rows.length > 3 && rows.every(({ textContent }) => textContent.includes('claude'));
    });
    await page.getByRole('group', { name: 'Abilities' }).getByText('Vision').click();
    await page.getByRole('searchbox', { name: 'Search models' }).fill('no such model');
    await page.getByText('No matching models').waitFor();
  });
});

test('a model opens with all its prices and links to the playground', async () => {
  await visit('/models?mode=test&q=gemini-3.8', async (page) => {
    await rowsOf(page).filter({ hasText: 'gemini-3.8-flash' }).getByRole('button').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Cached input').first().waitFor();
    // A price that takes effect after the test clock's day.
    await dialog.getByRole('heading', { name: /From .*2027/ }).waitFor();
    await checkLooks(page, 'models-open');
    await dialog.getByRole('link', { name: 'Try it in the playground' }).click();
    await page.waitForURL(/\/playground\?.*model=gemini-3\.8-flash/);
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
  });
});

test('image models show their modes and prices', async () => {
  await visit('/models?tab=images', async (page) => {
    await page.getByText('Edit one image').first().waitFor();
    await checkLooks(page, 'models-images');
    await page
      .getByRole('button', { name: /flux-2$/ })
      .first()
      .click();
    await page.getByRole('dialog').getByText('First megapixel').waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'models-image-open');
  });
});

test('speed and uptime of the account are in the list, and a line of code in the model', async () => {
  const { key } = await gateway.makeKey({ account: member.account });
  const ask = (input: string) =>
    gateway.post('/v1/responses', { key, body: { model: 'gpt-6-luna', input } });
  await ok(ask('Hello'));
  assert.equal((await ask('sandbox: status=500')).status, 502);
  await until(async () => {
    await gateway.program.app.gateway.observe.activity.flush();
    const day = { fromDay: '2000-01-01', toDay: '2100-01-01' };
    const query = { ...day, accountId: member.account, mode: 'test', by: 'none' } as const;
    return (await sumActivity(gateway.database.read, query)).length === 1;
  });
  await visit('/models?mode=test&q=gpt-6-luna', async (page) => {
    await rowsOf(page).getByText('50%', { exact: true }).waitFor();
    await rowsOf(page)
      .getByRole('button', { name: /gpt-6-luna/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 requests in the last 30 days').waitFor();
    const line = (await dialog.getByRole('region', { name: 'With curl' }).textContent())!;
    assert.ok(line.startsWith(`curl ${gateway.url}/v1/responses `), line);
    assert.match(line, /"model":"gpt-6-luna"/);
    await checkLooks(page, 'models-measured');
  });
});

test('two models are compared in three clicks, the differences marked', async () => {
  await visit('/models?mode=test', async (page) => {
    const clicks = await countClicks(page);
    await page.getByRole('checkbox', { name: 'Compare GPT-5.5', exact: true }).click();
    await page.getByRole('checkbox', { name: 'Compare GPT-5.5 Pro', exact: true }).click();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    const table = page.getByRole('table', { name: 'Comparison' });
    await table.getByRole('row', { name: /^Output \(differs\)/ }).waitFor();
    assert.equal(await clicks(), 3);
    await checkLooks(page, 'models-compare');
    const rows = await table.getByRole('row').count();
    await page.getByRole('switch', { name: 'Only differences' }).check({ force: true });
    assert.ok((await table.getByRole('row').count()) < rows);
    await page.getByRole('link', { name: 'Try side by side' }).click();
    await page.waitForURL(/\/playground\?.*model=gpt-5\.5%2Cgpt-5\.5-pro/);
  });
});

test('on a phone the whole catalogue is a few screens long, and models can be compared', async () => {
  await withPage({ baseUrl: gateway.url, cookie: member.cookie, viewport: phone }, async (page) => {
    await page.goto('/models?mode=test');
    const list = page.getByRole('list', { name: 'Language models' });
    await list.waitFor();
    const height = () => page.evaluate('document.documentElement.scrollHeight') as Promise<number>;
    assert.ok((await height()) < 4_000, `${await height()} pixels`);
    await checkLooks(page, 'models-list');
    await page.setViewportSize(phone);
    await page.getByRole('button', { name: /^Show all \d+ models$/ }).click();
    assert.ok((await list.getByRole('listitem').count()) > 50);
    assert.ok((await height()) < 9_000, `${await height()} pixels`);
    for (const box of await list
      .getByRole('checkbox')
      .all()
      .then((all) => all.slice(0, 4)))
      await box.click();
    assert.ok(await list.getByRole('checkbox').nth(5).isDisabled());
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByRole('heading', { name: 'Prices per million tokens' }).waitFor();
  });
});
