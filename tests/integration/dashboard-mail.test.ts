// Sign-in with a mail server: links are sent to the address, so following one proves it, and
// strangers cannot learn who is a user.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  type DashboardClient,
  invite,
  quickHash,
  signIn,
  statusesOf,
  visitor,
} from '../support/dashboard.ts';
import { startGateway } from '../support/gateway.ts';
import { rowOf, setRows } from '../support/rows.ts';
import { columnOf } from '../support/column-of.ts';
import { jsonOf, ok } from '../support/http.ts';
import { enrol } from '../support/totp.ts';
import { startMailbox, type ReceivedMail } from '../support/mailbox.ts';
import { until } from '../support/until.ts';

const password = 'correct horse battery';
const passwordHash = quickHash(password);
const mailbox = await startMailbox();
const gateway = await startGateway({
  server: { trust_proxy: true },
  signup: { open: true, initial_credit_usd: 2.5 },
  smtp: { url: mailbox.url, from: 'Tollgate <no-reply@gate.example>' },
});
after(async () => {
  await gateway.stop();
  await mailbox.close();
});

function tokenIn(mail: ReceivedMail, page: string): string {
  const link = new RegExp(`${gateway.url}/${page}\\?token=([\\w-]+)`).exec(mail.text);
  assert.ok(link, mail.text);
  return link[1]!;
}

const newcomer = (name: string) => `${name}-${Math.random().toString(36).slice(2)}@example.com`;

async function signUp(email: string): Promise<ReceivedMail> {
  const reply = await visitor(gateway).post('/auth/sign-up', { name: 'New User', email, password });
  assert.deepEqual(
    [reply.status, reply.json(), reply.headers['set-cookie']],
    [200, { next: 'check-email' }, undefined],
  );
  return mailbox.take(email);
}

async function enter(email: string, secret = password): Promise<DashboardClient> {
  const client = visitor(gateway);
  const sent = client.post('/auth/sign-in', { email, password: secret });
  assert.deepEqual(await jsonOf(sent), { next: 'done' });
  return client;
}

const askReset = (email: string) => visitor(gateway).post('/auth/password-reset', { email });
const completeReset = (token: string, to: string) =>
  visitor(gateway).post('/auth/password-reset/complete', { token, password: to });
/** The token of the link in the next e-mail to the address. */
const mailedToken = async (email: string, page: string) => tokenIn(await mailbox.take(email), page);

async function changePassword(user: DashboardClient): Promise<void> {
  const change = { current_password: password, new_password: 'another password' };
  await ok(user.post('/profile/password', change));
}

type Account = { id: string; name: string; role: string };
const accountsOf = async (client: DashboardClient) =>
  (await jsonOf<{ accounts: Account[] }>(client.get('/session'))).accounts;

const isVerified = async (email: string) =>
  Boolean((await rowOf(gateway.database, 'users', { email })).email_verified);

test('a sign-up creates an account; its credit comes once, when the address is confirmed', async () => {
  const email = newcomer('up');
  const mail = await signUp(email);
  assert.equal(mail.from, 'no-reply@gate.example');
  const client = await enter(email);
  const [account] = await accountsOf(client);
  assert.partialDeepStrictEqual(account, { name: "New User's account", role: 'owner' });
  assert.equal((await gateway.balance(account!.id)).availableMicros, 0);

  const token = tokenIn(mail, 'verify-email');
  const replies = await Promise.all(
    [1, 2, 3].map(() => client.post('/auth/verify-email', { token })),
  );
  assert.deepEqual(statusesOf(replies), [200, 404, 404]);
  assert.equal((await gateway.balance(account!.id)).availableMicros, 2_500_000);
  await Promise.all([enter(email), enter(email)]);
  assert.equal((await gateway.balance(account!.id)).availableMicros, 2_500_000);
  assert.partialDeepStrictEqual((await client.get('/session')).json(), {
    user: { email_verified: true },
  });
});

test('an interrupted sign-up credit is booked at the next sign-in', async () => {
  const email = newcomer('late');
  await signUp(email);
  await setRows(gateway.database, 'users', { email }, { email_verified: 1 });
  const [account] = await accountsOf(await enter(email));
  assert.equal((await gateway.balance(account!.id)).availableMicros, 2_500_000);
});

test('signing up with a known address changes nothing and informs only its owner', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  const mail = await signUp(email);
  assert.match(mail.text, /already has a sign-in/);
  assert.ok(!mail.text.includes('token='));
  await enter(email);
});

