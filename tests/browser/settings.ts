// Settings of the user and of an account, in a real browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  checkAccessibility,
  checkLooks,
  confirmIdentity,
  takePicture,
  type PageOptions,
  unconfirmed,
  withPage,
} from '../support/browser.ts';
import {
  type DashboardClient,
  invite,
  quickHash,
  signIn,
  type SignInOptions,
  visitor,
} from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';
import { startOtlpReceiver, type OtlpReceiver } from '../support/otlp-receiver.ts';
import { Authenticator } from '../support/totp.ts';

const password = 'correct horse battery';
/** The browser logs refused requests as errors. */
const refused = /status of 4\d\d/;

let gateway: TestGateway;
let receiver: OtlpReceiver;
const passwordHash = quickHash(password);
before(async () => {
  receiver = await startOtlpReceiver();
  const telemetry = { allowed_hosts: [new URL(receiver.url).host] };
  gateway = await startGateway({ telemetry });
});
after(async () => {
  await gateway.stop();
  await receiver.close();
});

function join(options: SignInOptions): Promise<DashboardClient> {
  return signIn(gateway, { passwordHash, ...options });
}

function visit<Result>(
  { cookie }: DashboardClient,
  path: string,
  action: (page: Page) => Promise<Result>,
  options: Pick<PageOptions, 'ignores'> = {},
): Promise<Result> {
  return withPage({ baseUrl: gateway.url, cookie, ...options }, async (page) => {
    await page.goto(path);
    return action(page);
  });
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
/** Exact: a heading that sorts the invitations, shown while they load, is a button 'Invited by'. */
const inviteButton = (page: Page) => page.getByRole('button', { name: 'Invite', exact: true });
const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name });
const heading = (page: Page, name: string) => page.getByRole('heading', { name });
const rowOf = (page: Page, table: string, hasText: string) =>
  page.getByRole('table', { name: table }).locator('tbody tr').filter({ hasText });

async function fillIn(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(values))
    await page.getByRole('textbox', { name: label, exact: true }).fill(value);
}

async function look(page: Page, name: string): Promise<void> {
  await checkAccessibility(page);
  await takePicture(page, name);
}

async function enterPassword(page: Page, email: string): Promise<void> {
  await page.goto('/sign-in');
  await fillIn(page, { 'E-mail': email, Password: password });
  await button(page, 'Sign in').click();
}

test('two-factor authentication is set up, required at the next sign-in, and turned off', async () => {
  const user = await join({ name: 'Ada Lovelace', email: 'ada@example.com' });
  const { app, codes } = await visit(
    user,
    '/settings?tab=security',
    async (page) => {
      await button(page, 'Set up').click();
      await fillIn(page, { 'Your password': 'not the password' });
      await button(page, 'Continue').click();
      await page.getByText('The password is wrong.').waitFor();
      await look(page, 'settings-second-factor-password');
      await fillIn(page, { 'Your password': password });
      await button(page, 'Continue').click();
      await page.getByRole('img', { name: 'QR code of the secret' }).waitFor();
      const shown = await page.getByText(/^[A-Z2-7]{4}( [A-Z2-7]{1,4})+$/).innerText();
      await fillIn(page, { Code: '000 00' });
      await button(page, 'Turn on').click();
      await page.getByText('Enter the six digits from the app.').waitFor();
      const authenticator = new Authenticator(shown.replaceAll(' ', ''));
      await fillIn(page, { Code: authenticator.nextCode() });
      await button(page, 'Turn on').click();
      await dialog(page, 'Your backup codes').waitFor();
      const list = await page
        .getByRole('list', { name: 'Backup codes' })
        .getByRole('listitem')
        .allInnerTexts();
      await page.keyboard.press('Escape');
      await look(page, 'settings-backup-codes');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Download' }).click(),
      ]);
      const file = readFileSync(await download.path(), 'utf8');
      assert.ok(list.length >= 5 && list.every((code) => file.includes(code)), file);
      await button(page, 'I have saved them').click();
      await page.getByText(`${list.length} backup codes left`).waitFor();
      return { app: authenticator, codes: list };
    },
    { ignores: refused },
  );
  await withPage({ baseUrl: gateway.url, ignores: refused }, async (page) => {
    await enterPassword(page, 'ada@example.com');
    await heading(page, 'Two-factor authentication').waitFor();
    await look(page, 'second-factor');
    await fillIn(page, { Code: '000000' });
    await button(page, 'Continue').click();
    await page.locator('input[aria-invalid="true"]').waitFor();
    await checkAccessibility(page);
    await fillIn(page, { Code: app.nextCode() });
    await button(page, 'Continue').click();
    await heading(page, 'Overview').waitFor();
  });
  await withPage({ baseUrl: gateway.url, ignores: refused }, async (page) => {
    await enterPassword(page, 'ada@example.com');
    await button(page, 'Use a backup code').click();
    await fillIn(page, { 'Backup code': codes[0]! });
    await button(page, 'Continue').click();
    await heading(page, 'Overview').waitFor();
    await page.goto('/settings?tab=security');
    await page.getByText(`${codes.length - 1} backup codes left`).waitFor();
    await button(page, 'New backup codes').click();
    await fillIn(page, { 'Your password': password, Code: codes[1]! });
    await button(page, 'Create new codes').click();
    const shownCodes = page.getByRole('list', { name: 'Backup codes' }).getByRole('listitem');
    await shownCodes.first().waitFor();
    const fresh = await shownCodes.allInnerTexts();
    assert.ok(fresh.every((code) => !codes.includes(code)));
    await button(page, 'I have saved them').click();
    await button(page, 'Turn off').click();
    await fillIn(page, { 'Your password': password, Code: codes[1]! });
    await dialog(page, 'Turn off two-factor authentication')
      .getByRole('button', { name: 'Turn off' })
      .click();
    await page.getByText('The code is wrong, or was used before.').waitFor();
    await look(page, 'settings-second-factor-off');
    await fillIn(page, { Code: fresh[0]! });
    await dialog(page, 'Turn off two-factor authentication')
      .getByRole('button', { name: 'Turn off' })
      .click();
    await button(page, 'Set up').waitFor();
  });
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await enterPassword(page, 'ada@example.com');
    await heading(page, 'Overview').waitFor();
  });
});

