// The page Alerts in a real browser: an owner adds a webhook, tests it, and sends an event again.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkAccessibility, checkLooks, confirmIdentity, withPage } from '../support/browser.ts';
import { quickHash, signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { answerStatus } from '../support/upstream.ts';
import {
  isSigned,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts';

const password = 'correct horse battery';
let gateway: TestGateway;
let receiver: WebhookReceiver;
let owner: DashboardClient;

before(async () => {
  receiver = await startWebhookReceiver();
  gateway = await startGateway({ alerts: { allowed_hosts: [receiver.host] } });
  owner = await signIn(gateway, { operator: true, passwordHash: quickHash(password) });
});
after(async () => {
  await gateway.stop();
  await receiver.close();
});

for (const path of ['/alerts', '/operator/alerts'])
  test(`${path}: a webhook is added, tested, sent again, switched off and removed`, async () => {
    const earlier = receiver.of('test').length;
    const sent = () => receiver.of('test').slice(earlier);
    const options = { baseUrl: gateway.url, cookie: owner.cookie, ignores: /status of 40[03]/ };
    await withPage(options, async (page) => {
      await page.goto(path);
      await page.getByText('No endpoints yet').waitFor();
      await page.getByRole('button', { name: 'Add endpoint' }).click();
      const drawer = page.getByRole('dialog', { name: 'Add an endpoint' });
      await drawer.getByRole('textbox', { name: 'Address' }).fill('https://user:word@example.com');
      await drawer.getByRole('button', { name: 'Add endpoint' }).click();
      await confirmIdentity(page, password);
      await drawer.getByText(/must not contain a user name/).waitFor();
      await checkAccessibility(page);
      await drawer.getByRole('textbox', { name: 'Address' }).fill(receiver.url);
      await drawer.getByRole('button', { name: 'Add endpoint' }).click();
      await confirmIdentity(page, password);
      const shown = page.getByRole('dialog', { name: `Webhook “${receiver.url}” created` });
      const secret = (await shown.locator('code').first().textContent())!.trim();
      await checkAccessibility(page);
      await shown.getByRole('button', { name: 'Done' }).click();

      receiver.answer(answerStatus(500));
      await page.getByRole('button', { name: `Send test to ${receiver.url}` }).click();
      const deliveries = page.getByRole('table', { name: 'Deliveries' });
      await deliveries.getByText('it answers with status 500').waitFor();
      await checkLooks(page, `alerts${path.replaceAll('/', '-')}`);
      receiver.answer(answerStatus(200));
      await page.getByRole('button', { name: /^Send again: test/ }).click();
      await deliveries.getByText('Delivered').waitFor();
      await until(() => sent().length >= 2);
      for (const message of sent()) assert.ok(isSigned(message, secret));
      assert.equal(new Set(sent().map(({ id }) => id)).size, 1);

      await page.getByRole('button', { name: `New secret for ${receiver.url}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Replace', exact: true }).click();
      await confirmIdentity(page, password);
      const again = page.getByRole('dialog', { name: /has a new secret$/ });
      const other = (await again.locator('code').first().textContent())!.trim();
      await checkAccessibility(page);
      await again.getByRole('button', { name: 'Done' }).click();
      const count = sent().length;
      await page.getByRole('button', { name: `Send test to ${receiver.url}` }).click();
      await until(() => sent().length > count);
      for (const one of [secret, other]) assert.ok(isSigned(sent().at(-1)!, one));

      await page.getByRole('switch', { name: `Send events to ${receiver.url}` }).press('Space');
      const isOff = page.getByRole('button', { name: 'Send test', disabled: true });
      await isOff.waitFor();
      await page.getByRole('button', { name: `Remove ${receiver.url}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
      await page.getByText('No endpoints yet').waitFor();
    });
  });
