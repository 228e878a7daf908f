// Keys in a real browser: creating, changing, stopping and finding them, and the effect on
// requests.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  checkAccessibility,
  checkLooks,
  phone,
  takePicture,
  withPage,
  type PageOptions,
} from '../support/browser.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok, type Reply } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';
import { shortUsdText } from '../../dashboard/parts/money-text.ts';
import { nextDayMs } from '../../src/lib/utc-time.ts';
import { micros } from '../../src/lib/money.ts';

const chat = endpoint('chat');

const clock = new TestClock();
let gateway: TestGateway;
let owner: DashboardClient;

before(async () => {
  gateway = await startGateway({}, { clock });
  owner = await signIn(gateway, { role: 'owner', name: 'Ada Lovelace' });
});
after(() => gateway.stop());

test('a new key is shown once, and its changes and revocation apply to the next requests', async () => {
  await withKeys({}, async (page) => {
    await page.getByText('No test keys yet').waitFor();
    await checkAccessibility(page);
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const form = page.getByRole('dialog', { name: 'Create a key' });
    await form.getByRole('button', { name: 'Create key' }).click();
    await form.getByText('Give the key a name').waitFor();
    await form.getByLabel('Name').and(page.locator(':focus')).waitFor();
    const placeholders = await Promise.all(
      [form.getByLabel('Name'), form.getByLabel('Daily cap')].map((field) =>
        field.evaluate((element) => getComputedStyle(element, '::placeholder').color),
      ),
    );
    assert.equal(placeholders[0], placeholders[1], 'only values have the colour of the error');
    await form.getByLabel('Name').fill('Backend');
    await form.getByLabel('Daily cap').fill('five');
    await form.getByRole('button', { name: 'Create key' }).click();
    await form.getByText('Enter an amount in US dollars').waitFor();
    await form.getByLabel('Daily cap').fill('5');
    await form.getByLabel('Allowed models').click();
    await page.keyboard.type('gpt-6-luna');
    await page.getByRole('option', { name: 'gpt-6-luna' }).first().click();
    await page.keyboard.press('Escape');
    await form.getByLabel('Requests per minute').fill('600');
    await checkAccessibility(page);
    await takePicture(page, 'keys-create');
    await form.getByRole('button', { name: 'Create key' }).click();

    const secret = await page.getByRole('region', { name: 'The new key' }).innerText();
    assert.match(secret, /^tg_test_\w{38}$/);
    await page.getByText(`${gateway.url}/v1`, { exact: true }).waitFor();
    for (const name of ['curl', 'OpenAI Python', 'Anthropic SDK', 'Claude Code', 'Codex']) {
      await page.getByRole('tab', { name }).click();
      const code = page.getByRole('region', { name: `Code for ${name}` });
      await code.getByText(gateway.url).waitFor();
      await code.getByText('gpt-6-luna').first().waitFor();
      const hidden = await code.evaluate((box) => box.scrollWidth - box.clientWidth);
      assert.equal(hidden, 0, `the sample for ${name} is cut`);
      const guide = await page.getByRole('link', { name: `Guide: ${name}` }).getAttribute('href');
      await ok(gateway.get(guide!));
    }
    await checkLooks(page, 'keys-created');
    await page.getByRole('button', { name: 'Done' }).click();
    await page.locator('#page:focus').waitFor();
    await ok(ask(secret));

    await page.reload();
    const row = page.getByRole('row', { name: /Backend/ });
    await row.getByText('of $5.00').waitFor();
    assert.ok(!(await page.content()).includes(secret), 'the secret is shown only once');
    await takePicture(page, 'keys');

    // The new cap is below the amount spent, so nothing more fits.
    await row.getByRole('button', { name: /^Backend/ }).click();
    const drawer = page.getByRole('dialog', { name: 'Backend' });
    await drawer.getByLabel('Daily cap').fill('0.000001');
    await checkAccessibility(page);
    await drawer.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Changes apply within seconds.').waitFor();
    const refused = await askUntil(secret, (reply) => reply.status !== 200);
    assert.deepEqual([refused.status, refused.error.code], [429, 'key_daily_limit_reached']);
    const forbidden = await ask(secret, 'gpt-4o');
    assert.deepEqual([forbidden.status, forbidden.error.code], [403, 'model_not_allowed_for_key']);

    // With room under the cap, requests run again.
    await row.getByRole('button', { name: /^Backend/ }).click();
    await drawer.getByLabel('Daily cap').fill('5');
    await drawer.getByRole('button', { name: 'Save changes' }).click();
    await askUntil(secret, (reply) => reply.status === 200);

    await row.getByRole('button', { name: 'Actions for Backend' }).click();
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await page
      .getByRole('dialog', { name: /^Disable/ })
      .getByRole('button', { name: 'Disable', exact: true })
      .click();
    await row.getByText('Disabled').waitFor();
    assert.match(
      (await askUntil(secret, (reply) => reply.status === 401)).error.message,
      /disabled/,
    );

    await row.getByRole('button', { name: 'Actions for Backend' }).click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    const question = page.getByRole('dialog', { name: /^Revoke/ });
    await checkAccessibility(page);
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'hidden' });
    assert.match((await ask(secret)).error.message, /disabled/, 'cancelling revokes nothing');
    await row.getByRole('button', { name: 'Actions for Backend' }).click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await question.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('No test keys yet').waitFor();
    assert.match(
      (await askUntil(secret, (reply) => !reply.error.message.includes('disabled'))).error.message,
      /revoked/,
    );
  });
});

