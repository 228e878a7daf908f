// What all tables have in common: order, time zone, decimals and history.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { checkAccessibility, phone, untilThereAre, withPage } from '../support/browser.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import { until } from '../support/until.ts';

const chat = endpoint('chat');

let gateway: TestGateway;
let owner: DashboardClient;

before(async () => {
  gateway = await startGateway();
  owner = await signIn(gateway, { role: 'owner' });
  const made = await owner.post(`/accounts/${owner.account}/keys`, { mode: 'test', name: 'Alpha' });
  const { secret: key } = made.json<{ secret: string }>();
  for (let sent = 0; sent < 6; sent += 1)
    await ok(gateway.post(chat.path, { key, body: chat.body() }));
  for (const name of ['beta', 'alpha', 'gamma']) {
    const invitation = { email: `${name}@example.com`, role: 'member' };
    await ok(owner.post(`/accounts/${owner.account}/invitations`, invitation));
  }
});
after(() => gateway.stop());

const sorted = ['alpha', 'beta', 'gamma'];

/** The invitations' addresses, as far as the @. */
async function namesIn(page: Page): Promise<string[]> {
  const cells = page.getByRole('table', { name: 'Invitations' }).locator('tbody td:first-child');
  return (await cells.allInnerTexts()).map((text) => text.split('@')[0]!);
}

test('a heading sorts up, down and not at all, and the order is in the address', async () => {
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    await page.goto('/settings?tab=members');
    const heading = page
      .getByRole('table', { name: 'Invitations' })
      .getByRole('columnheader', { name: 'E-mail' });
    const isHere = () => page.getByText('gamma@example.com', { exact: true }).waitFor();
    await isHere();
    const usual = await namesIn(page);
    await heading.getByRole('button').click();
    assert.equal(await heading.getAttribute('aria-sort'), 'ascending');
    assert.deepEqual(await namesIn(page), sorted);
    await page.reload();
    await isHere();
    assert.deepEqual(await namesIn(page), sorted);
    await heading.getByRole('button').click();
    assert.equal(await heading.getAttribute('aria-sort'), 'descending');
    assert.deepEqual(await namesIn(page), sorted.toReversed());
    await heading.getByRole('button').click();
    assert.equal(await heading.getAttribute('aria-sort'), null);
    assert.deepEqual(await namesIn(page), usual);
  });
});