test('a reset link dies with the password that it was made for', async () => {
  const user = await signIn(gateway, { passwordHash });
  await askReset(user.email);
  const token = await mailedToken(user.email, 'reset-password');
  await changePassword(user);
  await mailbox.take(user.email);
  assert.equal((await completeReset(token, 'a third horse battery')).status, 404);
});

test('a link for a new address dies with the password that asked for it', async () => {
  const user = await signIn(gateway, { passwordHash });
  const email = newcomer('thief');
  await ok(user.post('/profile/email', { email, password }));
  const token = await mailedToken(email, 'verify-email');
  await changePassword(user);
  await mailbox.take(user.email);
  assert.equal((await user.post('/auth/verify-email', { token })).status, 404);
});

test('a forgotten password is reset by a mailed link that works once and ends all sessions', async () => {
  const user = await signIn(gateway, { passwordHash });
  const { email } = user;
  for (const one of [email, newcomer('nobody')])
    assert.deepEqual(await jsonOf(askReset(one)), { ok: true });
  const token = await mailedToken(email, 'reset-password');
  assert.deepEqual(mailbox.mails, [], 'an address that is nobody got an e-mail');
  const complete = (to: string) => completeReset(token, to);
  const refused = await complete('short');
  assert.deepEqual([refused.status, refused.error.param], [400, 'password']);
  const completed = await Promise.all([1, 2, 3].map(() => complete('another password')));
  assert.deepEqual(statusesOf(completed), [200, 404, 404]);
  assert.equal((await user.get('/profile')).status, 401);
  await enter(email, 'another password');
  assert.equal((await complete(password)).status, 404);
});

test('a link that the mail server repeats in its refusal is not logged', async () => {
  const email = newcomer('blocked');
  await signIn(gateway, { email, passwordHash });
  mailbox.repeat(email);
  await ok(askReset(email));
  await until(() => /e-mail could not be sent/.test(gateway.program.output));
  assert.doesNotMatch(gateway.program.output, /token=/);
  assert.match(gateway.program.output, /refuses the e-mail \(450\)/);
});

test('repeated reset requests for one address are rate limited, known or not', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  for (const one of [email, newcomer('nobody')]) {
    const replies = await Promise.all(Array.from({ length: 12 }, () => askReset(one)));
    assert.equal(replies.filter(({ status }) => status === 200).length, 10);
    assert.ok(
      replies.every(({ status, headers }) => status === 200 || Number(headers['retry-after']) > 0),
    );
  }
  for (let index = 0; index < 10; index++) await mailbox.take(email);
});

test("an address's owner takes over a sign-up by someone else, without that person's second factor", async () => {
  const email = newcomer('squatted');
  await signUp(email);
  const squatter = await enter(email);
  await askReset(email);
  const token = await mailedToken(email, 'reset-password');
  await ok(squatter.post('/profile/second-factor', { password }));
  await setRows(gateway.database, 'users', { email }, { two_factor_enabled: 1 });
  await ok(completeReset(token, 'another password'));
  const owner = await enter(email, 'another password');
  assert.partialDeepStrictEqual((await owner.get('/profile')).json(), {
    email_verified: true,
    second_factor: { enabled: false },
  });
});

test('before confirming the address, a new user can create no key and invite no member', async () => {
  const email = newcomer('trap');
  const mail = await signUp(email);
  const client = await enter(email);
  const [account] = await accountsOf(client);
  const makeKey = () =>
    client.post(`/accounts/${account!.id}/keys`, { mode: 'live', name: 'Mine' });
  const friend = { email: newcomer('friend'), role: 'owner', password };
  const inviteFriend = () => client.post(`/accounts/${account!.id}/invitations`, friend);
  for (const reply of [await makeKey(), await inviteFriend()]) {
    assert.deepEqual([reply.status, reply.error.code], [403, 'not_permitted'], reply.text);
    assert.match(reply.error.message, /Confirm your e-mail address/);
  }
  await ok(client.post('/auth/verify-email', { token: tokenIn(mail, 'verify-email') }));
  assert.deepEqual([(await makeKey()).status, (await inviteFriend()).status], [200, 200]);
});

