// Billing and the operator's pages in a real browser, with a local Stripe.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import {
  checkAccessibility,
  checkLooks,
  confirmIdentity,
  phone,
  takePicture,
  withPage,
} from '../support/browser.ts';
import { quickHash, signIn, type DashboardClient } from '../support/dashboard.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import { answerStatus } from '../support/upstream.ts';
import { startStripe, type LocalStripe } from '../support/stripe.ts';

const hooks = hooksOfFile();
const password = 'correct horse battery';
let stripe: LocalStripe;
let gateway: TestGateway;
let owner: DashboardClient;
let operator: DashboardClient;

before(async () => {
  stripe = await startStripe(hooks);
  gateway = await startGateway(
    { stripe: { ...stripe.config, fee_percent: 2.9, fee_fixed_cents: 30 } },
    { tuning: stripe.tuning },
  );
  stripe.sendTo(gateway.url);
  owner = await signIn(gateway, { name: 'Ada Lovelace' });
  operator = await signIn(gateway, { role: null, operator: true, name: 'Grace Hopper' });
});
after(() => gateway.stop());

function heading(page: Page, name: string) {
  return page.getByRole('heading', { level: 1, name, exact: true });
}

/** Finds a figure by its label. */
function figure(page: Page, label: string): Locator {
  return page.getByText(label, { exact: true }).locator('..');
}

test('an owner tops up by card and is credited once, however often and in whatever order Stripe reports it', async () => {
  // The payment page is on another origin.
  const ignores = new RegExp(`another origin was asked for ${stripe.url}/pay/`);
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie, ignores }, async (page) => {
    await page.goto('/billing');
    await page.getByText('No entries yet').waitFor();
    await page.getByText('Paid requests are refused until this is above zero.').waitFor();
    await figure(page, 'Available').getByText('$0.00', { exact: true }).first().waitFor();
    await checkAccessibility(page);
    await page.getByRole('button', { name: 'Top up' }).click();
    const dialog = page.getByRole('dialog', { name: 'Top up by card' });
    const amount = dialog.getByRole('textbox', { name: 'Amount' });
    await amount.fill('1');
    await dialog.getByRole('button', { name: 'Continue to payment' }).click();
    await dialog.getByText('The minimum is $5.00.').waitFor();
    await checkAccessibility(page);
    await dialog.getByText('$25.00', { exact: true }).click();
    assert.equal(await amount.inputValue(), '25.00');
    await dialog.getByRole('row', { name: 'You pay $26.03' }).waitFor();
    await checkLooks(page, 'billing-top-up');
    await dialog.getByRole('button', { name: 'Continue to payment' }).click();
    await page.getByRole('heading', { name: 'Pay $26.03' }).waitFor();
    const payment = stripe.paymentOf(page.url());

    // The customer returns before Stripe's event arrives.
    await page.goto(payment.session.successUrl);
    await heading(page, 'Billing').waitFor();
    await page.getByText('Waiting for your top-up of $25.00').waitFor();
    const paid = stripe.paidLater(payment);
    const begun = stripe.completed(payment, { paid: false });
    const replies = await Promise.all(
      [paid, paid, begun, stripe.completed(payment)].map((event) => stripe.deliver(event)),
    );
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    await page.getByText('$25.00 was added to your balance').waitFor();
    await figure(page, 'Available').getByText('$25.00', { exact: true }).first().waitFor();

    for (const event of [begun, paid, stripe.expired(payment)]) await ok(stripe.deliver(event));
    // The customer returns again, after the events.
    await page.goto(payment.session.successUrl);
    await page.getByText('$25.00 was added to your balance').waitFor();
    await figure(page, 'Available').getByText('$25.00', { exact: true }).first().waitFor();
    await page
      .getByRole('table', { name: 'Statement' })
      .getByText(/Top-up by card/)
      .waitFor();
    const credit = page.getByRole('row', { name: /Credit/ });
    await credit.first().waitFor();
    assert.equal(await credit.count(), 1);
    const { postedMicros, availableMicros } = await gateway.balance(owner.account);
    assert.deepEqual([postedMicros, availableMicros], [25_000_000, 25_000_000]);

    await page.getByText('Charges', { exact: true }).click();
    await page.getByText('No entries yet').waitFor();
    await page.getByText('Credits and debits', { exact: true }).click();
    await credit.first().waitFor();
    await page.getByText('All', { exact: true }).click();

    const [receipt] = await Promise.all([
      page.waitForEvent('download'),
      credit.getByRole('link', { name: 'PDF' }).click(),
    ]);
    assert.match(receipt.suggestedFilename(), /^receipt-.*\.pdf$/);
    assert.match(readFileSync(await receipt.path(), 'latin1'), /^%PDF-/);
    await page.getByRole('button', { name: 'Export' }).click();
    await checkAccessibility(page);
    const [statement] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download CSV' }).click(),
    ]);
    assert.match(readFileSync(await statement.path(), 'utf8'), /,credit,[^\r]*,25,25\r\n/);
    await page.keyboard.press('Escape');
    await figure(page, 'Runway').getByText('Nothing was spent in the last 7').waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'billing');
  });
});