test('a long list shows its first rows, the others on demand, sorts all of them, and has a search', async () => {
  const { account, cookie } = await signIn(gateway, { role: 'owner' });
  const rowOf = (index: number) => ({
    id: `inv_${account}_${index}`,
    account_id: account,
    email: `guest-${String(index).padStart(3, '0')}@example.com`,
    role: 'member' as const,
    token_digest: `${account} ${index}`,
    created_at_ms: gateway.program.clock.nowMs(),
    expires_at_ms: gateway.program.clock.nowMs() + 3_600_000,
  });
  await gateway.database.write
    .insertInto('invitations')
    .values(Array.from({ length: 102 }, (_, index) => rowOf(index)))
    .execute();
  await withPage({ baseUrl: gateway.url, cookie }, async (page) => {
    await page.goto('/settings?tab=members');
    const table = page.getByRole('table', { name: 'Invitations' });
    const rows = table.locator('tbody').getByRole('row');
    await untilThereAre(rows, 100);
    await page.getByRole('button', { name: 'Show more' }).click();
    await untilThereAre(rows, 102);
    assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0);
    const search = page.getByRole('searchbox', { name: 'Search invitations' });
    await search.fill('Guest-07');
    await untilThereAre(rows, 10);
    await search.fill('nobody');
    await page.getByText('Nothing found.').waitFor();
    await checkAccessibility(page);
    assert.equal(await page.getByRole('searchbox', { name: 'Search members' }).count(), 0);
    await page.reload();
    const heading = table.getByRole('button', { name: 'E-mail' });
    for (const first of ['guest-000', 'guest-101']) {
      await heading.click();
      await rows.first().getByText(`${first}@example.com`, { exact: true }).waitFor();
    }
    // A list that became short while searched can be shown whole again.
    await gateway.database.write
      .deleteFrom('invitations')
      .where('account_id', '=', account)
      .where('email', 'not like', '%00%')
      .execute();
    await search.fill('guest-00');
    await untilThereAre(rows, 10);
    await page.getByRole('button', { name: 'Withdraw' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
    await untilThereAre(rows, 9);
    await page.getByRole('button', { name: 'Clear' }).click();
    await untilThereAre(rows, 10);
  });
});

test('a phone sorts the cards with a field', async () => {
  const options = { baseUrl: gateway.url, cookie: owner.cookie, viewport: phone };
  await withPage(options, async (page) => {
    await page.goto('/settings?tab=members');
    await page.getByLabel('Order of Invitations').selectOption('E-mail');
    const names = (await page.locator('li').allInnerTexts()).flatMap(
      (text) => /(\w+)@example\.com/.exec(text)?.[1] ?? [],
    );
    assert.deepEqual(
      names.filter((name) => sorted.includes(name)),
      sorted,
    );
  });
});

test('a tablet shows tables, and cuts long names, of which the whole is in a tooltip', async () => {
  const email = `${'a'.repeat(50)}@${'long-'.repeat(8)}domain.example.com`;
  await ok(owner.post(`/accounts/${owner.account}/invitations`, { email, role: 'member' }));
  const options = { baseUrl: gateway.url, cookie: owner.cookie };
  const viewport = { width: 760, height: 1000 };
  await withPage({ ...options, viewport }, async (page) => {
    await page.goto('/settings?tab=members');
    const cell = page.getByRole('table', { name: 'Invitations' }).getByText(email, { exact: true });
    await cell.waitFor();
    const isCut = () => cell.evaluate((element) => element.scrollWidth > element.clientWidth);
    assert.ok(await isCut());
    const focusable = page.locator('td [tabindex="0"]', { hasText: email });
    await focusable.focus();
    await page.getByRole('tooltip', { name: email }).waitFor();
    await checkAccessibility(page);
    await page.setViewportSize({ width: 1920, height: 1000 });
    await until(async () => !(await isCut()));
    await until(async () => (await focusable.count()) === 0);
  });
});

test('a cut name shows its beginning, also in Arabic', async () => {
  const name = 'شركة الأمل للتجارة '.repeat(10).trim();
  const { account, cookie } = await signIn(gateway, { role: 'owner' });
  const { key } = await gateway.makeKey({ account, name, mode: 'test' });
  const messages = [{ role: 'user', content: 'Hello' }];
  await gateway.post('/v1/chat/completions', { key, body: { model: 'gpt-6-luna', messages } });
  await withPage({ baseUrl: gateway.url, cookie }, async (page) => {
    for (const [path, place] of [
      ['/keys', 'td'],
      ['/', 'li'],
      ['/analytics?by=key', 'li'],
    ] as const) {
      await page.goto(`${path}${path.includes('?') ? '&' : '?'}mode=test`);
      const cut = page.locator(place).getByText(name, { exact: true }).first();
      await cut.waitFor();
      const isShown = await cut.evaluate((element) => {
        const box = element.closest('[dir], .mantine-Text-root')!.getBoundingClientRect();
        const range = document.createRange();
        range.setStart(element.firstChild!, 0);
        range.setEnd(element.firstChild!, 1);
        const letter = range.getBoundingClientRect();
        return letter.left >= box.left - 1 && letter.right <= box.right + 1;
      });
      assert.ok(isShown, path);
    }
  });
});

test('a small tablet shows tables whole', async () => {
  const options = { baseUrl: gateway.url, cookie: owner.cookie };
  await withPage({ ...options, viewport: { width: 700, height: 1000 } }, async (page) => {
    for (const path of ['/requests', '/keys', '/models?q=claude', '/analytics?days=7']) {
      await page.goto(`${path}${path.includes('?') ? '&' : '?'}mode=test`);
      const table = page
        .getByRole('region')
        .filter({ has: page.getByRole('table') })
        .first();
      await table.locator('tbody tr').first().waitFor();
      const hidden = await table.evaluate((element) => element.scrollWidth - element.clientWidth);
      assert.equal(hidden, 0, path);
    }
  });
});

test('a wide screen is used by tables, but not by lines of text and fields', async () => {
  const options = { baseUrl: gateway.url, cookie: owner.cookie };
  const viewport = { width: 1920, height: 1000 };
  await withPage({ ...options, viewport }, async (page) => {
    await page.goto('/requests?mode=test');
    await page.locator('tbody tr').first().waitFor();
    const widthOf = async (part: string) => (await page.locator(part).first().boundingBox())!.width;
    assert.ok((await widthOf('table')) > 1_500);
    await page.goto('/settings?tab=account');
    await page.locator('form input').first().waitFor();
    assert.ok((await widthOf('form input')) < 750);
  });
});

test('all times of a page are in the zone that the user chose, which the heading names unless they are relative', async () => {
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (usual) => {
    const context = await usual
      .context()
      .browser()!
      .newContext({
        baseURL: gateway.url,
        timezoneId: 'America/New_York',
        storageState: await usual.context().storageState(),
      });
    const page = await context.newPage();
    await page.goto('/requests?mode=test');
    const heading = page.getByRole('columnheader', { name: /^Time/ });
    const first = page.locator('tbody tr').first().locator('time');
    await first.waitFor();
    assert.match(await heading.innerText(), /GMT-[45]/);
    const local = await first.innerText();
    await page.getByRole('button', { name: /^User menu/ }).click();
    await page.getByRole('menuitem', { name: 'UTC', exact: true }).click();
    assert.match(await heading.innerText(), /UTC/);
    assert.notEqual(await first.innerText(), local);
    await page.goto('/keys?mode=test');
    const lastUsed = page.getByRole('columnheader', { name: /^Last used/ });
    assert.equal(await lastUsed.innerText(), 'Last used');
    await context.close();
  });
});

test('all amounts of a column have the same number of decimals', async () => {
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    await page.goto('/requests?mode=test');
    await page.locator('tbody tr').nth(5).waitFor();
    const costs = await page.locator('tbody tr td:last-child').allInnerTexts();
    const decimals = costs
      .filter((text) => text.startsWith('$'))
      .map((text) => text.split('.')[1]!);
    assert.ok(decimals.length >= 6);
    assert.equal(new Set(decimals.map((digits) => digits.length)).size, 1, costs.join());
  });
});

test('Back goes through tabs and filters, and a search is one step', async () => {
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    await page.goto('/settings');
    await page.getByRole('tab', { name: 'Members' }).click();
    await page.getByRole('tab', { name: 'Audit log' }).click();
    await page.getByRole('tab', { name: 'Audit log', selected: true }).waitFor();
    await page.goBack();
    await page.getByRole('tab', { name: 'Members', selected: true }).waitFor();
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    const search = page
      .getByRole('searchbox')
      .or(page.getByLabel(/^Search/))
      .first();
    await search.fill('alp');
    await page.waitForURL(/q=alp/);
    await search.fill('alpha');
    await page.waitForURL(/q=alpha/);
    await page.goBack();
    await page.waitForURL((url) => url.pathname === '/keys' && !url.searchParams.has('q'));
    await page.goBack();
    await page.getByRole('tab', { name: 'Members', selected: true }).waitFor();
  });
});