test('a new address takes effect when confirmed, and the old address is informed', async () => {
  const user = await signIn(gateway, { passwordHash });
  const email = newcomer('moved');
  const wrong = await user.post('/profile/email', { email, password: 'a wrong password' });
  assert.deepEqual([wrong.status, wrong.error.param], [400, 'password']);
  const sent = user.post('/profile/email', { email, password });
  assert.deepEqual(await jsonOf(sent), { next: 'check-email' });
  assert.equal((await user.get('/profile')).json<{ email: string }>().email, user.email);
  const token = await mailedToken(email, 'verify-email');
  assert.deepEqual((await user.post('/auth/verify-email', { token })).json(), { email });
  for (const address of [user.email, email]) {
    assert.match((await mailbox.take(address)).text, new RegExp(`sign in with ${email}`));
  }
  await enter(email);
});

test("a user cannot take another user's address, even with a link", async () => {
  const [one, other] = await Promise.all([
    signIn(gateway, { passwordHash }),
    signIn(gateway, { passwordHash }),
  ]);
  const email = newcomer('wanted');
  const links: { readonly user: DashboardClient; readonly token: string }[] = [];
  for (const user of [one, other]) {
    await user.post('/profile/email', { email, password });
    links.push({ user, token: await mailedToken(email, 'verify-email') });
  }
  const replies = await Promise.all(
    links.map(({ user, token }) => user.post('/auth/verify-email', { token })),
  );
  const [won, lost] = statusesOf(replies);
  assert.ok(won === 200 && lost! >= 400 && lost! < 500, `${won} ${lost}`);
});

test('an invitation is mailed, and accepting it confirms the address', async () => {
  const owner = await signIn(gateway, { name: 'Olga\nSubject: x https://evil.example/prize' });
  const email = newcomer('invited');
  assert.equal((await invite(owner, email, 'admin')).mailed, true);
  const mail = await mailbox.take(email);
  assert.match(
    mail.text,
    /Olga Subject: x https: \/\/evil\. example\/prize invites you to the account Test as an admin/,
  );
  const client = visitor(gateway);
  const accepted = { token: tokenIn(mail, 'invitation'), name: 'In', password };
  await ok(client.post('/auth/invitation/accept', accepted));
  const profile = (await client.get('/profile')).json();
  assert.partialDeepStrictEqual(profile, { email, email_verified: true });
  // An invited user gets no account of his own.
  assert.deepEqual(columnOf(await accountsOf(client), 'id'), [owner.account]);
});

test('an account invites a bounded number of strangers a day by mail', async () => {
  const owner = await signIn(gateway);
  const statusFor = async (email: string) => {
    const body = { email, role: 'viewer' };
    const { status } = await owner.post(`/accounts/${owner.account}/invitations`, body);
    if (status === 200) await mailbox.take(email);
    return status;
  };
  for (let index = 0; index < 30; index++) assert.equal(await statusFor(newcomer('stranger')), 200);
  assert.equal(await statusFor(newcomer('stranger')), 429);
});

test('the link shown to the inviter confirms no address and gives no credit; the mailed link does', async () => {
  const inviter = await signIn(gateway);
  const accept = async (email: string, how: 'shown' | 'mailed') => {
    const { token: shown } = await invite(inviter, email);
    const mailed = await mailedToken(email, 'invitation');
    assert.notEqual(shown, mailed);
    const client = visitor(gateway);
    const token = how === 'shown' ? shown : mailed;
    await ok(client.post('/auth/invitation/accept', { token, name: 'In', password }));
    for (const used of [shown, mailed]) {
      const again = await visitor(gateway).post('/auth/invitation', { token: used });
      assert.equal(again.status, 404, 'one invitation, two users');
    }
    return client;
  };
  const email = newcomer('never-asked');
  const squatter = await accept(email, 'shown');
  assert.partialDeepStrictEqual((await squatter.get('/profile')).json(), { email_verified: false });
  // Without an account, the user gets one when sign-up is open, but no credit.
  await ok(squatter.post(`/accounts/${inviter.account}/leave`));
  const [account] = await accountsOf(await enter(email));
  assert.equal((await gateway.balance(account!.id)).postedMicros, 0);

  const proved = await accept(newcomer('asked'), 'mailed');
  assert.partialDeepStrictEqual((await proved.get('/profile')).json(), { email_verified: true });
});

