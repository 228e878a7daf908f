// Calls that give a way in which outlives the session ask for a fresh confirmation. Whoever has only
// the session, in an unattended browser or stolen, gets none of them.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { dashboardCalls } from '../../src/management/contract/contract.ts';
import { challengeLifetimeMs, Challenges } from '../../src/domain/users/passkeys/challenges.ts';
import { loadSecrets } from '../../src/config/secret.ts';
import { type DashboardClient, quickHash, signIn, visitor } from '../support/dashboard.ts';
import { startGateway } from '../support/gateway.ts';
import { rowsOf } from '../support/rows.ts';
import { ok, type Reply } from '../support/http.ts';
import { PasskeyDevice } from '../support/passkey-device.ts';
import { sampleOf } from '../support/sample.ts';
import { TestClock } from '../support/test-clock.ts';
import { enrol } from '../support/totp.ts';

const password = 'correct horse battery';
const passwordHash = quickHash(password);
const origin = 'http://localhost:4000';
const adminKey = { name: 'A shop', scopes: ['users:write'] };
const clock = new TestClock();
const stripe = { secret_key: 'sk_test_unused', webhook_secret: 'whsec_unused' };
const server = { trust_proxy: true, public_url: origin };
const gateway = await startGateway({ server, stripe }, { clock });
after(() => gateway.stop());

const operator = () => signIn(gateway, { operator: true, passwordHash });

/** Makes an admin key, confirmed by `body`. */
const makeKey = (by: DashboardClient, body: object = {}, proof?: string) =>
  by.sendUnconfirmed('POST', '/operator/admin-keys', { body: { ...adminKey, ...body } }, proof);

const adminKeys = async () => (await rowsOf(gateway.database, 'admin_keys')).length;

async function assertNoneMade(sent: () => Promise<Reply>, code: string, param?: string) {
  const earlier = await adminKeys();
  const reply = await sent();
  assert.equal(reply.error.code, code, reply.text);
  if (param !== undefined) assert.equal(reply.error.param, param);
  assert.equal(await adminKeys(), earlier);
  return reply;
}

async function addPasskey(by: DashboardClient): Promise<PasskeyDevice> {
  const device = new PasskeyDevice(origin);
  const started = await ok(by.post('/profile/passkeys/start', { password }));
  const credential = device.create(started.json());
  await ok(by.post('/profile/passkeys', { name: 'Laptop', credential }));
  return device;
}

async function signed(by: DashboardClient, device: PasskeyDevice) {
  const started = await by.post('/auth/passkey/start');
  return { passkey: device.get(started.json()) };
}

/** Calls that need no confirmation, and why. A new call that changes something is here or `confirmed`. */
const unconfirmed: Readonly<Record<string, string>> = {
  'Anybody may try it: it is a sign-in itself, or needs a one-time link.': `
    POST /auth/sign-in /auth/second-factor /auth/passkey/start /auth/passkey /auth/sign-up
      /auth/link /auth/first-run /auth/password-reset /auth/password-reset/complete
      /auth/verify-email /auth/verify-email/send /auth/invitation /auth/invitation/accept
      /auth/oidc`,
  'It asks for the current password itself, which no other proof replaces.': `
    POST /profile/password /profile/second-factor`,
  'It is the end of a change whose start was confirmed.': `
    POST /profile/second-factor/confirm /profile/passkeys`,
  'It only takes access away.': `
    POST /auth/sign-out /device-logins/deny /profile/sessions/revoke-others
      /accounts/:account/leave /accounts/:account/keys/:key/disable
      /accounts/:account/keys/:key/revoke /operator/accounts/:account/keys/:key/disable
      /operator/accounts/:account/keys/:key/revoke
      /operator/admin-keys/:key/revoke /accounts/:account/batches/:batch/cancel
    DELETE /profile/sessions/:session /accounts/:account/members/:user
      /accounts/:account/invitations/:invitation
      /operator/accounts/:account/invitations/:invitation
      /accounts/:account/alert-endpoints/:endpoint
      /operator/accounts/:account/alert-endpoints/:endpoint /accounts/:account/own-keys/:ownKey
      /accounts/:account/auto-top-up/card`,
  'It changes names, figures or what is stored, and gives nobody a way in.': `
    PATCH /profile /accounts/:account/settings
      /accounts/:account/low-balance /accounts/:account/alert-endpoints/:endpoint
      /accounts/:account/own-keys/:ownKey /operator/accounts/:account/alert-endpoints/:endpoint
      /operator/accounts/:account /operator/accounts/:account/prices
    POST /device-logins/find /accounts/:account/auto-top-up/card
      /accounts/:account/alert-endpoints/:endpoint/test
      /accounts/:account/alert-deliveries/:delivery/again
      /operator/accounts/:account/alert-endpoints/:endpoint/test
      /operator/accounts/:account/alert-deliveries/:delivery/again /operator/accounts
      /operator/accounts/:account/purge /operator/settings/preview /operator/settings/export
      /operator/settings/reload`,
  'It moves money between accounts of the service: it is in the books, and can be taken back.': `
    POST /operator/accounts/:account/adjustments /operator/payments/:payment/decision
      /accounts/:account/top-ups`,
  'API keys are daily work. They spend what the account has, never more, and their owners see them.': `
    POST /accounts/:account/device-logins /accounts/:account/keys /operator/accounts/:account/keys
      /accounts/:account/keys/:key/rotate /accounts/:account/keys/:key/enable
      /operator/accounts/:account/keys/:key/enable
    PATCH /accounts/:account/keys/:key /accounts/:account/members/:user/budget
      /accounts/:account/keys/:key/owner`,
};
/** The methods are in capitals, each before its paths. */
function callsIn(text: string): string[] {
  let method = '';
  return text
    .trim()
    .split(/\s+/)
    .flatMap((word) => {
      if (word.startsWith('/')) return [`${method} ${word}`];
      method = word;
      return [];
    });
}

