// The second factor: it is switched on with a code and required at each sign-in, and no code works
// twice.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, test } from 'node:test';
import { loadSecrets } from '../../src/config/secret.ts';
import { librarySecret } from '../../src/domain/users/second-factor-secrets.ts';
import {
  type DashboardClient,
  quickHash,
  signIn,
  statusesOf,
  tokenOf,
  visitor,
} from '../support/dashboard.ts';
import { startGateway } from '../support/gateway.ts';
import { rowOf } from '../support/rows.ts';
import { jsonOf, ok } from '../support/http.ts';
import { Authenticator, enrol } from '../support/totp.ts';

const password = 'correct horse battery';
const passwordHash = quickHash(password);
const gateway = await startGateway({ server: { trust_proxy: true } });
after(() => gateway.stop());

async function enrolled() {
  const user = await signIn(gateway, { passwordHash });
  return { user, email: user.email, ...(await enrol(user, password)) };
}

async function challenged(email: string): Promise<DashboardClient> {
  const client = visitor(gateway);
  const reply = await client.post('/auth/sign-in', { email, password });
  assert.deepEqual(reply.json(), { next: 'second-factor' });
  return client;
}

const plainSignIn = async (email: string) =>
  (await visitor(gateway).post('/auth/sign-in', { email, password })).json();
const giveBackup = (client: DashboardClient, code: string) =>
  client.post('/auth/second-factor', { code, kind: 'backup' });
const isSignedIn = async (client: DashboardClient) => (await client.get('/profile')).status === 200;

test('the second factor is off until a code confirms it', async () => {
  const user = await signIn(gateway, { passwordHash });
  const started = user.post('/profile/second-factor', { password });
  const { secret, uri } = await jsonOf<{ secret: string; uri: string }>(started);
  assert.match(uri, /^otpauth:\/\/totp\/Service/);
  const wrong = await user.post('/profile/second-factor/confirm', { code: '000000' });
  assert.deepEqual([wrong.status, wrong.error.param], [400, 'code']);
  assert.deepEqual(await plainSignIn(user.email), { next: 'done' });
  const code = new Authenticator(secret).nextCode();
  await ok(user.post('/profile/second-factor/confirm', { code }));
  assert.partialDeepStrictEqual((await user.get('/profile')).json(), {
    second_factor: { enabled: true, backup_codes_left: 10 },
  });
  assert.equal((await user.post('/profile/second-factor', { password })).status, 409);
});

test('a password alone does not sign in; each code signs in once', async () => {
  const { email, app } = await enrolled();
  const client = await challenged(email);
  assert.equal(await isSignedIn(client), false);
  const wrong = await client.post('/auth/second-factor', { code: '000000' });
  assert.deepEqual(
    [wrong.status, wrong.error.code, wrong.error.param],
    [401, 'sign_in_failed', 'code'],
  );
  const code = app.nextCode();
  await ok(client.post('/auth/second-factor', { code }));
  assert.equal(await isSignedIn(client), true);

  const replay = await challenged(email);
  const refused = await replay.post('/auth/second-factor', { code });
  assert.equal(refused.status, 401);
  assert.match(refused.error.message, /code was used before/);
  assert.equal(await isSignedIn(replay), false);
});

test('of several simultaneous sign-ins with one code, one succeeds', async () => {
  const { email, app, user } = await enrolled();
  const clients = await Promise.all([1, 2, 3].map(() => challenged(email)));
  const code = app.nextCode();
  const replies = await Promise.all(
    clients.map((client) => client.post('/auth/second-factor', { code })),
  );
  assert.deepEqual(statusesOf(replies), [200, 401, 401]);
  assert.equal((await Promise.all(clients.map(isSignedIn))).filter(Boolean).length, 1);
  const { data } = (await user.get('/profile/sessions')).json<{ data: object[] }>();
  assert.equal(data.length, 2, 'a refused sign-in left a session behind');
});

test('the code that switched it on does not sign in', async () => {
  const { email, code } = await enrolled();
  const client = await challenged(email);
  assert.equal((await client.post('/auth/second-factor', { code })).status, 401);
});

