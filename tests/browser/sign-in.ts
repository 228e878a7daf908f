// Sign-in in a real browser: passwords, invitations and password resets. `journeys.ts` tests the
// first
// link, `settings.ts` two-factor authentication.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { checkAccessibility, phone, takePicture, withPage } from '../support/browser.ts';
import { createLink } from '../../src/domain/users/one-time-link.ts';
import { invite, signIn, visitor } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';

const password = 'correct horse battery';
/** The browser logs refused requests as errors. */
const refused = /status of 4\d\d/;

let gateway: TestGateway;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.stop());

function heading(page: Page, name: string | RegExp) {
  return page.getByRole('heading', { level: 1, name });
}

async function fillIn(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(values))
    await page.getByRole('textbox', { name: label }).fill(value);
}

async function enterPassword(page: Page, email: string, entered = password): Promise<void> {
  await fillIn(page, { 'E-mail': email, Password: entered });
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('every wrong sign-in gets the same error, and the right password leads to the requested page', async () => {
  await makeUser('grace@example.com');
  await withPage({ baseUrl: gateway.url, ignores: refused, viewport: phone }, async (page) => {
    await page.goto('/requests?mode=test');
    await enterPassword(page, 'grace@example.com', 'not the password');
    const text = await page.getByRole('alert').innerText();
    await checkAccessibility(page);
    await takePicture(page, 'sign-in-phone');
    await enterPassword(page, 'nobody@example.com');
    await page
      .getByRole('button', { name: 'Sign in' })
      .and(page.locator(':not([data-loading])'))
      .waitFor();
    assert.equal(withoutId(await page.getByRole('alert').innerText()), withoutId(text));
    await enterPassword(page, 'grace@example.com');
    await heading(page, 'Requests').waitFor();
    assert.equal(new URL(page.url()).search, '?mode=test');
  });
});

function withoutId(text: string): string {
  return text.replace(/req_\w+/, '');
}

test('an invitation works only for the invited user', async () => {
  const owner = await signIn(gateway, { role: 'owner', name: 'Owner' });
  const { link } = await invite(owner, 'newcomer@example.com', 'admin');
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie }, async (page) => {
    await page.goto(link);
    await page.getByText('This invitation is for newcomer@example.com').waitFor();
    await checkAccessibility(page);
  });
  await withPage({ baseUrl: gateway.url, ignores: refused }, async (page) => {
    await page.goto(link);
    await page.getByText(/^Owner invites you to the account .* as an admin\.$/).waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'invitation');
    await fillIn(page, { 'Your name': 'Newcomer', Password: password });
    await page.getByRole('button', { name: 'Accept' }).click();
    await heading(page, 'Overview').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('account'), owner.account);
    await page.goto(link);
    await heading(page, 'This invitation is no longer valid').waitFor();
  });
  // An existing user signs in first and then returns to the invitation.
  await makeUser('known@example.com');
  const second = await invite(owner, 'known@example.com', 'admin');
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto(second.link);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await enterPassword(page, 'known@example.com');
    await page.getByRole('button', { name: 'Accept as known@example.com' }).click();
    await heading(page, 'Overview').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('account'), owner.account);
  });
});

test('only the signed-in user can confirm their address', async () => {
  const { id: userId, email } = (
    await (await makeUser('unproved@example.com')).get('/profile')
  ).json<{
    id: string;
    email: string;
  }>();
  const proof = { kind: 'verify-email', userId, email } as const;
  const link = () => createLink(gateway.database.write, proof, gateway.program.clock.nowMs());
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto(`/verify-email?token=${await link()}`);
    await page.getByText('Sign in to confirm unproved@example.com.').waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'verify-email-signed-out');
    await page.getByRole('link', { name: 'Sign in' }).click();
    await enterPassword(page, 'unproved@example.com');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await heading(page, 'Thank you').waitFor();
  });
  const other = await makeUser('somebody@example.com');
  await withPage({ baseUrl: gateway.url, cookie: other.cookie, ignores: refused }, async (page) => {
    await page.goto(`/verify-email?token=${await link()}`);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('This link is for another user').waitFor();
  });
});

