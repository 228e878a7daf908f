// Passkeys: they sign in without password and second factor, and every answer that a device did not
// give to this question is refused.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { challengeLifetimeMs } from '../../src/domain/users/passkeys/challenges.ts';
import { passkeysMax } from '../../src/domain/users/passkeys/records.ts';
import { columnOf } from '../support/column-of.ts';
import {
  type DashboardClient,
  quickHash,
  signIn,
  type SignInOptions,
  statusesOf,
  visitor,
} from '../support/dashboard.ts';
import { startGateway, startGatewayProgram } from '../support/gateway.ts';
import { rowOf, rowsOf, setRows } from '../support/rows.ts';
import { jsonOf, ok, type Reply } from '../support/http.ts';
import { startMailbox } from '../support/mailbox.ts';
import { type Lies, PasskeyDevice } from '../support/passkey-device.ts';
import { TestClock } from '../support/test-clock.ts';
import { enrol } from '../support/totp.ts';

const origin = 'https://llm.example.com';
const password = 'correct horse battery';
const passwordHash = quickHash(password);
const clock = new TestClock();
const mailbox = await startMailbox();
const smtp = { url: mailbox.url, from: 'Tollgate <no-reply@gate.example>' };
const gateway = await startGateway(
  { server: { trust_proxy: true, public_url: origin }, smtp },
  { clock },
);
after(async () => {
  await gateway.stop();
  await mailbox.close();
});

type CreationOptions = Parameters<PasskeyDevice['create']>[0];
type RequestOptions = Parameters<PasskeyDevice['get']>[0];
type Listed = { id: string; name: string; last_used_at: string | null };

/** Sessions of this gateway have the cookies of https. */
async function join(options: SignInOptions = {}): Promise<DashboardClient> {
  const user = await signIn(gateway, { passwordHash, ...options });
  user.cookie = user.cookie.replace('tollgate.', '__Host-tollgate.');
  return user;
}

async function startAdding(user: DashboardClient, code = {}): Promise<CreationOptions> {
  return jsonOf<CreationOptions>(user.post('/profile/passkeys/start', { password, ...code }));
}

async function add(
  user: DashboardClient,
  device = new PasskeyDevice(origin),
  name = 'Laptop',
): Promise<PasskeyDevice> {
  const options = await startAdding(user);
  await ok(user.post('/profile/passkeys', { name, credential: device.create(options) }));
  await mailbox.take(user.email);
  return device;
}

async function start(client: DashboardClient): Promise<RequestOptions> {
  return jsonOf<RequestOptions>(client.post('/auth/passkey/start'));
}

async function enter(device: PasskeyDevice, lies: Lies = {}, client = visitor(gateway)) {
  const credential = device.get(await start(client), lies);
  return { reply: await client.post('/auth/passkey', { credential }), client };
}

async function listed(user: DashboardClient): Promise<Listed[]> {
  return (await user.get('/profile/passkeys')).json<{ data: Listed[] }>().data;
}

const isSignedIn = async (client: DashboardClient) => (await client.get('/profile')).status === 200;

async function assertRefused(
  { reply, client }: { reply: Reply; client: DashboardClient },
  message: RegExp,
): Promise<void> {
  assert.deepEqual([reply.status, reply.error.code], [401, 'sign_in_failed'], reply.text);
  assert.match(reply.error.message, message);
  assert.equal(await isSignedIn(client), false);
}

async function auditOf(userId: string, action: string) {
  const rows = await rowsOf(gateway.database, 'audit_log', { subject: userId, action });
  return rows.map((row) => ({
    by: row.actor_kind === 'user' ? row.actor_id : row.actor_kind,
    before: JSON.parse(row.before ?? 'null') as unknown,
    after: JSON.parse(row.after ?? 'null') as unknown,
  }));
}

