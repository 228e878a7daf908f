// Requests in a real browser: the list, its filters and orders, why one failed, and the CSV export.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  checkAccessibility,
  checkLooks,
  phone,
  takePicture,
  untilThereAre,
  visitsOf,
  withPage,
} from '../support/browser.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { RunningApp } from '../support/running-app.ts';
import { until } from '../support/until.ts';

let gateway: TestGateway<RunningApp>;
let member: DashboardClient;
let requestId: string;

/** More than one page of the list. */
const chats = 58;

before(async () => {
  gateway = await startGateway();
  member = await signIn(gateway, { role: 'member' });
  const { account } = member;
  const web = await gateway.makeKey({ account, name: 'Web shop' });
  const batch = await gateway.makeKey({
    account,
    name: 'Nightly batch of translations, started by the scheduler',
  });
  for (let index = 0; index < chats; index++) {
    const body = {
      model: index % 3 === 0 ? 'claude-haiku-4-5' : 'gpt-6-luna',
      messages: [{ role: 'user', content: `Hello ${index}` }],
    };
    await gateway.post('/v1/chat/completions', { key: web.key, body });
  }
  await gateway.post('/v1/images/generations', {
    key: batch.key,
    body: { model: 'flux-2', prompt: 'A cat', n: 2 },
  });
  await gateway.post('/v1/web-search', { key: batch.key, body: { query: 'cats' } });
  const body = { model: 'gpt-6-luna', input: 'Hello', stream: true, reasoning: { effort: 'low' } };
  const headers = { 'user-agent': 'OpenAI/Python 2.8.1' };
  requestId = (await gateway.post('/v1/responses', { key: batch.key, headers, body })).requestId;
});
after(() => gateway.stop());

const visit = visitsOf(() => ({ gateway, user: member }));

/** Rows of the table, without its head. */
const rowsOf = (page: Page) => page.getByRole('table', { name: 'Requests' }).locator('tbody tr');

test('requests are listed page by page and filtered by days', async () => {
  await visit('/requests?mode=test', async (page) => {
    await page.getByText('Web search').first().waitFor();
    await untilThereAre(rowsOf(page), 50);
    await rowsOf(page)
      .first()
      .getByText(/^\d+ \w+, \d\d:\d\d:\d\d$/)
      .waitFor();
    await checkLooks(page, 'requests');
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByRole('button', { name: 'Load more' }).waitFor({ state: 'detached' });
    await untilThereAre(rowsOf(page), chats + 3);
    await page.getByRole('button', { name: 'Date range presets' }).click();
    await page.getByRole('menuitem', { name: 'Last 7 days' }).click();
    await page.waitForURL(/from=\d{4}-\d\d-\d\d&to=\d{4}-\d\d-\d\d/);
    await rowsOf(page).first().waitFor();
    await takePicture(page, 'requests-days');
  });
});

