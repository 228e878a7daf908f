// The catalogue in a real browser.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { changeTerms } from '../../src/domain/accounts/manage-accounts.ts';
import {
  checkAccessibility,
  checkLooks,
  openBrowser,
  takePicture,
  type TestBrowser,
} from '../support/browser.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { TestClock } from '../support/test-clock.ts';

let gateway: TestGateway;
let browser: TestBrowser;
let member: DashboardClient;
before(async () => {
  [gateway, browser] = await Promise.all([
    startGateway({ aliases: { fast: 'gpt-5-mini' } }, { clock: new TestClock() }),
    openBrowser(),
  ]);
  member = await signIn(gateway, { role: 'member' });
  const modelPrice = { modelId: 'gpt-5-mini', multiplierPpm: 800_000 };
  await changeTerms(gateway.database, member.account, { modelPrice });
  await gateway.makeKey({ account: member.account });
});
after(() => gateway.stop());

function visit<Result>(path: string, action: (page: Page) => Promise<Result>): Promise<Result> {
  return browser.withPage({ baseUrl: gateway.url, cookie: member.cookie }, async (page) => {
    await page.goto(path);
    return action(page);
  });
}

const rowsOf = (page: Page) =>
  page.getByRole('table', { name: 'Language models' }).locator('tbody tr');

test('models are found by alias, vendor and ability', async () => {
  await visit('/models', async (page) => {
    await rowsOf(page).first().waitFor();
    assert.ok((await rowsOf(page).count()) > 50);
    await checkAccessibility(page);
    await takePicture(page, 'models');
    await page.getByRole('searchbox', { name: 'Search models' }).fill('fast mini');
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
