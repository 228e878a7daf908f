// Settings in a real browser: the second factor with its QR code, sessions, and inviting somebody who then joins.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hashPassword } from '../../src/users/password.ts';
import { checkAccessibility, openBrowser, phone, takePicture, type TestBrowser } from '../support/browser.ts';
import { signIn, visitor } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { totpCode } from '../support/totp.ts';

const password = 'correct horse battery';
let passwordHash: string;
let gateway: TestGateway;
let browser: TestBrowser;
before(async () => {
  [gateway, browser, passwordHash] = await Promise.all([startGateway(), openBrowser(), hashPassword(password)]);
});
after(async () => {
  await browser.close();
  await gateway.stop();
});

test('the second factor is set up with the code in the picture, and asked for from then on', async () => {
  const user = await signIn(gateway, { passwordHash, name: 'Ada Lovelace' });
  await browser.withPage({ baseUrl: gateway.url, cookie: user.cookie }, async (page) => {
    await page.goto('/settings');
    await page.getByRole('button', { name: 'Set up' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Your password' }).fill(password);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByRole('img', { name: 'QR code of the secret' }).waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'settings-second-factor');
    const secret = /Or type in: ([A-Z2-7]+)/.exec(await dialog.innerText())![1]!;
    await dialog.getByRole('textbox', { name: 'Code' }).fill(totpCode(secret));
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await dialog.getByRole('button', { name: 'Copy the codes' }).waitFor();
    await takePicture(page, 'settings-backup-codes');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('10 backup codes left').waitFor();
  });
  const reply = await visitor(gateway).post('/auth/sign-in', { email: user.email, password });
  assert.deepEqual(reply.json(), { next: 'second-factor' });
});

test('who is invited follows the link and is a member', async () => {
  const owner = await signIn(gateway, { name: 'Olga Owner' });
  let link = '';
  await browser.withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    await page.goto('/settings?tab=account');
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'E-mail' }).fill('new.member@example.com');
    await dialog.getByRole('button', { name: 'Invite' }).click();
    await dialog.getByRole('button', { name: 'Copy the link' }).waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'settings-invitation');
    link = /http\S+\/invitation\?token=[\w-]+/.exec(await dialog.innerText())![0];
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('region', { name: 'Invitations' }).getByText('new.member@example.com').waitFor();
  });
  await browser.withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto(link);
    await page.getByRole('textbox', { name: 'Your name' }).fill('New Member');
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: /Join|Accept/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.goto('/settings?tab=account');
    await page.getByText('New Member (you)').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Invite' }).count(), 0);
  });
});

for (const [name, colorScheme, viewport] of [
  ['light', 'light', undefined],
  ['dark', 'dark', undefined],
  ['phone', 'light', phone],
] as const) {
  test(`both parts can be used by everybody, ${name}`, async () => {
    const owner = await signIn(gateway, { passwordHash, name: 'Ada Lovelace' });
    await signIn(gateway, { account: owner.account, role: 'admin', name: 'Grace Hopper' });
    await visitor(gateway).post('/auth/sign-in', { email: owner.email, password });
    await owner.post(`/accounts/${owner.account}/invitations`, {
      email: 'charles.babbage.with.a.long.name@example.com',
      role: 'member',
    });
    await browser.withPage({ baseUrl: gateway.url, cookie: owner.cookie, colorScheme, viewport }, async (page) => {
      await page.goto('/settings');
      await page.getByText('This one').waitFor();
      await checkAccessibility(page);
      await takePicture(page, `settings-${name}`);
      await page.getByRole('tab', { name: 'Account' }).click();
      await page.getByText('Grace Hopper').waitFor();
      await page.getByText('charles.babbage').waitFor();
      await checkAccessibility(page);
      await takePicture(page, `settings-account-${name}`);
    });
  });
}
