// What a user has typed outlives the session. The sign-in page says why it asks, and returns.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { checkAccessibility, settle, takePicture, withPage } from '../support/browser.ts';
import { quickHash, signIn, type DashboardClient } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const password = 'correct horse battery staple';

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({
    test_mode: { enabled: true },
    providers: { openai: { api_key: 'sk-operator', accounts_may_bring_keys: true } },
  });
});
after(() => gateway.stop());

/** The browser reports the 401. */
const ignores = /status of 401/;

/** A new owner on their own page, who can sign in again. */
function withOwner(visit: (page: Page, owner: DashboardClient) => Promise<void>): Promise<void> {
  return signIn(gateway, { role: 'owner', passwordHash: quickHash(password) }).then((owner) =>
    withPage({ baseUrl: gateway.url, cookie: owner.cookie, ignores }, (page) => visit(page, owner)),
  );
}

/** The page has loaded before, so that only what the test does next notices the end. */
async function endSession(page: Page, owner: DashboardClient): Promise<void> {
  await settle(page);
  await gateway.database.write
    .deleteFrom('user_sessions')
    .where('user_id', '=', owner.userId)
    .execute();
}

async function signInAgain(page: Page, { email }: DashboardClient): Promise<void> {
  await page.getByText('Your session has ended.').waitFor();
  await checkAccessibility(page);
  await takePicture(page, 'sign-in-again');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('a form that was being filled in is there again after signing in', async () => {
  await withOwner(async (page, owner) => {
    await page.goto('/keys?mode=test&create=yes');
    const name = page.getByRole('dialog').getByLabel('Name');
    await name.fill('Nightly jobs');
    await endSession(page, owner);
    await page.getByRole('button', { name: 'Create key' }).last().click();
    await signInAgain(page, owner);
    await name.waitFor();
    assert.equal(await name.inputValue(), 'Nightly jobs');
    assert.equal(new URL(page.url()).search, '?mode=test&create=yes');
    await page.getByRole('button', { name: 'Create key' }).last().click();
    await page.getByRole('cell', { name: /^Nightly jobs/ }).waitFor();
    await page.goto('/keys?mode=test&create=yes');
    await name.waitFor();
    assert.equal(await name.inputValue(), '', 'a sent form leaves no draft');
  });
});

test('an own key and headers of traces are not kept, what is typed beside them is', async () => {
  await withOwner(async (page) => {
    await page.goto('/settings?tab=traces');
    await page.getByLabel('Address').fill('https://traces.example.com');
    await page.getByLabel('Headers').fill('authorization: Bearer of-the-owner');
    await settle(page);
    await page.reload();
    await page.getByLabel('Headers').waitFor();
    assert.equal(await page.getByLabel('Address').inputValue(), 'https://traces.example.com');
    assert.equal(await page.getByLabel('Headers').inputValue(), '');
    await page.goto('/settings?tab=own-keys');
    await page.getByText('5 % of the usual price here').waitFor();
    await page.getByRole('button', { name: 'Add key' }).click();
    const key = page.getByRole('dialog').getByLabel('Key', { exact: false }).first();
    await key.fill('sk-of-the-owner');
    await settle(page);
    await page.goto('/alerts?tab=endpoints');
    await page.getByRole('button', { name: 'Add endpoint' }).first().click();
    await page
      .getByRole('dialog')
      .getByLabel('Address')
      .fill('https://hooks.example.com/of-the-owner');
    await settle(page);
    await page.reload();
    assert.doesNotMatch(
      String(await page.evaluate('JSON.stringify(sessionStorage)')),
      /of-the-owner/,
    );
  });
});

test('the text of the playground is there again, also when sending it ended the session', async () => {
  await withOwner(async (page, owner) => {
    await gateway.makeKey({ account: owner.account });
    await page.goto('/playground?mode=test');
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('A long question about the sea.');
    await settle(page);
    await page.reload();
    await message.waitFor();
    assert.equal(await message.inputValue(), 'A long question about the sea.');
    await endSession(page, owner);
    await message.press('Enter');
    await signInAgain(page, owner);
    await message.waitFor();
    assert.equal(await message.inputValue(), 'A long question about the sea.');
  });
});

test('another user of the browser sees no draft, and passwords are never kept', async () => {
  const other = await signIn(gateway, { role: 'owner', passwordHash: quickHash(password) });
  await withOwner(async (page, owner) => {
    await page.goto('/settings?tab=profile');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('A new name');
    const passwords = ['Current password', 'New password'].map((label) => page.getByLabel(label));
    for (const field of passwords) await field.fill('my secret password');
    await settle(page);
    await page.reload();
    for (const field of passwords) assert.equal(await field.inputValue(), '');
    await endSession(page, owner);
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByText('Your session has ended.').waitFor();
    const kept = await page.evaluate('JSON.stringify(sessionStorage)');
    assert.doesNotMatch(String(kept), /my secret/);
    await page.goto('/sign-in?next=%2Fsettings%3Ftab%3Dprofile');
    await page.getByText('Sign in to open the page.').waitFor();
    await page.getByLabel('E-mail').fill(other.email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const name = page.getByRole('textbox', { name: 'Name', exact: true });
    await name.waitFor();
    assert.equal(await name.inputValue(), 'Test User');
  });
});
