// Complete user journeys in a real browser, against the started program.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Locator, Page, Route } from 'playwright-core';
import { checkAccessibility, takePicture, withPage } from '../support/browser.ts';
import { quickHash, signIn } from '../support/dashboard.ts';
import { endpoints } from '../support/endpoints.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import { startStripe, type LocalStripe } from '../support/stripe.ts';
import { enrol } from '../support/totp.ts';

type ApiRecord = {
  readonly created_at: string;
  readonly request_id: string;
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_cents: number;
  readonly images?: number;
  readonly web_searches?: number;
};

const password = 'correct horse battery';

const hooks = hooksOfFile();
let stripe: LocalStripe;
let gateway: TestGateway;

before(async () => {
  stripe = await startStripe(hooks);
  const config = { stripe: stripe.config };
  const started = startGateway(config, { tuning: stripe.tuning });
  gateway = await started;
});
after(() => gateway.stop());

test('a new operator opens the printed link, gets a first answer and finds its ID and cost in usage', async () => {
  const link = `${gateway.url}/first-run?token=${gateway.program.firstRunToken}`;
  await withPage({ baseUrl: gateway.url, ignores: /status of 404/ }, async (page) => {
    await page.goto(link);
    await page.getByRole('heading', { level: 1, name: /^Welcome to/ }).waitFor();
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByText('Use at least 10 characters.').waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'first-run');
    await fillIn(page, {
      'Your name': 'Ada Lovelace',
      'E-mail': 'ada@example.com',
      Password: password,
      'Name of the first account': 'Acme',
    });
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.getByRole('button', { name: 'User menu: Ada Lovelace' }).waitFor();
    await page.getByRole('navigation', { name: 'Operator' }).waitFor();
    await page.goto('/?mode=test');

    // The first start printed a key in the terminal. This key is shown on the page.
    await page.getByRole('button', { name: 'Create another' }).click();
    const secret = await page.getByRole('region', { name: 'Your new key' }).innerText();
    const answering = page.waitForResponse((response) =>
      response.url().endsWith('/v1/chat/completions'),
    );
    await page.getByRole('button', { name: 'Send the request' }).click();
    const requestId = (await answering).headers()['x-request-id']!;
    await page.getByText('This is the sandbox').waitFor();
    const cost = /^Cost (\$[\d.]+)/.exec(await page.getByText('Cost $').innerText())![1]!;
    assert.deepEqual(
      (await apiRecords(secret)).map((record) => [record.request_id, microsOf(record)]),
      [[requestId, Math.round(Number(cost.slice(1)) * 1_000_000)]],
    );

    await page.getByRole('link', { name: 'view in Requests' }).click();
    const row = page
      .getByRole('table', { name: 'Requests' })
      .getByRole('row', { name: 'First test key' });
    await row.getByText(cost, { exact: true }).waitFor();
    await row.getByRole('button').click();
    const detail = page.getByRole('dialog', { name: 'Request' });
    await detail.getByText(requestId, { exact: true }).waitFor();
    await detail.getByRole('row', { name: `Charged ${cost}` }).waitFor();

    await page.goto(link);
    await page.getByRole('heading', { level: 1, name: 'This link is no longer valid' }).waitFor();
    await checkAccessibility(page);
  });
});

