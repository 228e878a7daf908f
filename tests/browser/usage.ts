// Usage in a real browser: the list, its filters, the details of a request, and the CSV export.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  checkAccessibility,
  checkLooks,
  goWithin,
  openBrowser,
  takePicture,
  type TestBrowser,
  untilThereAre,
} from '../support/browser.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let browser: TestBrowser;
let member: DashboardClient;
let requestId: string;

/** More than one page of the list. */
const chats = 58;

before(async () => {
  [gateway, browser] = await Promise.all([startGateway(), openBrowser()]);
  member = await signIn(gateway, { role: 'member' });
  const { account } = member;
  const web = await gateway.makeKey({ account, name: 'Web shop' });
  const batch = await gateway.makeKey({
    account,
    name: 'Nightly batch of translations, started by the scheduler',
  });
  for (let index = 0; index < chats; index++) {
    const body = {
      model: index % 3 === 0 ? 'claude-haiku-4-5' : 'gpt-5-mini',
      messages: [{ role: 'user', content: `Hello ${index}` }],
    };
    await gateway.post('/v1/chat/completions', { key: web.key, body });
  }
  await gateway.post('/v1/images/generations', {
    key: batch.key,
    body: { model: 'flux-2', prompt: 'A cat', n: 2 },
  });
  await gateway.post('/v1/web-search', { key: batch.key, body: { query: 'cats' } });
  const body = { model: 'gpt-5-mini', input: 'Hello', stream: true, reasoning: { effort: 'low' } };
  requestId = (await gateway.post('/v1/responses', { key: batch.key, body })).requestId;
});
after(() => gateway.stop());

function visit<Result>(path: string, action: (page: Page) => Promise<Result>): Promise<Result> {
  return browser.withPage({ baseUrl: gateway.url, cookie: member.cookie }, async (page) => {
    await page.goto(path);
    return action(page);
  });
}

/** Rows of the table, without its head. */
const rowsOf = (page: Page) => page.getByRole('table', { name: 'Requests' }).locator('tbody tr');

test('requests are listed page by page and filtered by days', async () => {
  await visit('/usage?mode=test', async (page) => {
    await page.getByText('Web search').first().waitFor();
    await untilThereAre(rowsOf(page), 50);
    await checkLooks(page, 'usage');
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByRole('button', { name: 'Load more' }).waitFor({ state: 'detached' });
    await untilThereAre(rowsOf(page), chats + 3);
    await page.getByRole('button', { name: 'Date range presets' }).click();
    await page.getByRole('menuitem', { name: 'Last 7 days' }).click();
    await page.waitForURL(/from=\d{4}-\d\d-\d\d&to=\d{4}-\d\d-\d\d/);
    await rowsOf(page).first().waitFor();
    await takePicture(page, 'usage-days');
  });
});

test('filters are kept in the address, survive a reload and apply to the export', async () => {
  await visit('/usage?mode=test', async (page) => {
    await page.getByRole('combobox', { name: 'Endpoint' }).click();
    await page.getByRole('option', { name: 'Images' }).click();
    await page.waitForURL(/endpoint=images/);
    await page.getByText('2 images').waitFor();
    await untilThereAre(rowsOf(page), 1);
    await page.reload();
    await page.getByText('2 images').waitFor();
    await untilThereAre(rowsOf(page), 1);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export CSV' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'usage-test.csv');
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    assert.equal(lines.length, 2);
    assert.match(lines[1]!, /,flux-2,/);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('combobox', { name: 'Key' }).click();
    await page.getByRole('option', { name: /Nightly batch/ }).click();
    await page.waitForURL(/key=key_/);
    await untilThereAre(rowsOf(page), 3);
    await page.getByRole('combobox', { name: 'Model' }).click();
    await page.getByRole('option', { name: 'Claude Haiku 4.5' }).click();
    await page.getByText('No matching requests').waitFor();
    await checkAccessibility(page);
  });
});

test('a request opens with the keyboard and can be linked to', async () => {
  await visit('/usage?mode=test&endpoint=responses', async (page) => {
    await rowsOf(page).first().getByRole('button').press('Enter');
    await page.waitForURL(new RegExp(`request=${requestId}`));
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Held in advance').waitFor();
    await checkLooks(page, 'usage-request');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });
  await visit(`/usage?mode=test&request=${requestId}`, async (page) => {
    await page.getByRole('dialog').getByText(requestId).waitFor();
  });
});

test('failed and cached requests have their own tabs, and empty lists say so', async () => {
  await visit('/usage?mode=test&tab=failed', async (page) => {
    await page.getByText('No failed requests').waitFor();
    await checkAccessibility(page);
    await page.getByRole('tab', { name: 'Cached' }).click();
    await page.getByText('No cached answers yet').waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'usage-cache');
    await goWithin(page, '/usage');
    await page.getByText('No live requests yet').waitFor();
    await checkAccessibility(page);
  });
});