const changing = Object.entries(dashboardCalls).filter(([name]) => !name.startsWith('GET '));
const confirmed = changing.filter(([, endpoint]) => endpoint.confirmed);

test('every call that changes something is confirmed, or has a reason not to be', () => {
  const names = [
    ...confirmed.map(([name]) => name),
    ...Object.values(unconfirmed).flatMap(callsIn),
  ];
  assert.deepEqual(names.toSorted(), changing.map(([name]) => name).toSorted());
  for (const [name, { access }] of Object.entries(dashboardCalls))
    if (name.startsWith('GET ')) assert.ok(!confirmed.some(([one]) => one === name), access);
});

const topUps = { threshold_micros: 5e6, amount_micros: 20e6, ceiling_micros: 100e6 };
const inside = { kind: 'openai', base_url: 'http://127.0.0.1:1/v1', api_key: 'none' };
/** Bodies of calls that ask only once the rest is right; others are asked about first. */
const rightBodies: Readonly<Record<string, object>> = {
  'PATCH /accounts/:account/auto-top-up': { settings: topUps },
  'PATCH /operator/settings/saved': { version: 0, changes: [] },
  'POST /operator/settings/restore': { version: 0, restored: 0 },
  'POST /operator/settings/test-provider': {
    provider: 'inside',
    changes: [{ path: ['providers', 'inside'], value: inside }],
  },
};

for (const [name, { access, body }] of confirmed) {
  test(`${name} is refused to whoever has only the session`, async () => {
    const by = await signIn(gateway, { passwordHash, operator: access === 'operator' });
    const [method, path] = name.split(' ') as [string, string];
    const url = path.replace(':account', by.account).replaceAll(/:\w+/g, by.userId);
    const sample = rightBodies[name] ?? (body ? sampleOf(body) : {});
    const reply = await by.sendUnconfirmed(method, url, { body: sample });
    assert.deepEqual([reply.status, reply.error.code], [403, 'confirmation_required'], reply.text);
    const wrong = { ...sample, password: 'not the password' };
    const guessed = await by.sendUnconfirmed(method, url, { body: wrong });
    assert.deepEqual([guessed.status, guessed.error.param], [400, 'password'], guessed.text);
  });
}

test('a session of an operator alone makes neither an admin key nor a reset link', async () => {
  const by = await operator();
  const refused = await assertNoneMade(() => makeKey(by), 'confirmation_required');
  const ways = { password: true, code: false, passkey: false, provider: null };
  assert.deepEqual(refused.error.details, ways);
  const links = () => gateway.database.read.selectFrom('sign_in_links').select('user_id').execute();
  for (const { userId } of [by, await operator(), await signIn(gateway)]) {
    const path = `/operator/users/${userId}/reset-link`;
    const reply = await by.sendUnconfirmed('POST', path, { body: {} });
    assert.equal(reply.error.code, 'confirmation_required');
    assert.ok(!(await links()).some((link) => link.user_id === userId));
    await ok(by.sendUnconfirmed('POST', path, { body: { password } }));
  }
});

test('a wrong setting is named before the password is asked for', async () => {
  const by = await operator();
  const change = { path: ['pricing', 'markup'], value: -1 };
  const sent = { body: { version: 0, changes: [change], password: 'not the password' } };
  const refused = await by.sendUnconfirmed('PATCH', '/operator/settings/saved', sent);
  assert.deepEqual([refused.status, refused.error.param], [400, 'pricing.markup'], refused.text);
});

