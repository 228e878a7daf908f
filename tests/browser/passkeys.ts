// Passkeys in a real browser with Chromium's virtual authenticator. The dashboard is at `localhost`,
// because browsers refuse passkeys at an IP address.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  checkAccessibility,
  checkLooks,
  settle,
  takePicture,
  withPage,
} from '../support/browser.ts';
import { quickHash, signIn } from '../support/dashboard.ts';
import { startForwarder } from '../support/forwarder.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { enrol } from '../support/totp.ts';

const password = 'correct horse battery';
const passwordHash = quickHash(password);
/** The browser logs refused requests as errors. */
const refused = /status of 4\d\d/;

let gateway: TestGateway;
let forwarder: Awaited<ReturnType<typeof startForwarder>>;
let url: string;
before(async () => {
  forwarder = await startForwarder();
  url = `http://localhost:${forwarder.port}`;
  gateway = await startGateway({ server: { public_url: url } });
  forwarder.forwardTo(gateway.url);
});
after(async () => {
  await gateway.stop();
  await forwarder.close();
});

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const rowOf = (page: Page, hasText: string) =>
  page.getByRole('table', { name: 'Passkeys' }).locator('tbody tr').filter({ hasText });

async function fillIn(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(values))
    await page.getByRole('textbox', { name: label, exact: true }).fill(value);
}

/** A device with a fingerprint sensor. */
async function addDevice(page: Page) {
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('WebAuthn.enable');
  const { authenticatorId } = await protocol.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const remove = () => protocol.send('WebAuthn.disable');
  return { protocol, authenticatorId, remove };
}

type Device = Awaited<ReturnType<typeof addDevice>>;

/**
 * Sets whether the device answers by itself, as if its sensor were touched. It then also answers
 * the suggestions of the sign-in page, which in a real browser wait for the user's choice.
 */
async function setTouched({ protocol, authenticatorId }: Device, enabled: boolean): Promise<void> {
  await protocol.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
}

async function setVerified(
  { protocol, authenticatorId }: Device,
  isUserVerified: boolean,
): Promise<void> {
  await protocol.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'User menu: Ada Lovelace' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await heading(page, 'Sign in').waitFor();
}

test('a passkey is added, signs in without password and code, and works no more once removed', async () => {
  const user = await signIn(gateway, {
    passwordHash,
    name: 'Ada Lovelace',
    email: 'ada@example.com',
  });
  const [code] = (await enrol(user, password)).backupCodes;
  await withPage({ baseUrl: url, cookie: user.cookie, ignores: refused }, async (page) => {
    const device = await addDevice(page);
    await page.goto('/settings?tab=security');
    await page.getByText('No passkeys').waitFor();
    await button(page, 'Add a passkey').click();
    await fillIn(page, { 'Your password': 'not the password', Code: code! });
    await button(page, 'Continue').click();
    await page.getByText('The password is wrong.').waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'passkey-password');
    await fillIn(page, { 'Your password': password });
    await button(page, 'Continue').click();
    await fillIn(page, { Name: 'Work laptop' });
    // Without a finger on the sensor the device makes none, and may be asked again.
    await setVerified(device, false);
    await button(page, 'Create passkey').click();
    await page.getByText('You cancelled, or your device did not answer in time.').waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'passkey-refused');
    await setVerified(device, true);
    await button(page, 'Create passkey').click();
    await rowOf(page, 'Work laptop').getByText('Never').waitFor();
    await checkLooks(page, 'passkeys');

    await setTouched(device, false);
    await signOut(page);
    await checkLooks(page, 'sign-in-with-passkey');
    await setTouched(device, true);
    await button(page, 'Sign in with a passkey').click();
    await heading(page, 'Overview').waitFor();
    await page.goto('/settings?tab=security');
    await rowOf(page, 'Work laptop').waitFor();
    assert.equal(await rowOf(page, 'Work laptop').getByText('Never').count(), 0);

    await button(page, 'Remove Work laptop').click();
    await checkAccessibility(page);
    await takePicture(page, 'passkey-remove');
    await fillIn(page, { 'Your password': password, Code: code! });
    await button(page, 'Remove').click();
    await page.getByText('No passkeys').waitFor();

    await setTouched(device, false);
    await signOut(page);
    await setTouched(device, true);
    await button(page, 'Sign in with a passkey').click();
    await page.getByText('This passkey is not known here.').waitFor();
    await checkAccessibility(page);
    await takePicture(page, 'sign-in-passkey-refused');
    await device.remove();
  });
});

test('the browser suggests passkeys in the e-mail field', async () => {
  const user = await signIn(gateway, { passwordHash, name: 'Ada Lovelace' });
  await withPage({ baseUrl: url, cookie: user.cookie }, async (page) => {
    const device = await addDevice(page);
    await page.goto('/settings?tab=security');
    await button(page, 'Add a passkey').click();
    await fillIn(page, { 'Your password': password });
    await button(page, 'Continue').click();
    await button(page, 'Create passkey').click();
    await page.getByRole('table', { name: 'Passkeys' }).getByText('Never').waitFor();
    await page.context().clearCookies();
    await page.goto('/sign-in?next=/keys');
    await heading(page, 'Keys').waitFor();
    await device.remove();
  });
});

test('the settings say why passkeys are impossible at an IP address, and the sign-in offers none', async () => {
  const plain = await startGateway();
  try {
    const user = await signIn(plain, { passwordHash });
    await withPage({ baseUrl: plain.url, cookie: user.cookie }, async (page) => {
      await page.goto('/settings?tab=security');
      await page.getByText(/^Passkeys need an address with https and a host name/).waitFor();
      assert.equal(await button(page, 'Add a passkey').count(), 0);
      await takePicture(page, 'passkeys-impossible');
      // The refusal of an open request would load the sign-in page too, and end the navigation below.
      await settle(page);
      await user.post('/auth/sign-out');
      await page.goto('/sign-in');
      await heading(page, 'Sign in').waitFor();
      assert.equal(await button(page, 'Sign in with a passkey').count(), 0);
    });
  } finally {
    await plain.stop();
  }
});