test('codes cannot be guessed, even by signing in again and again', async () => {
  const { email, app } = await enrolled();
  const clients = await Promise.all([1, 2, 3].map(() => challenged(email)));
  const guesses = clients.flatMap((client) =>
    Array.from({ length: 6 }, () => client.post('/auth/second-factor', { code: '111111' })),
  );
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  assert.ok(statuses.includes(429), statuses.join());
  assert.ok(statuses.every((status) => status === 401 || status === 429));
  const right = await (
    await challenged(email)
  ).post('/auth/second-factor', { code: app.nextCode() });
  assert.equal(right.status, 429);
  assert.ok(Number(right.headers['retry-after']) > 0);
});

test('a code without the password does not sign in', async () => {
  const { app } = await enrolled();
  const reply = await visitor(gateway).post('/auth/second-factor', { code: app.nextCode() });
  assert.deepEqual(
    [reply.status, reply.error.code, reply.error.param],
    [401, 'sign_in_failed', null],
  );
});

test("a session of one user does not pass another user's second factor", async () => {
  const { email, app } = await enrolled();
  const other = await enrolled();
  const { user } = other;
  await user.post('/auth/sign-in', { email, password });
  const reply = await user.post('/auth/second-factor', { code: other.app.nextCode() });
  assert.equal(reply.status, 401);
  await ok(user.post('/auth/second-factor', { code: app.nextCode() }));
  assert.equal((await user.get('/profile')).json<{ email: string }>().email, email);
});

test('each backup code works once', async () => {
  const { email, user, backupCodes } = await enrolled();
  const [code] = backupCodes;
  const clients = await Promise.all([1, 2].map(() => challenged(email)));
  const replies = await Promise.all(clients.map((client) => giveBackup(client, code!)));
  assert.equal(replies.filter(({ status }) => status === 200).length, 1);
  assert.equal((await giveBackup(await challenged(email), code!)).status, 401);
  assert.partialDeepStrictEqual((await user.get('/profile')).json(), {
    second_factor: { backup_codes_left: 9 },
  });

  const right = { password, code: backupCodes[1]!, kind: 'backup' };
  const again = await user.post('/profile/second-factor/backup-codes', right);
  const fresh = again.json<{ backup_codes: string[] }>().backup_codes;
  assert.equal((await giveBackup(await challenged(email), backupCodes[1]!)).status, 401);
  await ok(giveBackup(await challenged(email), fresh[0]!));
});

test('the database contains neither the secret nor a backup code in clear text', async () => {
  const { user, secret, backupCodes } = await enrolled();
  const row = await rowOf(gateway.database, 'user_two_factors', { user_id: user.userId });
  const raw = Buffer.from(secret, 'utf8').toString('utf8');
  assert.ok(!row.secret.includes(raw));
  for (const code of backupCodes)
    assert.ok(
      !row.backup_codes.includes(code) && !row.backup_codes.includes(code.replace('-', '')),
    );
  // A digest is not a code.
  const client = await challenged(user.email);
  const [digest] = (JSON.parse(row.backup_codes) as string[]).map((text) => text.split('.')[1]);
  assert.equal((await giveBackup(client, digest!)).status, 401);
});

test('switching it off or getting new backup codes needs the password and a code', async () => {
  const { user, email, app, code: used, backupCodes } = await enrolled();
  for (const path of ['/profile/second-factor/disable', '/profile/second-factor/backup-codes']) {
    const refusals = [
      [{ password }, 'code'],
      [{ password: 'a wrong password', code: backupCodes[0] }, 'password'],
      [{ password, code: '000000' }, 'code'],
      [{ password, code: used }, 'code'],
      [{ password, code: 'aaaaa-aaaaa', kind: 'backup' }, 'code'],
      [{ password, code: '', kind: 'backup' }, 'code'],
    ] as const;
    for (const [body, param] of refusals) {
      const reply = await user.post(path, body);
      assert.deepEqual([reply.status, reply.error.param], [400, param], JSON.stringify(body));
    }
  }
  assert.deepEqual(await plainSignIn(email), { next: 'second-factor' });
  await ok(user.post('/profile/second-factor/disable', { password, code: app.nextCode() }));
  assert.deepEqual(await plainSignIn(email), { next: 'done' });
  const again = await user.post('/profile/second-factor/disable', { password, code: '000000' });
  assert.equal(again.status, 409);
});