test('a provider is tried without a password only where the gateway goes already', async () => {
  const by = await operator();
  const address = `${gateway.upstream.url}/v1`;
  const count = () => gateway.upstream.requests.length;
  const tryIt = (changes: object[], more: object = {}, provider = 'own') =>
    by.sendUnconfirmed('POST', '/operator/settings/test-provider', {
      body: { provider, changes, ...more },
    });
  const own = (url: string, key = 'none') => ({
    path: ['providers', 'own'],
    value: { kind: 'openai-compatible', base_url: url, api_key: key },
  });
  const further = { path: ['providers', 'more'], value: { credential_of: 'own', api_key: 'k' } };
  const earlier = count();
  for (const reply of [
    await tryIt([own(address)]),
    await tryIt([own(address), further], {}, 'more'),
  ])
    assert.equal(reply.error.code, 'confirmation_required', reply.text);
  assert.equal(count(), earlier);
  await ok(tryIt([own(address)], { password }));
  assert.ok(count() > earlier);
  const saved = { version: 0, changes: [own(address)], password };
  await ok(by.sendUnconfirmed('PATCH', '/operator/settings/saved', { body: saved }));
  await ok(tryIt([]));
  await ok(tryIt([further], {}, 'more'));
  assert.equal((await tryIt([own(`${address}/x`, 'another')])).error.code, 'confirmation_required');
  // Its own address, which nobody has chosen.
  await ok(tryIt([{ path: ['providers', 'vllm'], value: {} }], {}, 'vllm'));
});

test('the password confirms, and with a second factor a code beside it', async () => {
  const by = await operator();
  assert.equal((await makeKey(by, { password })).status, 200);
  await assertNoneMade(() => makeKey(by, { password: '' }), 'invalid_request', 'password');
  const { app, backupCodes } = await enrol(by, password);
  const refused = await assertNoneMade(() => makeKey(by), 'confirmation_required');
  assert.partialDeepStrictEqual(refused.error.details, { password: true, code: true });
  await assertNoneMade(() => makeKey(by, { password }), 'invalid_request', 'code');
  await assertNoneMade(() => makeKey(by, { password, code: '000000' }), 'invalid_request', 'code');
  const code = app.nextCode();
  await assertNoneMade(() => makeKey(by, { code }), 'confirmation_required');
  assert.equal((await makeKey(by, { password, code })).status, 200);
  await assertNoneMade(() => makeKey(by, { password, code }), 'invalid_request', 'code');
  assert.equal((await makeKey(by, { password, code: backupCodes[0] })).status, 200);
});

test('guesses of the password are counted', async () => {
  const by = await operator();
  const guess = () => makeKey(by, { password: 'not the password' });
  for (let index = 0; index < 10; index++) assert.equal((await guess()).status, 400);
  assert.equal((await makeKey(by, { password })).error.code, 'rate_limit_exceeded');
});

test('a passkey of the user confirms once; one of another user does not', async () => {
  const [by, other] = [await operator(), await operator()];
  const [device, others] = [await addPasskey(by), await addPasskey(other)];
  const answer = await signed(by, device);
  assert.equal((await makeKey(by, answer)).status, 200);
  await assertNoneMade(() => makeKey(by, answer), 'invalid_request', 'passkey');
  const foreign = await signed(by, others);
  await assertNoneMade(() => makeKey(by, foreign), 'invalid_request', 'passkey');
  const elsewhere = await signed(visitor(gateway), device);
  await assertNoneMade(() => makeKey(by, elsewhere), 'invalid_request', 'passkey');
  const refused = await assertNoneMade(() => makeKey(by), 'confirmation_required');
  assert.partialDeepStrictEqual(refused.error.details, { passkey: true });
});

test('the proof of a fresh sign-in counts once, in its session, for ten minutes', async () => {
  const [by, other] = [await operator(), await operator()];
  const sessionOf = async (client: DashboardClient) =>
    (await client.get('/profile/sessions')).json<{ data: [{ id: string }] }>().data[0].id;
  const secrets = loadSecrets(gateway.program.env, gateway.program.dataDir, { isShared: false });
  const proofFor = (purpose: string) =>
    `tollgate.confirmed=${new Challenges(secrets).make(purpose, clock.nowMs())}`;
  const id = await sessionOf(by);
  const proof = proofFor(`signed in at the provider ${id}`);
  const refuses = (client: DashboardClient, cookie: string) =>
    assertNoneMade(() => makeKey(client, {}, cookie), 'confirmation_required');
  await refuses(other, proof);
  // What a client can ask for: challenges of passkeys, for a sign-in or for an addition.
  await refuses(by, proofFor(`add ${id}`));
  await refuses(by, proofFor(`sign-in ${id}`));
  await refuses(by, 'tollgate.confirmed=');
  assert.equal((await makeKey(by, {}, proof)).status, 200);
  await refuses(by, proof);
  const late = proofFor(`signed in at the provider ${id}`);
  await clock.advance(challengeLifetimeMs);
  await refuses(by, late);
});

test('a user without a password is told how to confirm', async () => {
  const by = await signIn(gateway, { operator: true });
  const refused = await assertNoneMade(() => makeKey(by), 'confirmation_required');
  assert.partialDeepStrictEqual(refused.error.details, { password: false, passkey: false });
  await assertNoneMade(() => makeKey(by, { password }), 'conflict');
});
