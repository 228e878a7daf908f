// Every page of the dashboard with something to show, in light, dark and on a phone: none reports a problem, asks another origin, runs out
// at the side, or has a grave fault of accessibility. `TOLLGATE_SCREENSHOTS=folder` leaves a picture of each.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkLooks, goWithin, openBrowser, type TestBrowser } from '../support/browser.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { scaled } from '../support/volume.ts';

let gateway: TestGateway;
let browser: TestBrowser;
let user: DashboardClient;

/** Their addresses, and how they are headed. */
const pages = [
  ['/', 'Overview'],
  ['/keys', 'Keys'],
  ['/usage', 'Usage'],
  // All their rows are in the test of models, and here when there is time.
  [scaled('/models?q=claude', '/models'), 'Models'],
  ['/playground', 'Playground'],
  ['/billing', 'Billing'],
  ['/settings', 'Settings'],
  ['/operator/accounts', 'Accounts'],
  ['/operator/accounts/:account', 'Test'],
  ['/operator/keys', 'All keys'],
  ['/operator/users', 'Users'],
  ['/operator/payments', 'Payments'],
  ['/operator/providers', 'Providers'],
  [scaled('/operator/catalogue?q=claude', '/operator/catalogue'), 'Catalogue'],
  ['/operator/settings', 'Configuration'],
  ['/operator/audit', 'Audit log'],
] as const;

before(async () => {
  [gateway, browser] = await Promise.all([startGateway({ test_mode: { enabled: true } }), openBrowser()]);
  user = await signIn(gateway, { role: 'owner', operator: true, name: 'Ada Lovelace' });
  await fill();
});
after(() => gateway.stop());

/** A few keys, and requests of each kind: charged, from the cache, refused. */
async function fill(): Promise<void> {
  const { account } = user;
  const names = ['Production', 'A name that somebody chose to be as long as it may well become in practice', 'Nightly jobs'];
  for (const [index, name] of names.entries()) {
    const caps = index === 0 ? {} : { daily_cap_micros: index * 2_000, monthly_cap_micros: 50_000_000 };
    const made = await user.post(`/accounts/${account}/keys`, { mode: 'test', name, ...caps });
    assert.equal(made.status, 200, made.text);
    const { secret } = made.json<{ secret: string }>();
    for (const model of ['gpt-5-mini', 'claude-haiku-4-5', 'gpt-5-mini']) {
      const messages = [{ role: 'user', content: `Tell me of the sea.\nsandbox: tokens=${100 * (index + 1)}` }];
      await gateway.post('/v1/chat/completions', { key: secret, body: { model, messages, temperature: 0 } });
    }
    await gateway.post('/v1/chat/completions', { key: secret, body: { model: 'no-such-model', messages: [] } });
  }
}

test('every page with something to show can be read in light and dark, on a desk and on a phone', async () => {
  await browser.withPage({ baseUrl: gateway.url, cookie: user.cookie }, async (page) => {
    await page.goto('/');
    for (const [path, name] of pages) {
      const address = path.replace(':account', user.account);
      await goWithin(page, `${address}${address.includes('?') ? '&' : '?'}mode=test`);
      await page.waitForFunction((text) => document.querySelector('h1')?.textContent === text, name);
      await checkLooks(page, path === '/' ? 'overview' : path.slice(1).replace(/\?.*/, '').replaceAll(/[/:]+/g, '-'));
    }
  });
});