test("only one of an invitation's two links can be used, even at once, and only the mailed one confirms the address", async () => {
  const inviter = await signIn(gateway);
  for (let round = 0; round < 3; round++) {
    const email = newcomer('both');
    const { token: shown } = await invite(inviter, email);
    const tokens = [shown, await mailedToken(email, 'invitation')];
    const replies = await Promise.all(
      tokens.map((token) =>
        visitor(gateway).post('/auth/invitation/accept', { token, name: 'In', password }),
      ),
    );
    assert.deepEqual(statusesOf(replies), [200, 404]);
    assert.equal(await isVerified(email), replies[1]!.status === 200);
  }
});

test('only the signed-in user of an address can confirm it with the link', async () => {
  const email = newcomer('squatted');
  const token = tokenIn(await signUp(email), 'verify-email');
  const signedOut = await visitor(gateway).post('/auth/verify-email', { token });
  assert.deepEqual([signedOut.status, signedOut.error.code], [401, 'not_signed_in']);
  const somebody = await signIn(gateway);
  const other = await somebody.post('/auth/verify-email', { token });
  assert.deepEqual([other.status, other.error.code], [409, 'conflict']);
  assert.equal(await isVerified(email), false);
  // The link was not used up.
  await ok((await enter(email)).post('/auth/verify-email', { token }));
  assert.equal(await isVerified(email), true);
});

test('every change of password or second factor is reported by e-mail', async () => {
  const user = await signIn(gateway, { passwordHash });
  const mailed = async (text: RegExp) => assert.match((await mailbox.take(user.email)).text, text);
  await changePassword(user);
  await mailed(/password was changed/);

  const { backupCodes } = await enrol(user, 'another password');
  await mailed(/switched on/);
  const given = { password: 'another password', code: backupCodes[0], kind: 'backup' };
  const renewed = await user.post('/profile/second-factor/backup-codes', given);
  await mailed(/New backup codes/);
  const [code] = renewed.json<{ backup_codes: string[] }>().backup_codes;
  await ok(user.post('/profile/second-factor/disable', { ...given, code }));
  await mailed(/switched off/);

  await askReset(user.email);
  await ok(completeReset(await mailedToken(user.email, 'reset-password'), password));
  await mailed(/password was changed/);
});

test('a second factor removed by an operator is reported by e-mail', async () => {
  const user = await signIn(gateway, { passwordHash });
  await enrol(user, password);
  assert.match((await mailbox.take(user.email)).text, /switched on/);
  await gateway.program.cli('users', 'reset-password', user.email, '--remove-second-factor');
  assert.match((await mailbox.take(user.email)).text, /switched off/);
});

test('link requests by strangers do not block a signed-in user from confirming the address', async () => {
  const email = newcomer('flooded');
  await signUp(email);
  const client = await enter(email);
  await Promise.all(Array.from({ length: 12 }, () => askReset(email)));
  await ok(client.post('/auth/verify-email/send'));
  for (let index = 0; index < 11; index++) await mailbox.take(email);
});

test('a user who signed up can request a new confirmation link', async () => {
  const email = newcomer('again');
  await signUp(email);
  const client = await enter(email);
  await ok(client.post('/auth/verify-email/send'));
  const token = await mailedToken(email, 'verify-email');
  await ok(client.post('/auth/verify-email', { token }));
});

test('only owners are warned of a low balance: once, and at once when it is already low', async () => {
  const { account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const [owner, other, member] = [
    await signIn(gateway, { account, role: 'owner', name: 'First' }),
    await signIn(gateway, { account, role: 'owner', name: 'Second' }),
    await signIn(gateway, { account, role: 'member', name: 'Third' }),
  ];
  const set = (...thresholds_micros: readonly number[]) =>
    owner.patch(`/accounts/${account}/low-balance`, { thresholds_micros });
  assert.equal((await set(4_000_000)).status, 200);
  assert.equal((await set(4_000_000, 6_500_000)).status, 200);
  for (const { email } of [owner, other]) {
    const { text } = await mailbox.take(email);
    for (const part of ['$5.00', '$6.50', `${gateway.url}/billing`])
      assert.ok(text.includes(part), text);
  }
  // This mail arrives after any that a later check would send.
  assert.equal((await set(4_000_000, 6_500_000)).status, 200);
  assert.equal((await set()).status, 200);
  await signUp(newcomer('later'));
  assert.deepEqual(
    mailbox.mails.filter(({ to }) => [owner, other, member].some(({ email }) => email === to)),
    [],
  );
});