test('a session that the user ends is signed out', async () => {
  const user = await join({ name: 'Grace Hopper', email: 'grace@example.com' });
  const devices = await Promise.all(
    ['Firefox/140.0 (X11; Linux)', 'Safari/604.1 (iPhone)'].map(signInWith),
  );
  await visit(user, '/settings?tab=security', async (page) => {
    await rowOf(page, 'Sessions', 'Firefox on Linux')
      .getByRole('button', { name: 'Sign out' })
      .click();
    await rowOf(page, 'Sessions', 'Firefox on Linux').waitFor({ state: 'detached' });
    assert.deepEqual(await statuses(devices), [401, 200]);
    await button(page, 'Sign out everywhere else').click();
    await button(page, 'Sign out elsewhere').click();
    await rowOf(page, 'Sessions', 'Safari on iOS').waitFor({ state: 'detached' });
    assert.deepEqual(await statuses([...devices, user]), [401, 401, 200]);
    await rowOf(page, 'Sessions', 'This session').waitFor();
    assert.equal(await button(page, 'Sign out everywhere else').count(), 0);
  });

  async function signInWith(userAgent: string) {
    const device = visitor(gateway);
    const body = { email: user.email, password };
    await ok(device.send('POST', '/auth/sign-in', { body, headers: { 'user-agent': userAgent } }));
    return device;
  }
});

function statuses(clients: readonly DashboardClient[]): Promise<number[]> {
  return Promise.all(clients.map(async (client) => (await client.get('/profile')).status));
}

test('a user changes name, e-mail and password', async () => {
  const user = await join({ name: 'Alan', email: 'alan@example.com' });
  const other = await signInAgain(user);
  await visit(
    user,
    '/settings',
    async (page) => {
      await fillIn(page, { Name: 'Alan Turing' });
      await button(page, 'Save name').click();
      await button(page, 'User menu: Alan Turing').waitFor();
      await button(page, 'Change e-mail').click();
      await fillIn(page, { 'New e-mail': 'turing@example.com' });
      await button(page, /^Change$/).click();
      await fillIn(page, { 'Your password': 'not the password' });
      await button(page, 'Confirm').click();
      await page.getByText('The password is wrong.').waitFor();
      await checkAccessibility(page);
      await confirmIdentity(page, password);
      await page.getByRole('main').getByText('turing@example.com').waitFor();
      await fillIn(page, { 'Current password': password, 'New password': 'short' });
      await button(page, 'Change password').click();
      await page.getByText('Use at least 10 characters.').waitFor();
      await fillIn(page, { 'New password': 'another long password' });
      await button(page, 'Change password').click();
      await page.getByText('Password changed.').waitFor();
      assert.equal((await other.get('/profile')).status, 401);
      await page.getByRole('tab', { name: 'Security' }).click();
      await rowOf(page, 'Sessions', 'This session').waitFor();
    },
    { ignores: refused },
  );
});