test('a user without the app switches it off with a backup code', async () => {
  const { user, email, backupCodes } = await enrolled();
  const body = { password, code: ` ${backupCodes[0]!} `, kind: 'backup' };
  await ok(user.post('/profile/second-factor/disable', body));
  assert.deepEqual(await plainSignIn(email), { next: 'done' });
});

test('codes cannot be guessed with an open session and the password', async () => {
  const { user, backupCodes } = await enrolled();
  const guess = () => user.post('/profile/second-factor/disable', { password, code: '111111' });
  const replies = await Promise.all(Array.from({ length: 14 }, guess));
  assert.equal(replies.filter(({ status }) => status === 400).length, 10);
  const body = { password, code: backupCodes[0]!, kind: 'backup' };
  assert.equal((await user.post('/profile/second-factor/disable', body)).status, 429);
});

test('a new password allows no further guesses of a code', async () => {
  const { user } = await enrolled();
  const guess = (current: string) =>
    user.post('/profile/second-factor/disable', { password: current, code: '111111' });
  for (let index = 0; index < 10; index++) assert.equal((await guess(password)).status, 400);
  const changed = 'another horse battery';
  const change = { current_password: password, new_password: changed };
  await ok(user.post('/profile/password', change));
  assert.equal((await guess(changed)).status, 429);
});

test('a password reset keeps the second factor; an operator can remove it', async () => {
  const { email } = await enrolled();
  const reset = async (...options: string[]) => {
    const args = ['users', 'reset-password', email, ...options];
    const token = tokenOf(await gateway.program.cli<{ link: string }>(...args));
    await ok(visitor(gateway).post('/auth/password-reset/complete', { token, password }));
    return plainSignIn(email);
  };
  assert.deepEqual(await reset(), { next: 'second-factor' });
  assert.deepEqual(await reset('--remove-second-factor'), { next: 'done' });
});

test('a code is required in every browser, even with a forged trust cookie', async () => {
  const { user, email } = await enrolled();
  const challenge = decodeURIComponent(
    /two_factor=([^;]+)/.exec((await challenged(email)).cookie)![1]!,
  ).split('.')[0]!;
  const { env, dataDir } = gateway.program;
  const key = librarySecret(loadSecrets(env, dataDir, { isShared: false })[0]);
  const digest = (text: string) => createHmac('sha256', key).update(text);
  const trusted = `${digest(`${user.userId}!${challenge}`).digest('base64url')}!${challenge}`;
  const thief = visitor(gateway);
  thief.cookie = `tollgate.trust_device=${encodeURIComponent(`${trusted}.${digest(trusted).digest('base64')}`)}`;
  assert.deepEqual((await thief.post('/auth/sign-in', { email, password })).json(), {
    next: 'second-factor',
  });
});

test('a session cookie in the request does not replace the user who must give the code', async () => {
  const [victim, thief] = [await enrolled(), await enrolled()];
  const both = await challenged(victim.email);
  both.cookie = `${both.cookie}; ${thief.user.cookie.replace('=', ' =')}`;
  const reply = await both.post('/auth/second-factor', { code: thief.app.nextCode() });
  assert.deepEqual([reply.status, reply.headers['set-cookie']], [401, undefined]);
});

test('an account that requires a second factor is closed to members without one, until they add it', async () => {
  const { user: owner } = await enrolled();
  const { account } = owner;
  const member = await signIn(gateway, { account, passwordHash, role: 'admin' });
  const settings = `/accounts/${account}/settings`;
  await ok(owner.patch(settings, { requires_second_factor: true }));
  const keys = `/accounts/${account}/keys?mode=test`;
  const closed = [
    member.get(keys),
    member.post(`/accounts/${account}/keys`, { mode: 'test', name: 'no' }),
    member.get(settings),
  ];
  for (const reply of await Promise.all(closed)) {
    assert.deepEqual([reply.status, reply.error.code], [403, 'not_permitted']);
    assert.match(reply.error.message, /requires a second factor/);
  }
  await ok(owner.get(keys));
  await enrol(member, password);
  await ok(member.get(keys));
  await ok(owner.patch(settings, { requires_second_factor: false }));
});

test('an owner without a second factor does not close the account to himself', async () => {
  const owner = await signIn(gateway, { passwordHash });
  const reply = await owner.patch(`/accounts/${owner.account}/settings`, {
    requires_second_factor: true,
  });
  assert.deepEqual([reply.status, reply.error.param], [400, 'requires_second_factor']);
});
