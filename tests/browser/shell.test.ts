// The shell of the dashboard in a real browser.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkAccessibility, openBrowser, type TestBrowser } from '../support/browser.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let browser: TestBrowser;
before(async () => {
  [gateway, browser] = await Promise.all([startGateway(), openBrowser()]);
});
after(async () => {
  await browser.close();
  await gateway.stop();
});

test('a page that does not exist says so', async () => {
  await browser.withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/no/such/page');
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    assert.match(await page.title(), /not found/i);
    await checkAccessibility(page);
  });
});