async function signInAgain({ email }: DashboardClient): Promise<DashboardClient> {
  const other = visitor(gateway);
  await ok(other.post('/auth/sign-in', { email, password }));
  return other;
}

test('an invited user joins by a link, becomes an admin and is removed', async () => {
  const owner = await join({ name: 'Owner' });
  const { account } = owner;
  const asOwner = async <Result>(action: (page: Page) => Promise<Result>) =>
    visit(owner, `/settings?tab=members&account=${account}`, action, { ignores: unconfirmed });
  const link = await asOwner(async (page) => {
    // The only owner can neither leave nor be removed.
    await rowOf(page, 'Members', 'You').waitFor();
    const ending = rowOf(page, 'Members', 'You').getByRole('button', { name: /Leave|Remove/ });
    assert.equal(await ending.count(), 0);
    await inviteButton(page).click();
    await fillIn(page, { 'E-mail': 'newcomer' });
    await dialog(page, 'Invite someone').getByRole('button', { name: 'Invite' }).click();
    await page.getByText('Enter an e-mail address.').waitFor();
    await fillIn(page, { 'E-mail': 'newcomer@example.com' });
    await look(page, 'settings-invite');
    await dialog(page, 'Invite someone').getByRole('button', { name: 'Invite' }).click();
    const asked = dialog(page, 'Confirm that it is you');
    await asked.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('You did not confirm it, so nothing was changed.').waitFor();
    await dialog(page, 'Invite someone').getByRole('button', { name: 'Invite' }).click();
    await confirmIdentity(page, password);
    const made = await page.getByRole('region', { name: 'Invitation link' }).innerText();
    await page.getByText('No e-mail was sent').waitFor();
    await look(page, 'settings-invitation-link');
    await page.locator('button:focus', { hasText: 'Copy link' }).waitFor();
    await button(page, 'Done').press('Enter');
    await page.locator('button:focus', { hasText: 'Invite' }).press('Enter');
    await dialog(page, 'Invite someone').getByRole('button', { name: 'Cancel' }).click();
    await rowOf(page, 'Invitations', 'newcomer@example.com').waitFor();
    return made.trim();
  });
  await withPage({ baseUrl: gateway.url }, async (page) => {
    await page.goto(link);
    await page.getByText(/^Owner invites you to the account .* as a member\.$/).waitFor();
    await fillIn(page, { 'Your name': 'Newcomer', Password: password });
    await button(page, 'Accept').click();
    await heading(page, 'Overview').waitFor();
    await page.goto(`/settings?tab=members&account=${account}`);
    await rowOf(page, 'Members', 'Newcomer').getByRole('button', { name: 'Leave' }).waitFor();
    assert.equal(await inviteButton(page).count(), 0, 'a member cannot invite');
    assert.equal(await heading(page, 'Invitations').count(), 0);
    assert.equal(await page.getByRole('combobox', { name: /^Role of/ }).count(), 0);
    await asOwner(async (ofOwner) => {
      await chooseRole(ofOwner, 'Newcomer', /^Admin/);
      await confirmIdentity(ofOwner, password);
      await ofOwner.getByText('Newcomer is now an admin.').waitFor();
    });
    await page.reload();
    await inviteButton(page).click();
    await page.getByRole('combobox', { name: 'Role' }).click();
    await page.getByRole('option', { name: 'Admin' }).waitFor();
    assert.equal(
      await page.getByRole('option', { name: 'Owner' }).count(),
      0,
      'an admin cannot make owners',
    );
  });
  await asOwner(async (page) => {
    await rowOf(page, 'Members', 'Newcomer').getByRole('button', { name: 'Remove' }).click();
    await dialog(page, 'Remove Newcomer?').getByRole('button', { name: 'Remove' }).click();
    await rowOf(page, 'Members', 'Newcomer').waitFor({ state: 'detached' });
  });
  const members = (await owner.get(`/accounts/${account}/members`)).json<{
    data: readonly unknown[];
  }>();
  assert.equal(members.data.length, 1);
});

async function chooseRole(page: Page, name: string, role: RegExp): Promise<void> {
  await page.getByRole('combobox', { name: `Role of ${name}` }).click();
  await page.getByRole('option', { name: role }).click();
}