test('the CSV export has the same records as the API, row by row', async () => {
  const member = await signIn(gateway, { role: 'member' });
  const { account } = member;
  const { key } = await gateway.makeKey({ account, name: 'Backend' });
  const other = await gateway.makeKey({ account, name: 'Batch' });
  const requests = [
    ...endpoints.flatMap(({ path, body }) =>
      [false, true].map((stream) => ({ path, key, body: body({ stream }) })),
    ),
    {
      path: '/v1/images/generations',
      key: other.key,
      body: { model: 'flux-2', prompt: 'A cat', n: 2 },
    },
    { path: '/v1/web-search', key: other.key, body: { query: 'cats' } },
  ];
  for (const { path, ...request } of requests) await ok(gateway.post(path, request));
  await withPage({ baseUrl: gateway.url, cookie: member.cookie }, async (page) => {
    await page.goto('/requests?mode=test');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export CSV' }).click(),
    ]);
    const rows = csvRows(readFileSync(await download.path(), 'utf8'));
    const records = await apiRecords(key);
    assert.equal(records.length, requests.length);
    assert.deepEqual(
      rows.map((row) => [
        row['created_at'],
        row['request_id'],
        row['model_name'],
        Number(row['input_tokens']),
        Number(row['output_tokens']),
        Number(row['images']),
        Number(row['web_searches']),
        Math.round(Number(row['cost_usd']) * 1_000_000),
      ]),
      records.map((record) => [
        record.created_at,
        record.request_id,
        record.model,
        record.input_tokens,
        record.output_tokens,
        record.images ?? 0,
        record.web_searches ?? 0,
        microsOf(record),
      ]),
    );
  });
});

test('a member sees no action that members may not take', async () => {
  const owner = await signIn(gateway, { role: 'owner', name: 'Grace Hopper' });
  await owner.post(`/accounts/${owner.account}/keys`, { mode: 'live', name: 'Backend' });
  const member = await signIn(gateway, { role: 'member', account: owner.account });
  await withPage({ baseUrl: gateway.url, cookie: member.cookie }, async (page) => {
    await page.goto('/');
    const goTo = async (name: string) => {
      await page
        .getByRole('navigation', { name: 'Account' })
        .getByRole('link', { name, exact: true })
        .click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    };
    await goTo('Keys');
    await page.getByRole('row', { name: /Backend/ }).waitFor();
    await seesNone(page, ['Create key', 'Actions for Backend']);
    await goTo('Billing');
    await page.getByText('Only owners can top up this account. Ask one of them.').waitFor();
    await seesNone(page, ['Top up', 'Save']);
    await goTo('Settings');
    await page.getByRole('tab', { name: 'Account' }).click();
    await page.getByText('Only owners can change these settings.').waitFor();
    await page.getByText('Store answers').waitFor();
    await seesNone(page, ['Save name']);
    for (const role of ['textbox', 'switch'] as const)
      assert.equal(await page.getByRole('tabpanel').getByRole(role).count(), 0);
    await page.getByRole('tab', { name: 'Members' }).click();
    await page.getByRole('row', { name: /Grace Hopper/ }).waitFor();
    await seesNone(page, ['Invite', 'Remove']);
    assert.equal(await page.getByRole('combobox', { name: /^Role of/ }).count(), 0);
    assert.equal(await page.getByRole('navigation', { name: 'Operator' }).count(), 0);
  });
});

test('a password reset by the operator does not skip the second factor', async () => {
  const email = 'barbara@example.com';
  const user = await signIn(gateway, {
    name: 'Barbara Liskov',
    email,
    passwordHash: quickHash(password),
  });
  const operator = await signIn(gateway, { role: null, operator: true });
  const { backupCodes } = await enrol(user, password);
  const { link } = (await operator.post(`/operator/users/${user.userId}/reset-link`)).json<{
    link: string;
  }>();
  await withPage({ baseUrl: gateway.url, ignores: /status of 40[14]/ }, async (page) => {
    await page.goto(link);
    await fillIn(page, { Password: 'another long password' });
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('Your new password is set.').waitFor();
    await fillIn(page, { 'E-mail': email, Password: password });
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The e-mail address or the password is wrong.').waitFor();
    await fillIn(page, { 'E-mail': email, Password: 'another long password' });
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Use a backup code' }).click();
    await fillIn(page, { 'Backup code': backupCodes[0]! });
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.goto(link);
    await page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor();
  });
});