test('an owner saves a card, which is charged when the balance is low; a declined one is told and replaced', async () => {
  const payer = await signIn(gateway, { passwordHash: quickHash(password) });
  // The 403 asks for the confirmation.
  const ignores = new RegExp(`another origin was asked for ${stripe.url}/pay/|status of 403`);
  await withPage({ baseUrl: gateway.url, cookie: payer.cookie, ignores }, async (page) => {
    const panel = page.locator('section', {
      has: page.getByRole('heading', { name: 'Automatic top-up' }),
    });
    const saveCard = async (name: string) => {
      await panel.getByRole('button', { name }).click();
      await page.getByRole('button', { name: 'Pay' }).click();
      await panel.getByText('Visa ending in 4242').waitFor();
    };
    await page.goto('/billing');
    await panel.getByText('None is saved').waitFor();
    await saveCard('Save a card');
    await panel.getByRole('textbox', { name: 'At most in a month' }).fill('1');
    await panel.getByRole('button', { name: 'Turn on' }).click();
    await panel.getByText('Enter at least $10.59.').waitFor();
    await checkAccessibility(page);
    await panel.getByRole('textbox', { name: 'At most in a month' }).fill('50');
    stripe.chargeFaults.push('card_declined');
    await panel.getByRole('button', { name: 'Turn on' }).click();
    await confirmIdentity(page, password);
    await page.getByText('Automatic top-ups are on.').waitFor();
    await panel.getByText('The bank declined the card.').waitFor();
    await checkLooks(page, 'billing-auto-top-up');
    await saveCard('Replace the card');
    await panel.getByText('$10.00 below $5.00').waitFor();
    await panel.getByRole('textbox', { name: 'When below' }).fill('8');
    await panel.getByRole('button', { name: 'Save' }).click();
    await confirmIdentity(page, password);
    await panel.getByText('$10.59 of at most $50.00').waitFor();
    await panel.getByText('$10.00, paid').waitFor();
    await panel.getByRole('button', { name: 'Remove the card…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await panel.getByText('Never: it is off').waitFor();
  });
  assert.equal((await gateway.balance(payer.account)).postedMicros, 10_000_000);
});

test('an operator creates an account, credits it once and sees both in the audit log', async () => {
  await withPage({ baseUrl: gateway.url, cookie: operator.cookie }, async (page) => {
    await page.goto('/operator/accounts');
    await page.getByRole('button', { name: 'Create account' }).click();
    const create = page.getByRole('dialog', { name: 'Create account' });
    await create.getByRole('textbox', { name: 'Name' }).fill('Acme Research');
    await create.getByRole('button', { name: 'Create account' }).click();
    await heading(page, 'Acme Research').waitFor();
    await checkAccessibility(page);

    await page.getByRole('button', { name: 'Credit', exact: true }).click();
    const credit = page.getByRole('dialog', { name: 'Credit Acme Research' });
    await credit.getByRole('textbox', { name: 'Amount' }).fill('12.345678');
    await credit.getByRole('textbox', { name: 'Reason' }).fill('Bank transfer 7');
    await credit.getByRole('button', { name: 'Continue' }).click();
    await credit.getByRole('row', { name: /After this credit \$12\.345678/ }).waitFor();
    await checkAccessibility(page);
    await credit.getByRole('button', { name: 'Credit $12.345678' }).dblclick();
    await page.getByRole('table', { name: 'Statement' }).getByText('Bank transfer 7').waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1)!;
    assert.equal((await gateway.balance(id)).postedMicros, 12_345_678);

    await page.getByRole('button', { name: 'Freeze…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Freeze' }).click();
    const banner = (await page
      .getByRole('alert')
      .filter({ hasText: 'This account is frozen' })
      .boundingBox())!;
    const ledgers = (await page.getByRole('radiogroup', { name: 'Ledger' }).boundingBox())!;
    assert.ok(ledgers.y >= banner.y + banner.height, 'the banner has its own row');
    for (const tab of ['Prices and limits', 'Members', 'Keys', 'Audit log']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel', { name: tab }).waitFor();
      await checkAccessibility(page);
    }
    await page.getByRole('table', { name: 'Audit log' }).getByText('account.credit').waitFor();
  });
});

test('operator pages with content are readable in light and dark, on a desktop and on a phone', async () => {
  const { account } = owner;
  const paid = stripe.paymentOf(stripe.open(fieldsOf(1_900), 'link').url);
  await stripe.deliver(stripe.completed(paid));
  const { key } = await gateway.makeKey({ account, mode: 'live', name: 'Production backend' });
  gateway.upstream.on('/v1/responses', answerStatus(500));
  for (const path of ['/v1/responses', '/v1/responses']) {
    await gateway.post(path, { key, body: { model: 'gpt-6-luna', input: 'Hello' } });
  }
  const pages: readonly (readonly [string, string])[] = [
    ['account-terms', `/operator/accounts/${account}?tab=terms`],
    ['account-members', `/operator/accounts/${account}?tab=members`],
    ['account-adjust', `/operator/accounts/${account}?adjust=credit`],
    ['payments', '/operator/payments'],
    ['providers', '/operator/providers'],
  ];
  await withPage({ baseUrl: gateway.url, cookie: operator.cookie }, async (page) => {
    for (const [name, path] of pages) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await checkLooks(page, name);
    }
  });
});