test('an owner makes another owner, gives up the role and leaves', async () => {
  const owner = await join({ name: 'First' });
  const { account } = owner;
  await join({ account, role: 'admin', name: 'Second' });
  await visit(
    owner,
    `/settings?tab=members&account=${account}`,
    async (page) => {
      await chooseRole(page, 'Second', /^Owner/);
      await look(page, 'settings-make-owner');
      await button(page, 'Make owner').click();
      await confirmIdentity(page, password);
      await page.getByText('Second is now an owner.').waitFor();
      await chooseRole(page, 'First', /^Member/);
      await button(page, 'Become a member').click();
      await confirmIdentity(page, password);
      await page
        .getByRole('combobox', { name: /^Role of/ })
        .first()
        .waitFor({ state: 'detached' });
      await button(page, 'Leave').click();
      await dialog(page, /^Leave/)
        .getByRole('button', { name: 'Leave' })
        .click();
      await heading(page, 'You are not a member of any account').waitFor();
      await page.goto('/settings?tab=members');
      await page.getByRole('tab', { name: 'Profile', selected: true }).waitFor();
      assert.equal(await page.getByRole('tab', { name: 'Members' }).count(), 0);
    },
    { ignores: unconfirmed },
  );
});

test('an owner gives a member a budget, which everybody in the account can read', async () => {
  const owner = await join({ role: 'owner', name: 'Grace Hopper' });
  const member = await join({ account: owner.account, role: 'member', name: 'Alan Turing' });
  const members = '/settings?tab=members';
  await visit(owner, members, async (page) => {
    const row = rowOf(page, 'Members', 'Alan Turing');
    await row.getByRole('button', { name: 'Set a budget of Alan Turing' }).click();
    await fillIn(page, { 'Daily budget': 'five', 'Monthly budget': '50' });
    await dialog(page, 'Budget of Alan Turing').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Enter an amount in US dollars').waitFor();
    await fillIn(page, { 'Daily budget': '' });
    await checkAccessibility(page);
    await takePicture(page, 'settings-budget');
    await dialog(page, 'Budget of Alan Turing').getByRole('button', { name: 'Save' }).click();
    await row.getByText('$0.00 of $50.00 this month').waitFor();
    await checkLooks(page, 'settings-members-budget');
  });
  await visit(member, members, async (page) => {
    await rowOf(page, 'Members', 'Alan Turing').getByText('$0.00 of $50.00 this month').waitFor();
    assert.equal(await button(page, /budget/i).count(), 0);
  });
});

test('a viewer reads the pages of the account, and is offered nothing that changes or spends', async () => {
  const owner = await join({ role: 'owner' });
  await gateway.makeKey({ account: owner.account, name: 'Server' });
  const viewer = await join({ account: owner.account, role: 'viewer' });
  await visit(viewer, '/keys?mode=test', async (page) => {
    await page.getByText('Server').waitFor();
    assert.equal(await button(page, 'Create key').count(), 0);
    const navigation = page.getByRole('navigation', { name: 'Account' });
    assert.equal(await navigation.getByRole('link', { name: 'Playground' }).count(), 0);
    assert.equal(await navigation.getByRole('link', { name: 'Requests' }).count(), 1);
  });
  await visit(viewer, '/playground', async (page) => {
    await page.getByText('Viewers cannot use the playground').waitFor();
    await checkAccessibility(page);
  });
  await visit(viewer, '/billing', async (page) => {
    await heading(page, 'Billing').waitFor();
    assert.equal(await button(page, /top up/i).count(), 0);
  });
});

test('a withdrawn invitation stops working', async () => {
  const owner = await join({});
  const { link } = await invite(owner, 'never@example.com');
  await visit(
    owner,
    '/settings?tab=members',
    async (page) => {
      await rowOf(page, 'Invitations', 'never@example.com')
        .getByRole('button', { name: 'Withdraw' })
        .click();
      await dialog(page, 'Withdraw invitation?').getByRole('button', { name: 'Withdraw' }).click();
      await page.getByText('No open invitations').waitFor();
      await page.goto(link);
      await heading(page, 'This invitation is no longer valid').waitFor();
    },
    { ignores: refused },
  );
});

