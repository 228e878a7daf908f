// Every page of the dashboard with content, in light, in dark, on a phone and on a tablet. A page
// fails when it reports an error, calls another origin, is wider than the screen, or has a serious
// accessibility fault. `TOLLGATE_SCREENSHOTS=folder` saves a screenshot of each.
import { after, before, test } from 'node:test';
import { checkAccessibility, checkLooks, goWithin, withPage } from '../support/browser.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonOf } from '../support/http.ts';
import { scaled } from '../support/volume.ts';

let gateway: TestGateway;
let user: DashboardClient;

/** Nobody listens there. */
const nobody = '127.0.0.1:9';

/** Address and heading of each page. */
const pages = [
  ['/', 'Overview'],
  ['/keys', 'Keys'],
  ['/requests', 'Requests'],
  ['/batches', 'Batches'],
  ['/analytics', 'Analytics'],
  // The test of models covers all rows. The long run does so here too.
  [scaled('/models?q=claude', '/models'), 'Models'],
  ['/playground', 'Playground'],
  ['/billing', 'Billing'],
  ['/alerts', 'Alerts'],
  ['/settings', 'Settings'],
  ['/operator', 'Home'],
  ['/operator/accounts', 'Accounts'],
  ['/operator/accounts/:account', 'Test'],
  ['/operator/keys', 'All keys'],
  ['/operator/admin-keys', 'Admin keys'],
  ['/operator/users', 'Users'],
  ['/operator/payments', 'Payments'],
  ['/operator/providers', 'Providers'],
  [scaled('/operator/catalogue?q=claude', '/operator/catalogue'), 'Catalogue'],
  ['/operator/alerts', 'Alerts'],
  ['/operator/settings', 'Configuration'],
  ['/operator/audit', 'Audit log'],
] as const;

before(async () => {
  gateway = await startGateway({
    test_mode: { enabled: true },
    alerts: { allowed_hosts: [nobody] },
  });
  user = await signIn(gateway, { role: 'owner', operator: true, name: 'Ada Lovelace' });
  await fill();
});
after(() => gateway.stop());

/** Creates keys, an admin key and requests of each kind: charged, cached and refused. */
async function fill(): Promise<void> {
  const { account } = user;
  await gateway.makeAdminKey({ scopes: ['accounts:write', 'keys:write', 'credits:write'] });
  for (const place of [`/accounts/${account}`, '/operator/accounts/operators']) {
    const path = `${place}/alert-endpoints`;
    const body = { kind: 'webhook', address: `http://${nobody}/hooks/of-a-long-name/tollgate` };
    const made = await jsonOf<{ endpoint: { id: string } }>(user.post(path, body));
    await user.post(path, { ...body, types: ['payment.received', 'spend.anomaly'] });
    await user.post(`${path}/${made.endpoint.id}/test`);
  }
  const names = [
    'Production',
    'A key with a name that is about as long as names become in practice',
    'Nightly jobs',
  ];
  for (const [index, name] of names.entries()) {
    const caps =
      index === 0 ? {} : { daily_cap_micros: index * 2_000, monthly_cap_micros: 50_000_000 };
    const { secret } = await jsonOf<{ secret: string }>(
      user.post(`/accounts/${account}/keys`, { mode: 'test', name, ...caps }),
    );
    for (const model of ['gpt-6-luna', 'claude-haiku-4-5', 'gpt-6-luna']) {
      const messages = [
        { role: 'user', content: `Tell me of the sea.\nsandbox: tokens=${100 * (index + 1)}` },
      ];
      await gateway.post('/v1/chat/completions', {
        key: secret,
        body: { model, messages, temperature: 0 },
      });
    }
    await gateway.post('/v1/chat/completions', {
      key: secret,
      body: { model: 'no-such-model', messages: [] },
    });
    const messages = [{ role: 'user', content: 'Tell me of the sea.' }];
    const params = { model: 'gpt-6-luna', max_tokens: 100, messages };
    const requests = [1, 2].map((line) => ({ custom_id: `line-${line}`, params }));
    await gateway.post('/v1/messages/batches', { key: secret, body: { requests } });
  }
}

test('every page with content is readable in light and dark, on a desktop and on a phone', async () => {
  await withPage({ baseUrl: gateway.url, cookie: user.cookie }, async (page) => {
    await page.goto('/');
    for (const [path, name] of pages) {
      const address = path.replace(':account', user.account);
      await goWithin(page, `${address}${address.includes('?') ? '&' : '?'}mode=test`);
      await page.waitForFunction(
        (text) => document.querySelector('h1')?.textContent === text,
        name,
      );
      await checkLooks(
        page,
        path === '/' ? 'overview' : path.slice(1).replace(/\?.*/, '').replaceAll(/[/:]+/g, '-'),
      );
    }
  });
});

test('pages that still load are readable', async () => {
  await withPage({ baseUrl: gateway.url, cookie: user.cookie }, async (page) => {
    // All answers but the session's are awaited.
    await page.route(/\/dashboard-api\/(?!session)/, () => {});
    for (const path of ['/operator', `/operator/accounts/${user.account}?tab=terms`]) {
      await page.goto(path);
      await page.getByRole('status', { name: 'Loading' }).first().waitFor();
      await checkAccessibility(page);
    }
  });
});