test('filters are kept in the address, survive a reload and apply to the export', async () => {
  await visit('/requests?mode=test', async (page) => {
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
    await page.getByRole('button', { name: 'Cost, duration' }).click();
    await page.getByRole('textbox', { name: 'Cost at least' }).fill('0.02');
    await page.keyboard.press('Enter');
    await page.waitForURL(/cost_min_micros=20000/);
    await untilThereAre(rowsOf(page), 1);
    await checkLooks(page, 'requests-bounds');
    // Enter leaves the focus in the field.
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Cost at least' }).waitFor({ state: 'hidden' });
    await page.getByText('Cost at least $0.02').waitFor();
    await page.getByRole('button', { name: 'Remove the filter by cost at least' }).click();
    await untilThereAre(rowsOf(page), 50);
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

test('a search that is not over says how far it has looked, and goes on', async () => {
  await visit('/requests?mode=test&code=upstream_error', async (page) => {
    const cursor = new Date(Date.now() + 60_000).toISOString();
    const short = { data: [], next_cursor: `${cursor}|req_0` };
    await page.route(/\/requests\?/, (route) =>
      route.request().resourceType() === 'fetch' && !route.request().url().includes('cursor')
        ? route.fulfill({ json: short })
        : route.continue(),
    );
    await page.reload();
    await page.getByText(/^Searched back to .* UTC$/).waitFor();
    await page.setViewportSize(phone);
    const further = page.getByRole('button', { name: 'Search further' });
    const hidden = await further
      .locator('.mantine-Button-label')
      .evaluate((label) => label.scrollWidth - label.clientWidth);
    assert.equal(hidden, 0, 'a part of the text is hidden');
    await further.click();
    await page.getByText('No matching requests').waitFor();
  });
});

test('a request is found by its id, and closing it leaves no filter; by its client, too', async () => {
  await visit('/requests?mode=test', async (page) => {
    const field = page.getByRole('textbox', { name: 'Request ID' });
    await field.fill(` ${requestId} `);
    await field.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Held in advance').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await field.inputValue(), '');
    await page.waitForURL((url) => !url.searchParams.has('request'));
    // Written a few seconds after the charge.
    await gateway.program.app.gateway.observe.activity.flush();
    await page.getByRole('textbox', { name: 'Client' }).fill('openai-python');
    await page.keyboard.press('Enter');
    await page.waitForURL(/client=openai-python/);
    await untilThereAre(rowsOf(page), 1);
    await rowsOf(page).first().getByRole('button').click();
    await dialog.getByRole('link', { name: 'openai-python/2.8' }).waitFor();
  });
});

test('a request opens with the keyboard and can be linked to', async () => {
  await visit('/requests?mode=test&endpoint=responses', async (page) => {
    await rowsOf(page).first().getByRole('button').press('Enter');
    await page.waitForURL(new RegExp(`request=${requestId}`));
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Held in advance').waitFor();
    await checkLooks(page, 'request');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });
  await visit(`/requests?mode=test&request=${requestId}`, async (page) => {
    await page.getByRole('dialog').getByText(requestId).waitFor();
  });
});

test('two clicks on the overview show why a request failed', async () => {
  const owner = await signIn(gateway, { role: 'owner' });
  const { key } = await gateway.makeKey({ account: owner.account, name: 'Shop' });
  await gateway.post('/v1/responses', { key, body: { model: 'gpt-6-luna', input: 'Hi' } });
  await gateway.post('/v1/responses', { key, body: { model: 'gpt-6-lunna', input: 'Hi' } });
  await until(async () => {
    await gateway.program.app.gateway.observe.activity.flush();
    return (
      await owner.get(`/accounts/${owner.account}/requests?mode=test&outcome=failed`)
    ).text.includes('model_not_found');
  });
  for (const options of [{}, { viewport: phone, colorScheme: 'dark' }] as const)
    await withPage({ baseUrl: gateway.url, cookie: owner.cookie, ...options }, async (page) => {
      await page.goto('/?mode=test');
      const recent = page.getByRole('viewport' in options ? 'list' : 'table', {
        name: 'Recent errors',
      });
      await recent.locator('td, li').getByRole('button').first().click();
      const dialog = page.getByRole('dialog');
      await dialog
        .getByText(/gpt-6-lunna/)
        .first()
        .waitFor();
      await dialog.getByText('Field model').waitFor();
      const link = dialog.getByRole('link', { name: 'About model_not_found' });
      assert.match((await link.getAttribute('href'))!, /\/docs\/errors#model_not_found$/);
      await checkAccessibility(page);
      await takePicture(page, 'viewport' in options ? 'request-failed-phone' : 'request-failed');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('404 model_not_found').waitFor();
      await checkAccessibility(page);
    });
});

test('a click on a heading orders the list, columns are chosen, and filters are saved', async () => {
  await visit('/requests?mode=test', async (page) => {
    await page.getByRole('button', { name: 'Cost', exact: true }).click();
    await page.waitForURL(/sort=cost/);
    await page.getByText('The highest hundred of the last 30 days').waitFor();
    await page
      .getByRole('columnheader', { name: 'Cost' })
      .and(page.locator('[aria-sort]'))
      .waitFor();
    await rowsOf(page).first().getByText('2 images').waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Finish' }).check({ force: true });
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name: 'Finish' }).waitFor();
    await page.reload();
    await page.getByRole('columnheader', { name: 'Finish' }).waitFor();
    await page.goto('/requests?mode=test&endpoint=images');
    await page.getByRole('button', { name: 'Saved filters' }).click();
    const name = page.getByRole('textbox', { name: 'Name of the current filters' });
    await name.fill('Pictures');
    // The Enter that ends the composing of Chinese letters, in most browsers and in Safari.
    for (const composing of [{ isComposing: true }, { keyCode: 229 }])
      await name.dispatchEvent('keydown', { key: 'Enter', ...composing });
    assert.equal(await name.inputValue(), 'Pictures', 'saved while it was composed');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await checkAccessibility(page);
    await page.goto('/requests?mode=test');
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await page.getByRole('button', { name: 'Pictures', exact: true }).click();
    await page.waitForURL(/endpoint=images/);
    await untilThereAre(rowsOf(page), 1);
  });
});

test('an open list shows new requests while it is live', async () => {
  const owner = await signIn(gateway, { role: 'owner' });
  const { key } = await gateway.makeKey({ account: owner.account, name: 'Shop' });
  const body = { model: 'gpt-6-luna', input: 'Hi' };
  await gateway.post('/v1/responses', { key, body });
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    await page.goto('/requests?mode=test');
    await untilThereAre(rowsOf(page), 1);
    await page.getByRole('switch', { name: 'Live' }).check({ force: true });
    await gateway.post('/v1/responses', { key, body });
    await untilThereAre(rowsOf(page), 2);
  });
});

test('an empty list says so', async () => {
  await visit('/requests', async (page) => {
    await page.getByText('No live requests yet').waitFor();
    await checkAccessibility(page);
  });
});