test('owners rename the account and switch the storage of answers; others can only read both', async () => {
  const owner = await join({});
  const { account } = owner;
  const admin = await join({ account, role: 'admin' });
  await visit(owner, '/settings?tab=changes', async (page) => {
    await page.getByText('No changes yet').waitFor();
  });
  await visit(owner, '/settings?tab=account', async (page) => {
    await fillIn(page, { Name: 'Analytical Engines' });
    await button(page, 'Save name').click();
    await page.getByText('Account renamed.').waitFor();
    await page.getByRole('switch', { name: 'Store answers' }).click({ force: true });
    await button(page, 'Stop and erase').click();
    await page.getByRole('switch', { name: 'Store answers', checked: false }).waitFor();
  });
  const settings = (await owner.get(`/accounts/${account}/settings`)).json<{
    name: string;
    retain_responses: boolean;
  }>();
  assert.deepEqual([settings.name, settings.retain_responses], ['Analytical Engines', false]);
  await visit(admin, '/settings?tab=account', async (page) => {
    const main = page.getByRole('main');
    await main.getByText('Analytical Engines').waitFor();
    await main.getByText('No', { exact: true }).first().waitFor();
    await main.getByText(account).waitFor();
    assert.equal(await main.getByRole('textbox').count(), 0);
    assert.equal(await main.getByRole('switch').count(), 0);
    await look(page, 'settings-account-admin');
  });
});

test('settings are readable on a phone and in dark mode', async () => {
  const owner = await join({ name: 'Wolfeschlegelsteinhausenbergerdorff the Elder' });
  const { account } = owner;
  const email =
    'a.rather.long.address.of.somebody.else@department.of.a.large.university.example.com';
  await join({ account, role: 'member', name: 'Grace Hopper', email });
  await owner.post(`/accounts/${account}/invitations`, { email: `x${email}`, role: 'admin' });
  await signInAgain(owner);
  await visit(owner, '/settings', async (page) => {
    for (const [tab, shown] of [
      ['Profile', 'Change password'],
      ['Account', 'Save name'],
      ['Members', 'Withdraw'],
      ['Security', 'Set up'],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click();
      await button(page, new RegExp(`^${shown}`)).waitFor();
      await checkLooks(page, `settings-${tab.toLowerCase()}`);
    }
    await button(page, 'Set up').click();
    await fillIn(page, { 'Your password': password });
    await button(page, 'Continue').click();
    await page.getByRole('img', { name: 'QR code of the secret' }).waitFor();
    await checkLooks(page, 'settings-second-factor');
  });
});

test('an owner exports traces, sees whether they arrive, and includes prompts after a question', async () => {
  const owner = await join({ name: 'Ada Lovelace' });
  const path = `/accounts/${owner.account}/telemetry`;
  await visit(
    owner,
    '/settings?tab=traces',
    async (page) => {
      await fillIn(page, { Address: 'https://127.0.0.1', Headers: 'authorization: Bearer one' });
      await button(page, 'Start export').click();
      await confirmIdentity(page, password);
      await page.getByText('must lead to a public address').waitFor();
      await look(page, 'settings-traces-refused');
      await fillIn(page, { Address: receiver.url });
      await button(page, 'Start export').click();
      await confirmIdentity(page, password);
      await page.getByText('Kept if empty: authorization').waitFor();
      const include = page.getByRole('switch', { name: 'Include prompts and answers' });
      await include.click();
      await button(page, 'Include them').click();
      await confirmIdentity(page, password);
      await page.getByText('Saved. The change applies within seconds.').first().waitFor();
      await checkLooks(page, 'settings-traces');
      const saved = (await owner.get(path)).json<{ include_content: boolean }>();
      assert.equal(saved.include_content, true);
      await button(page, 'Stop export').click();
      await dialog(page, 'Stop the export?').getByRole('button', { name: 'Stop export' }).click();
      await confirmIdentity(page, password);
      await button(page, 'Start export').waitFor();
    },
    { ignores: refused },
  );
});

test('an admin sees the export of traces but cannot include prompts; a member does not see it', async () => {
  const owner = await join({});
  const { account } = owner;
  await owner.patch(`/accounts/${account}/telemetry`, { endpoint: receiver.url });
  await visit(await join({ account, role: 'admin' }), '/settings?tab=traces', async (page) => {
    const include = page.getByRole('switch', { name: 'Include prompts and answers' });
    assert.equal(await include.isDisabled(), true);
  });
  await visit(await join({ account, role: 'member' }), '/settings', async (page) => {
    await page.getByRole('tab', { name: 'Members' }).waitFor();
    assert.equal(await page.getByRole('tab', { name: 'Traces' }).count(), 0);
  });
});