test('a passkey is added with the password, signs in, and is removed', async () => {
  const user = await join();
  const wrong = await user.post('/profile/passkeys/start', { password: 'not the password' });
  assert.deepEqual([wrong.status, wrong.error.param], [400, 'password']);
  const device = new PasskeyDevice(origin, { counter: 1 });
  const options = await startAdding(user);
  assert.partialDeepStrictEqual(options, {
    rp: { id: 'llm.example.com' },
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  const credential = device.create(options);
  const sent = user.post('/profile/passkeys', { name: ' My  laptop ', credential });
  const { id } = await jsonOf<{ id: string }>(sent);
  assert.partialDeepStrictEqual(await listed(user), [
    { id, name: 'My laptop', last_used_at: null, host: 'llm.example.com', works_here: true },
  ]);
  assert.match((await mailbox.take(user.email)).text, /passkey "My laptop" was added/);

  const { reply, client } = await enter(device);
  assert.deepEqual([reply.status, reply.json()], [200, { ok: true }]);
  assert.equal((await client.get('/profile')).json<{ id: string }>().id, user.userId);
  assert.match(client.cookie, /__Host-tollgate\.device=usr_/);
  assert.notEqual((await listed(user))[0]!.last_used_at, null);
  assert.equal((await enter(device)).reply.status, 200, 'a second time');

  const path = `/profile/passkeys/${id}/remove`;
  assert.equal((await user.post(path, { password: 'wrong password' })).status, 400);
  await ok(user.post(path, { password }));
  assert.match((await mailbox.take(user.email)).text, /passkey "My laptop" was removed/);
  assert.deepEqual(await listed(user), []);
  await assertRefused(await enter(device), /not known here/);
  assert.equal((await user.post(path, { password })).status, 404);

  const named = (name: string) => ({ passkey: id, name });
  const by = user.userId;
  for (const [action, earlier, later] of [
    ['add', null, named('My laptop')],
    ['remove', named('My laptop'), null],
  ] as const)
    assert.deepEqual(await auditOf(by, `user.passkey-${action}`), [
      { by, before: earlier, after: later },
    ]);
});

test('with a second factor, adding and removing needs a code, and a sign-in needs none', async () => {
  const user = await join();
  const { backupCodes } = await enrol(user, password);
  await mailbox.take(user.email);
  for (const given of [{}, { code: '' }, { code: '000000' }]) {
    const refused = await user.post('/profile/passkeys/start', { password, ...given });
    assert.deepEqual([refused.status, refused.error.param], [400, 'code'], refused.text);
  }
  const backup = { code: backupCodes[0], kind: 'backup' };
  const device = new PasskeyDevice(origin);
  const credential = device.create(await startAdding(user, backup));
  const sent = user.post('/profile/passkeys', { name: 'Phone', credential });
  const { id } = await jsonOf<{ id: string }>(sent);
  const { reply, client } = await enter(device);
  assert.equal(reply.status, 200);
  assert.equal(await isSignedIn(client), true);
  const path = `/profile/passkeys/${id}/remove`;
  assert.equal((await user.post(path, { password })).error.param, 'code');
  await ok(user.post(path, { password, ...backup }));
});

const sevens = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64url');
const lies: Readonly<Record<string, readonly [Lies, RegExp]>> = {
  'another origin': [{ origin: 'https://llm.example.com.evil.example' }, /another address/],
  'the origin without https': [{ origin: 'http://llm.example.com' }, /another address/],
  'the origin with another port': [{ origin: `${origin}:8443` }, /another address/],
  'another RP ID': [{ rpId: 'example.com' }, /another address/],
  'no user verification': [{ isVerified: false }, /did not check that it is you/],
  'nobody present': [{ isPresent: false }, /not valid/],
  'the type of an addition': [{ type: 'webauthn.create' }, /not valid/],
  'no user': [{ userHandle: null }, /not valid/],
  'a challenge that we did not make': [{ challenge: sevens(54) }, /took too long/],
  'an unknown passkey': [{ credentialId: sevens(32) }, /not known/],
  'the signature of another key': [{ key: new PasskeyDevice(origin).key }, /not valid/],
};

for (const [name, [lie, message]] of Object.entries(lies))
  test(`a sign-in with ${name} is refused`, async () => {
    const device = await add(await join());
    await assertRefused(await enter(device, lie), message);
    assert.equal((await enter(device)).reply.status, 200);
  });

const refusedAdditions: Readonly<Record<string, readonly [Lies, RegExp]>> = {
  'another origin': [{ origin: 'https://evil.example' }, /another address/],
  'another RP ID': [{ rpId: 'example.com' }, /another address/],
  'no user verification': [{ isVerified: false }, /did not check that it is you/],
  'nobody present': [{ isPresent: false }, /not valid/],
  'the type of a sign-in': [{ type: 'webauthn.get' }, /not valid/],
  'another challenge': [{ challenge: sevens(54) }, /took too long/],
  // A statement with certificates could name addresses that the library fetches.
  'a statement about its make': [{ format: 'apple' }, /not valid/],
  // { "x5c": [] }
  certificates: [{ format: 'packed', statement: Buffer.from('a16378356380', 'hex') }, /not valid/],
  'bytes that are no statement': [{ statement: Buffer.alloc(5_000, 0x81) }, /not valid/],
};

for (const [name, [lie, message]] of Object.entries(refusedAdditions))
  test(`an addition with ${name} is refused`, async () => {
    const user = await join();
    const credential = new PasskeyDevice(origin).create(await startAdding(user), lie);
    const reply = await user.post('/profile/passkeys', { name: 'Laptop', credential });
    assert.deepEqual([reply.status, reply.error.param], [400, 'credential'], reply.text);
    assert.match(reply.error.message, message);
    assert.deepEqual(await listed(user), []);
  });

test('a challenge signs in once, also when its answer was refused, and of several at once', async () => {
  const device = await add(await join());
  const client = visitor(gateway);
  const credential = device.get(await start(client));
  const tries = [1, 2, 3].map(() => client.post('/auth/passkey', { credential }));
  const replies = await Promise.all(tries);
  assert.deepEqual(statusesOf(replies), [200, 401, 401]);
  const again = await client.post('/auth/passkey', { credential });
  assert.match(again.error.message, /answered before/);

  const options = await start(client);
  const refused = device.get(options, { isVerified: false });
  assert.equal((await client.post('/auth/passkey', { credential: refused })).status, 401);
  const late = await client.post('/auth/passkey', { credential: device.get(options) });
  assert.match(late.error.message, /answered before/);
});

test('a challenge expires', async () => {
  const user = await join();
  const device = await add(user);
  const client = visitor(gateway);
  const credential = device.get(await start(client));
  const other = new PasskeyDevice(origin).create(await startAdding(user));
  await clock.advance(challengeLifetimeMs);
  const reply = await client.post('/auth/passkey', { credential });
  assert.deepEqual([reply.status, reply.error.code], [401, 'sign_in_failed']);
  assert.match(reply.error.message, /took too long/);
  const addition = await user.post('/profile/passkeys', { name: 'Late', credential: other });
  assert.match(addition.error.message, /took too long/);
});

test('a used challenge is remembered until it has expired, and no longer', async () => {
  const device = await add(await join());
  assert.equal((await enter(device)).reply.status, 200);
  const count = async () => (await rowsOf(gateway.database, 'used_passkey_challenges')).length;
  assert.ok((await count()) >= 2);
  await clock.advance(challengeLifetimeMs + 1);
  assert.equal((await enter(device)).reply.status, 200);
  assert.equal(await count(), 1);
});

test('a challenge of another browser or session, or for the other purpose, is refused', async () => {
  const user = await join();
  const device = await add(user);
  const [mine, others] = [visitor(gateway), visitor(gateway)];
  const [options] = [await start(mine), await start(others)];
  for (const client of [others, visitor(gateway)]) {
    const reply = await client.post('/auth/passkey', { credential: device.get(options) });
    await assertRefused({ reply, client }, /another browser/);
  }
  const own = await mine.post('/auth/passkey', { credential: device.get(options) });
  assert.equal(own.status, 200, 'those did not use it up');

  const second = visitor(gateway);
  const entered = await enter(device, {}, second);
  assert.equal(entered.reply.status, 200);
  const adding = await startAdding(user);
  const credential = new PasskeyDevice(origin).create(adding);
  const reply = await second.post('/profile/passkeys', { name: 'Stolen', credential });
  assert.deepEqual([reply.status, reply.error.param], [400, 'credential']);
  const asSignIn = device.get({ challenge: adding.challenge, rpId: adding.rp.id });
  const swapped = await mine.post('/auth/passkey', { credential: asSignIn });
  await assertRefused({ reply: swapped, client: visitor(gateway) }, /took too long/);
  const { challenge } = await start(mine);
  const asAddition = new PasskeyDevice(origin).create({ ...adding, challenge });
  const added = await user.post('/profile/passkeys', { name: 'x', credential: asAddition });
  assert.equal(added.status, 400);
});

test("one user's passkey does not sign in another, and cannot be added or changed by another", async () => {
  const [alice, bob] = [await join(), await join()];
  const [hers, his] = [await add(alice), await add(bob)];
  const handle = Buffer.from(bob.userId).toString('base64url');
  await assertRefused(await enter(hers, { userHandle: handle }), /not valid/);
  const claim = { credentialId: hers.credentialId };
  await assertRefused(await enter(his, claim), /not valid/);
  const asHers = { ...claim, userHandle: Buffer.from(alice.userId).toString('base64url') };
  await assertRefused(await enter(his, asHers), /not valid/);

  const taken = new PasskeyDevice(origin).create(await startAdding(bob), claim);
  const reply = await bob.post('/profile/passkeys', { name: 'Taken', credential: taken });
  assert.deepEqual([reply.status, reply.error.code], [409, 'conflict']);
  const { client } = await enter(hers);
  assert.equal((await client.get('/profile')).json<{ id: string }>().id, alice.userId);

  const [{ id } = { id: '' }] = await listed(alice);
  assert.equal((await bob.post(`/profile/passkeys/${id}/remove`, { password })).status, 404);
  assert.equal((await listed(alice))[0]!.name, 'Laptop');
});

test('a counter that does not grow is the sign of a copy, and is refused', async () => {
  const device = await add(await join(), new PasskeyDevice(origin, { counter: 5 }));
  assert.equal((await enter(device, { counter: 9 })).reply.status, 200);
  for (const counter of [9, 8, 1, 0]) await assertRefused(await enter(device, { counter }), /copy/);
  assert.equal((await enter(device, { counter: 10 })).reply.status, 200);
  // A forged counter does not move the stored one.
  const key = new PasskeyDevice(origin).key;
  await assertRefused(await enter(device, { counter: 4_000_000_000, key }), /not valid/);
  assert.equal((await enter(device, { counter: 11 })).reply.status, 200);
});

test('of several sign-ins with one counter at once, one succeeds', async () => {
  const device = await add(await join(), new PasskeyDevice(origin, { counter: 5 }));
  const entered = await Promise.all([1, 2, 3].map(() => enter(device, { counter: 20 })));
  assert.deepEqual(statusesOf(entered.map(({ reply }) => reply)), [200, 401, 401]);
});

test('too many tries with one passkey are refused, and others still sign in', async () => {
  const user = await join();
  const [device, other] = [await add(user), await add(user)];
  const tries = Array.from({ length: 12 }, () => enter(device, { isVerified: false }));
  const statuses = statusesOf((await Promise.all(tries)).map(({ reply }) => reply));
  assert.ok(statuses.includes(429) && statuses.every((one) => one === 401 || one === 429));
  const { reply } = await enter(device);
  assert.deepEqual([reply.status, reply.error.code], [429, 'rate_limit_exceeded']);
  assert.ok(Number(reply.headers['retry-after']) > 0);
  assert.equal((await enter(other)).reply.status, 200);
});

test('the passkey of a removed user is erased and signs in nobody', async () => {
  const user = await join({ role: null });
  const device = await add(user);
  await gateway.database.write.deleteFrom('users').where('id', '=', user.userId).execute();
  const left = await rowsOf(gateway.database, 'user_passkeys', { user_id: user.userId });
  assert.deepEqual(left, []);
  await assertRefused(await enter(device), /not known/);
});

test('ended sessions include those of passkeys, and a new password keeps the passkeys', async () => {
  const user = await join();
  const device = await add(user);
  const { client } = await enter(device);
  await ok(user.post('/profile/sessions/revoke-others'));
  assert.equal(await isSignedIn(client), false);
  const { client: next } = await enter(device);
  const change = { current_password: password, new_password: 'another password' };
  await ok(user.post('/profile/password', change));
  await mailbox.take(user.email);
  assert.equal(await isSignedIn(next), false);
  assert.equal((await enter(device)).reply.status, 200);
});

test('a user without a password adds no passkey: the provider decides who signs in', async () => {
  const user = await signIn(gateway, {});
  user.cookie = user.cookie.replace('tollgate.', '__Host-tollgate.');
  const reply = await user.post('/profile/passkeys/start', { password });
  assert.deepEqual([reply.status, reply.error.code], [409, 'conflict']);
});

test('a device is offered once, and there is a most', async () => {
  const user = await join();
  const device = await add(user);
  const options = (await startAdding(user)) as CreationOptions & {
    readonly excludeCredentials: readonly { readonly id: string }[];
  };
  assert.deepEqual(columnOf(options.excludeCredentials, 'id'), [device.credentialId]);
  const row = await rowOf(gateway.database, 'user_passkeys', { user_id: user.userId });
  const more = Array.from({ length: passkeysMax - 2 }, (_, index) => ({
    ...row,
    id: `${row.id}${index}`,
    credential_id: `${row.credential_id}${index}`,
  }));
  await gateway.database.write.insertInto('user_passkeys').values(more).execute();
  await add(user);
  const credential = new PasskeyDevice(origin).create(await startAdding(user));
  const full = await user.post('/profile/passkeys', { name: 'One more', credential });
  assert.deepEqual([full.status, full.error.code], [409, 'conflict']);
  assert.match(full.error.message, new RegExp(`${passkeysMax} passkeys`));
});

test('a mailed new password for an address that nobody proved removes passkeys too', async () => {
  const squatter = await join();
  const device = await add(squatter);
  await setRows(gateway.database, 'users', { id: squatter.userId }, { email_verified: 0 });
  await visitor(gateway).post('/auth/password-reset', { email: squatter.email });
  const token = /token=([\w-]+)/.exec((await mailbox.take(squatter.email)).text)![1]!;
  const given = { token, password: 'another password' };
  await ok(visitor(gateway).post('/auth/password-reset/complete', given));
  await assertRefused(await enter(device), /not known/);
});

test('an operator removes passkeys by command, with the second factor', async () => {
  const user = await join();
  const cli = (...args: string[]) => gateway.program.cli('users', ...args);
  const kept = await add(user);
  await cli('reset-password', user.email);
  assert.equal((await enter(kept)).reply.status, 200, 'a reset alone keeps them');
  await cli('reset-password', user.email, '--remove-second-factor');
  assert.match((await mailbox.take(user.email)).text, /operator removed all passkeys/);
  await assertRefused(await enter(kept), /not known/);
});

test('a gateway at an address where passkeys are impossible says so', async () => {
  const plain = await startGateway();
  try {
    const user = await signIn(plain, { passwordHash });
    const session = (await user.get('/session')).json();
    assert.partialDeepStrictEqual(session, { features: { passkeys: false } });
    for (const reply of [
      await user.post('/profile/passkeys/start', { password }),
      await visitor(plain).post('/auth/passkey/start'),
    ]) {
      assert.deepEqual([reply.status, reply.error.code], [409, 'conflict']);
      assert.match(reply.error.message, /https and a host name.*127\.0\.0\.1.*server\.public_url/);
    }
  } finally {
    await plain.stop();
  }
});

// The library's own packages use decorators, which a bundler could drop.
test('the built program adds a passkey and signs in with it', async () => {
  const built = await startGatewayProgram({ server: { public_url: 'http://localhost:4000' } });
  try {
    const user = await signIn(built, { passwordHash });
    const device = new PasskeyDevice('http://localhost:4000');
    const credential = device.create(await startAdding(user));
    await ok(user.post('/profile/passkeys', { name: 'Laptop', credential }));
    const { reply, client } = await enter(device, {}, visitor(built));
    assert.equal(reply.status, 200, reply.text);
    assert.equal(await isSignedIn(client), true);
  } finally {
    await built.stop();
  }
});