test('a duplicate begins with the caps and limits of its key', async () => {
  const client = await signIn(gateway, { role: 'owner' });
  await ok(
    client.post(`/accounts/${client.account}/keys`, {
      mode: 'test',
      name: 'Original',
      daily_cap_micros: 5_500_000,
      requests_per_minute: 60,
      models: ['gpt-6-luna'],
    }),
  );
  await withKeys({ client }, async (page) => {
    await page.getByRole('button', { name: 'Actions for Original' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    const form = page.getByRole('dialog', { name: /^Duplicate the key/ });
    assert.equal(await form.getByLabel('Name').inputValue(), 'Original (copy)');
    assert.equal(await form.getByLabel('Daily cap').inputValue(), '5.50');
    await form.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('region', { name: 'The new key' }).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row', { name: /Original \(copy\)/ }).waitFor();
  });
  const { data } = (await client.get(`/accounts/${client.account}/keys?mode=test`)).json<{
    data: Record<string, unknown>[];
  }>();
  const [copy, original] = data as [Record<string, unknown>, Record<string, unknown>];
  for (const field of ['daily_cap_micros', 'requests_per_minute', 'models'])
    assert.deepEqual(copy[field], original[field]);
});

test('a cap is a budget with a forecast for its reset, once enough of the day is over', async () => {
  const client = await signIn(gateway, { role: 'owner' });
  clock.jumpTo(nextDayMs(clock.nowMs()));
  const { key } = await gateway.makeKey({
    account: client.account,
    name: 'Budget',
    dailyCapMicros: micros(100_000),
  });
  const { costMicros } = await ask(key);
  await withKeys({ client }, async (page) => {
    await page
      .getByRole('row', { name: /Budget/ })
      .getByText('of $0.10')
      .first()
      .waitFor();
    assert.equal(await page.getByText(/^forecast/).count(), 0, 'the day has just begun');
  });
  clock.jumpTo(clock.nowMs() + 6 * 3_600_000);
  await withKeys({ client }, async (page) => {
    await page
      .getByText(`forecast ${shortUsdText(4 * costMicros!)}`)
      .first()
      .waitFor();
    await page.getByRole('button', { name: /^Budget/ }).click();
    await page
      .getByRole('dialog', { name: 'Budget' })
      .getByText(/^The average spend since/)
      .first()
      .waitFor();
    await checkLooks(page, 'keys-budget');
  });
});

test('keys are searched and filtered, and the address keeps the filters', async () => {
  const client = await signIn(gateway, { role: 'owner' });
  for (const name of ['Alpha', 'Beta', 'Gamma'])
    await client.post(`/accounts/${client.account}/keys`, { mode: 'test', name });
  await withKeys({ client }, async (page) => {
    await page.getByRole('row', { name: /Alpha/ }).waitFor();
    await page.getByRole('searchbox').fill('bet');
    await page.getByRole('row', { name: /Alpha/ }).waitFor({ state: 'hidden' });
    await page.getByRole('row', { name: /Beta/ }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('q'), 'bet');
    await page.reload();
    await page.getByRole('row', { name: /Beta/ }).waitFor();
    await page.getByRole('combobox', { name: 'State' }).click();
    await page.getByRole('option', { name: 'Revoked', exact: true }).click();
    await page.getByText('No matching keys').waitFor();
    await checkAccessibility(page);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('row', { name: /Gamma/ }).waitFor();
  });
});

test("the server's error about a field is shown at that field", async () => {
  await withKeys({ ignores: /status of 400/ }, async (page) => {
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const form = page.getByRole('dialog', { name: 'Create a key' });
    await form.getByLabel('Name').fill('Office');
    await form.getByLabel('Allowed IP addresses').fill('10.0.0.0/99');
    await page.keyboard.press('Enter');
    await form.getByRole('button', { name: 'Create key' }).click();
    await form.getByText("'10.0.0.0/99' is not an address").waitFor();
  });
});

test('a member can see keys on a phone but not change them', async () => {
  const client = await signIn(gateway, { role: 'owner' });
  await client.post(`/accounts/${client.account}/keys`, {
    mode: 'test',
    name: 'Shared',
    daily_cap_micros: 1_000_000,
  });
  const member = await signIn(gateway, { role: 'member', account: client.account });
  await withKeys({ client: member, viewport: phone, colorScheme: 'dark' }, async (page) => {
    await page.getByRole('button', { name: /^Shared/ }).click();
    const drawer = page.getByRole('dialog', { name: 'Shared' });
    await drawer.getByText('of $1.00').waitFor();
    assert.equal(await drawer.getByLabel('Daily cap').isDisabled(), true);
    await checkAccessibility(page);
    for (const name of ['Save changes', 'Disable', 'Revoke…'])
      assert.equal(await drawer.getByRole('button', { name }).count(), 0);
    assert.equal(await page.getByRole('button', { name: 'Create key' }).count(), 0);
  });
});

type Options = Partial<PageOptions> & {
  readonly client?: DashboardClient;
};

async function withKeys(
  { client = owner, ...options }: Options,
  visit: (page: Page) => Promise<void>,
): Promise<void> {
  await withPage({ baseUrl: gateway.url, cookie: client.cookie, ...options }, async (page) => {
    await page.goto('/keys?mode=test');
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await visit(page);
  });
}

function ask(key: string, model = 'gpt-6-luna'): Promise<Reply> {
  return gateway.post(chat.path, { key, body: chat.body({ model }) });
}

function askUntil(key: string, isExpected: (reply: Reply) => boolean): Promise<Reply> {
  return untilNoticed(clock, async () => {
    const reply = await ask(key);
    return isExpected(reply) && reply;
  });
}
