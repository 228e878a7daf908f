// What an account's owner does now and then, in a real browser: own keys, and a batch to cancel.
import { after, before, test } from 'node:test';
import { addBatch } from '../support/add-batch.ts';
import { checkAccessibility, checkLooks, confirmIdentity, withPage } from '../support/browser.ts';
import { quickHash, signIn } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const password = 'correct horse battery';
let gateway: TestGateway;

before(async () => {
  gateway = await startGateway(({ url }) => ({
    providers: {
      host: {
        kind: 'openai-compatible',
        base_url: url,
        api_key: 'sk-host',
        accounts_may_bring_keys: true,
      },
    },
    pricing: { own_key_percent: 5, own_key_fee: 0.0001 },
  }));
});
after(() => gateway.stop());

test('an owner adds, moves and removes an own key; an operator sees it', async () => {
  const owner = await signIn(gateway, { passwordHash: quickHash(password) });
  const options = { baseUrl: gateway.url, cookie: owner.cookie, ignores: /status of 40[03]/ };
  await withPage(options, async (page) => {
    await page.goto('/settings?tab=own-keys');
    await page.getByText('5 % of the usual price and $0.0001').waitFor();
    await page.getByRole('button', { name: 'Add key' }).click();
    const drawer = page.getByRole('dialog', { name: 'Add an own key' });
    await drawer.getByLabel('Key', { exact: false }).first().fill('two words');
    await checkAccessibility(page);
    await drawer.getByRole('button', { name: 'Add key' }).click();
    await confirmIdentity(page, password);
    await drawer.getByText(/must be a key of visible ASCII characters/).waitFor();
    await drawer.getByLabel('Key', { exact: false }).first().fill('sk-of-the-customer-a1b2');
    await drawer.getByRole('button', { name: 'Add key' }).click();
    await confirmIdentity(page, password);
    await page.getByText('host …a1b2').waitFor();
    await page.getByRole('button', { name: 'Call last: host …a1b2' }).click();
    await page.getByText('When others fail').waitFor();
    await checkAccessibility(page);
    await checkLooks(page, 'own-keys');
    const operator = await signIn(gateway, { operator: true });
    await withPage({ baseUrl: gateway.url, cookie: operator.cookie }, async (other) => {
      await other.goto(`/operator/accounts/${owner.account}?tab=terms`);
      await other.getByText('host …a1b2').waitFor();
      await checkAccessibility(other);
    });
    await page.getByRole('button', { name: 'Remove host …a1b2' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('No own keys').waitFor();
  });
});

test('an owner cancels a batch', async () => {
  const owner = await signIn(gateway);
  const { account } = owner;
  const { id: key } = await gateway.makeKey({ account, name: 'Nightly' });
  const batch = await addBatch(gateway.database, { account, key, nowMs: Date.now() });
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    await page.goto('/batches');
    await page.getByText('Running', { exact: true }).waitFor();
    await page.getByText(/^expires in/).waitFor();
    await checkAccessibility(page);
    await page.getByRole('button', { name: `End ${batch}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End the batch' }).click();
    await page.getByText(/^Cancell(ing|ed)$/).waitFor();
  });
});