function fieldsOf(cents: number) {
  return {
    'line_items[0][price_data][unit_amount]': String(cents),
    'line_items[0][price_data][currency]': 'usd',
  };
}

test('without Stripe, an operator learns how to credit an account, and others whom to ask', async () => {
  const plain = await startGateway({ billing: { contact: 'billing@example.com' } });
  try {
    const both = await signIn(plain, { operator: true, name: 'Grace Hopper' });
    const other = await signIn(plain, { account: both.account });
    await withPage({ baseUrl: plain.url, cookie: both.cookie }, async (page) => {
      await page.goto('/billing');
      await page.getByText(`npx tollgate accounts credit ${both.account} --usd 25`).waitFor();
      await checkLooks(page, 'billing-operator');
      await page.setViewportSize(phone);
      const command = page.getByRole('region', { name: 'Command that credits the account' });
      const box = (await command.boundingBox())!;
      const copy = (await page.getByRole('button', { name: 'Copy code' }).boundingBox())!;
      assert.ok(box.x + box.width <= copy.x, 'the button covers the command');
      await takePicture(page, 'billing-operator-phone');
      await page.getByRole('link', { name: 'Credit this account' }).click();
      await page.getByRole('dialog', { name: /^Credit/ }).waitFor();
      // The account has no credit.
      await page.getByText('Card payments are not set up').waitFor();
    });
    await withPage({ baseUrl: plain.url, cookie: other.cookie }, async (page) => {
      await page.goto('/billing');
      await page.getByRole('link', { name: 'billing@example.com' }).waitFor();
      assert.equal(await page.getByText('tollgate accounts credit').count(), 0);
      await checkAccessibility(page);
    });
  } finally {
    await plain.stop();
  }
});