test('a program gets a key only by a click, after a look at what asks', async () => {
  const owner = await signIn(gateway, { role: 'owner' });
  const begin = async () => {
    const started = await gateway.post('/oauth/device_authorization', {
      headers: { 'user-agent': 'claude-code/2.1.329 (external, cli)' },
      body: {},
    });
    return started.json<{ device_code: string; user_code: string }>();
  };
  const poll = async (code: string) => {
    const grant = 'urn:ietf:params:oauth:grant-type:device_code';
    const body = new URLSearchParams({ grant_type: grant, device_code: code });
    const reply = await fetch(`${gateway.url}/oauth/token`, { method: 'POST', body });
    return (await reply.json()) as Record<string, unknown>;
  };
  const [wanted, unwanted] = [await begin(), await begin()];
  await withPage({ baseUrl: gateway.url, cookie: owner.cookie, ignores: refused }, async (page) => {
    await page.goto(`/device?user_code=${wanted.user_code}`);
    assert.equal(await page.getByRole('textbox', { name: 'Code' }).inputValue(), wanted.user_code);
    await checkAccessibility(page);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Claude Code 2.1.329 at 127.0.0.1 asks for a key').waitFor();
    await page.getByText('If somebody sent you the code or a link, refuse').waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'device-login');
    assert.equal((await poll(wanted.device_code))['error'], 'authorization_pending');
    await page.getByRole('button', { name: 'Give it a key' }).click();
    await heading(page, 'Done').waitFor();
    assert.equal((await poll(wanted.device_code))['email'], owner.email);

    await page.goto('/device');
    await fillIn(page, { Code: unwanted.user_code.toLowerCase() });
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText(`asks for a key, with the code ${unwanted.user_code}.`).waitFor();
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Refuse' }).click();
    await page.getByText('Your session has ended').waitFor();
    await page.context().addCookies(cookies);
    await page.goto(new URL(page.url()).searchParams.get('next')!);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Refuse' }).click();
    await heading(page, 'Refused').waitFor();
    assert.equal((await poll(unwanted.device_code))['error'], 'access_denied');
  });
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/device?user_code=BBBB-BBBB');
    await page.getByText('Sign in to give a program on your machine a key.').waitFor();
    await checkAccessibility(page);
  });
});

test('without a mail server, the operator’s link sets a new password', async () => {
  const { userId } = await signIn(gateway, { email: 'forgetful@example.com' });
  const operator = await signIn(gateway, { operator: true });
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/sign-in');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByText('Ask its operator for a link').waitFor();
    await checkAccessibility(page);
    const { link } = (await operator.post(`/operator/users/${userId}/reset-link`)).json<{
      link: string;
    }>();
    await page.goto(`${gateway.url}${new URL(link).pathname}${new URL(link).search}`);
    await heading(page, 'Choose a new password').waitFor();
    await checkAccessibility(page);
    await fillIn(page, { Password: 'another long password' });
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('Your new password is set.').waitFor();
    await enterPassword(page, 'forgetful@example.com', 'another long password');
    await heading(page, 'Overview').waitFor();
  });
});

test('a closed sign-up says so', async () => {
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto('/sign-up');
    await heading(page, 'Sign-up is closed').waitFor();
    await checkAccessibility(page);
    await page.goto('/sign-in');
    await heading(page, 'Sign in').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Sign up' }).count(), 0);
  });
});

test('a session that ends while a page is open leads to sign-in and back', async () => {
  const user = await makeUser('leaver@example.com');
  await withPage({ baseUrl: gateway.url, cookie: user.cookie, ignores: refused }, async (page) => {
    await page.goto('/settings');
    await heading(page, 'Settings').waitFor();
    await user.post('/auth/sign-out');
    await page.goto('/keys?mode=test');
    await heading(page, 'Sign in').waitFor();
    await enterPassword(page, 'leaver@example.com');
    await heading(page, 'Keys').waitFor();
  });
});

/**
 * Creates a user with their own account through an invitation, so that the password is really
 * hashed.
 */
async function makeUser(email: string) {
  const owner = await signIn(gateway, { role: 'owner' });
  const { token } = await invite(owner, email, 'admin');
  const user = visitor(gateway);
  await ok(user.post('/auth/invitation/accept', { token, name: email, password }));
  return user;
}