test('a credit is booked once and shown with its reason to the owner and in the audit log', async () => {
  const owner = await signIn(gateway, { role: 'owner' });
  const operator = await signIn(gateway, { role: null, operator: true });
  await withPage(
    { baseUrl: gateway.url, cookie: operator.cookie, ignores: /ERR_FAILED/ },
    async (page) => {
      await page.goto('/operator/accounts');
      await page.getByRole('searchbox').fill(owner.account);
      await page.getByRole('row', { name: owner.account }).getByRole('button').click();
      await page.getByRole('button', { name: 'Credit', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await fillIn(dialog, { Amount: '40.000001', Reason: 'Bank transfer 2026-117' });
      await dialog.getByRole('button', { name: 'Continue' }).dblclick();
      await dialog.getByRole('row', { name: 'After this credit $40.000001' }).waitFor();
      await hasBalance(owner.account, 0);
      // The response is lost, so the operator tries again.
      const loseAnswer = async (route: Route) => {
        await route.fetch();
        await route.abort();
      };
      await page.route('**/adjustments', loseAnswer, { times: 1 });
      await dialog.getByRole('button', { name: 'Credit $40.000001' }).dblclick();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByRole('button', { name: 'Credit $40.000001' }).dblclick();
      await dialog.waitFor({ state: 'hidden' });
      await figure(page, 'Available').getByText('$40.00').hover();
      await page.getByRole('tooltip', { name: '$40.000001' }).waitFor();

      await page.goto(`/operator/audit?of=${owner.account}`);
      const entry = page.getByRole('row', { name: /credited \$40\.000001 to/ });
      await entry.getByText(operator.email).waitFor();
      assert.equal(await entry.count(), 1);
    },
  );
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    await page.goto('/billing');
    await figure(page, 'Available').getByText('$40.00', { exact: true }).first().hover();
    await page.getByRole('tooltip', { name: '$40.000001' }).waitFor();
    await page.getByRole('row', { name: /Credit Bank transfer 2026-117/ }).waitFor();
    assert.equal(await page.getByRole('row', { name: /Credit/ }).count(), 1);
  });
  await hasBalance(owner.account, 40_000_001);
  const { data } = (await operator.get(`/operator/audit-log?account=${owner.account}`)).json<{
    data: { after: object }[];
  }>();
  assert.equal(data.length, 1);
  assert.partialDeepStrictEqual(data[0]!.after, {
    mode: 'live',
    amount_micros: 40_000_001,
    note: 'Bank transfer 2026-117',
  });
});

async function fillIn(
  place: Page | Locator,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [label, value] of Object.entries(values))
    await place.getByRole('textbox', { name: label }).fill(value);
}

async function seesNone(page: Page, buttons: readonly string[]): Promise<void> {
  for (const name of buttons)
    assert.equal(await page.getByRole('button', { name }).count(), 0, name);
}

/** Finds a figure by its label. */
function figure(page: Page, label: string): Locator {
  return page.getByText(label, { exact: true }).locator('..');
}

async function hasBalance(account: string, micros: number): Promise<void> {
  assert.equal((await gateway.balance(account)).availableMicros, micros);
}

/** Reads all of `GET /v1/usage`, in small pages. */
async function apiRecords(key: string): Promise<readonly ApiRecord[]> {
  type Answer = { readonly data: readonly ApiRecord[]; readonly next_cursor: string | null };
  const records: ApiRecord[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Answer = (
      await gateway.get(`/v1/usage?limit=3&cursor=${encodeURIComponent(cursor)}`, { key })
    ).json();
    records.push(...page.data);
    cursor = page.next_cursor;
  }
  return records;
}

function microsOf({ cost_cents: cents }: ApiRecord): number {
  return Math.round(cents * 10_000);
}

/** Parses a CSV file without quoted cells. */
function csvRows(text: string): readonly Readonly<Record<string, string | undefined>>[] {
  const [titles, ...rows] = text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
  return rows.map((cells) =>
    Object.fromEntries(titles!.map((title, index) => [title, cells[index]])),
  );
}
