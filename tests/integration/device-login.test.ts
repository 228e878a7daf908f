// A program on another machine gets a key by OAuth's device flow, as `claude /login` does: what it and
// the user see, and what an attacker tries.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test, testOn } from '../support/both-stores.ts';
import { columnOf } from '../support/column-of.ts';
import { type DashboardClient, quickHash, signIn } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonOf, ok } from '../support/http.ts';
import fc from '../support/property.ts';
import { TestClock } from '../support/test-clock.ts';
import { setRows } from '../support/rows.ts';
import { untilNoticed } from '../support/until.ts';

beforeEach(async () => {
  // Each user has so many tries in a quarter of an hour.
  owner = await signIn(gateway, { role: 'owner' });
});

const grant = 'urn:ietf:params:oauth:grant-type:device_code';
const userAgent = 'claude-code/2.1.329 (external, cli)';
const minuteMs = 60_000;

let clock: TestClock;
let gateway: TestGateway;
let owner: DashboardClient;

before(async () => {
  clock = new TestClock();
  gateway = await startGateway({ server: { trust_proxy: true } }, { clock });
});
after(() => gateway.stop());

let machines = 0;
/** Each machine has its own address, so that they do not share a rate limit. */
const nextMachine = () => `198.51.${100 + Math.floor(++machines / 250)}.${machines % 250}`;

type Codes = {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
};

function post(path: string, form: Record<string, string>, from: string, agent = userAgent) {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'user-agent': agent, 'x-forwarded-for': from },
    body: new URLSearchParams(form),
  });
}

const errorOf = async (response: Response) => ((await response.json()) as { error: string }).error;

async function begin(from = nextMachine(), agent?: string): Promise<Codes> {
  const response = await post('/oauth/device_authorization', { surface: 'x' }, from, agent);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  return JSON.parse(text) as Codes;
}

async function poll({ device_code: code }: Pick<Codes, 'device_code'>, from = nextMachine()) {
  const response = await post('/oauth/token', { grant_type: grant, device_code: code }, from);
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, error: body['error'], body };
}

/** What the owner's account has there. */
const rowsAt = async (path: string) =>
  (
    await jsonOf<{ data: Record<string, unknown>[] }>(
      owner.get(`/accounts/${owner.account}${path}`),
    )
  ).data;
const find = (by: DashboardClient, { user_code }: Codes) =>
  by.post('/device-logins/find', { user_code });
const confirm = (by: DashboardClient, { user_code }: Codes, name = 'Laptop') =>
  by.post(`/accounts/${by.account}/device-logins`, { user_code, name });

test('a program gets a key that a user confirms, and the key ends when it is revoked', async () => {
  const metadata = await gateway.get('/.well-known/oauth-authorization-server');
  assert.deepEqual(metadata.json(), {
    issuer: gateway.url,
    device_authorization_endpoint: `${gateway.url}/oauth/device_authorization`,
    token_endpoint: `${gateway.url}/oauth/token`,
    revocation_endpoint: `${gateway.url}/oauth/revoke`,
    grant_types_supported: [grant],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
  });
  const machine = nextMachine();
  const codes = await begin(machine);
  assert.match(codes.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  const complete = `${gateway.url}/device?user_code=${codes.user_code}`;
  assert.equal(codes.verification_uri_complete, complete);
  assert.deepEqual([codes.expires_in, codes.interval], [600, 5]);
  assert.partialDeepStrictEqual(await poll(codes), { status: 400, error: 'authorization_pending' });

  const shown = (await find(owner, codes)).json();
  assert.equal(shown['program'], 'Claude Code 2.1.329');
  assert.deepEqual([shown['address'], shown['is_same_address']], [machine, false]);
  const confirmed = await confirm(owner, codes, 'Claude Code at home');
  assert.equal(confirmed.status, 200, confirmed.text);

  const { status, body } = await poll(codes, machine);
  assert.equal(status, 200);
  const { access_token: key, ...rest } = body;
  const lifetime = 90 * 24 * 60 * 60;
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: lifetime, email: owner.email });
  assert.equal((await gateway.get('/v1/balance', { key: String(key) })).status, 200);
  const [made] = await rowsAt('/keys?mode=live');
  assert.equal(made!['name'], 'Claude Code at home');
  assert.equal(Date.parse(String(made!['expires_at'])), clock.nowMs() + lifetime * 1_000);
  assert.partialDeepStrictEqual(made!['owner'], { user_id: owner.userId });

  const rows = await rowsAt('/audit-log');
  const row = rows.find(({ subject }) => subject === made!['id'])!;
  assert.equal(row['action'], 'key.create');
  assert.doesNotMatch(JSON.stringify(rows), new RegExp(String(key)));

  await owner.post(`/accounts/${owner.account}/keys/${String(made!['id'])}/revoke`, {});
  await untilNoticed(clock, async () => {
    const reply = await gateway.get('/v1/balance', { key: String(key) });
    return reply.status === 401 && reply.headers['x-should-retry'] === 'false';
  });
});

const works = async (key: string) => (await gateway.get('/v1/balance', { key })).status === 200;

async function signedIn(): Promise<string> {
  const codes = await begin();
  assert.equal((await confirm(owner, codes, 'Laptop')).status, 200);
  return String((await poll(codes)).body['access_token']);
}

test('a program that signs out revokes its key, and nobody else’s', async () => {
  const [key, other] = [await signedIn(), await signedIn()];
  const { key: shared } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const { key: ofTests } = await gateway.makeKey();
  const wrong = `tg_live_signin${key.slice(14, -1)}${key.endsWith('0') ? '1' : '0'}`;
  for (const token of [shared, ofTests, wrong, 'x', 'x'.repeat(9_000), key, key]) {
    const reply = await post('/oauth/revoke', { token }, '192.0.2.9');
    assert.deepEqual([reply.status, await reply.text()], [200, '{}']);
  }
  assert.equal((await post('/oauth/revoke', {}, nextMachine())).status, 400);
  await untilNoticed(clock, async () => !(await works(key)));
  for (const untouched of [other, shared, ofTests]) assert.ok(await works(untouched));
  const ends = (await rowsAt('/audit-log')).filter(({ action }) => action === 'key.revoke');
  const actor = { kind: 'service', id: 'sign-out', name: 'Sign-out', address: '192.0.2.9' };
  assert.deepEqual(columnOf(ends, 'actor'), [actor]);
});

test('a key that was rotated is no program’s any more: its earlier text cannot end it', async () => {
  const key = await signedIn();
  const [made] = await rowsAt('/keys?mode=live');
  const path = `/accounts/${owner.account}/keys/${String(made!['id'])}/rotate`;
  const { secret } = await jsonOf<{ secret: string }>(owner.post(path, { overlap_hours: 24 }));
  for (const token of [key, secret])
    assert.equal((await post('/oauth/revoke', { token }, nextMachine())).status, 200);
  await clock.advance(5_000);
  assert.ok(await works(secret));
});

testOn('sqlite', 'sign-outs are limited by address with the polls', async () => {
  const from = nextMachine();
  const statuses: number[] = [];
  for (let times = 0; times < 241; times++)
    statuses.push((await post('/oauth/revoke', { token: 'x' }, from)).status);
  assert.deepEqual([statuses.indexOf(429), statuses.length], [240, 241]);
});

test('a code works once, for whoever asks first, and is not a key itself', async () => {
  const codes = await begin();
  await confirm(owner, codes);
  const polls = await Promise.all(Array.from({ length: 8 }, () => poll(codes)));
  const errors = polls.filter(({ status }) => status !== 200).map(({ error }) => error);
  assert.deepEqual([errors.length, new Set(errors)], [7, new Set(['expired_token'])]);
  assert.equal((await poll(codes)).error, 'expired_token');
  assert.equal((await find(owner, codes)).status, 404, 'the short code is used up, too');
  const messages = endpoint('messages');
  assert.equal((await gateway.ask(messages, codes.device_code)).status, 401);
});

test('of two users who decide at once, one does', async () => {
  const other = await signIn(gateway, { role: 'owner' });
  for (let round = 0; round < 5; round++) {
    const codes = await begin();
    const [one, two] = await Promise.all([confirm(owner, codes), confirm(other, codes)]);
    assert.deepEqual(new Set([one.status, two.status]), new Set([200, 404]));
    const { body } = await poll(codes);
    assert.equal(body['email'], one.status === 200 ? owner.email : other.email);
  }
});

test('a refused program is told so, and cannot be confirmed afterwards', async () => {
  const codes = await begin();
  const denied = await owner.post('/device-logins/deny', { user_code: codes.user_code });
  assert.equal(denied.status, 200, denied.text);
  assert.equal((await poll(codes)).error, 'access_denied');
  assert.equal((await confirm(owner, codes)).status, 404);
  assert.equal((await poll(codes)).error, 'access_denied');
});

test('codes end after ten minutes, confirmed or not', async () => {
  const [open, confirmed] = [await begin(), await begin()];
  await confirm(owner, confirmed);
  clock.jumpTo(clock.nowMs() + 10 * minuteMs);
  assert.equal((await poll(open)).error, 'expired_token');
  assert.equal((await poll(confirmed)).error, 'expired_token');
  assert.equal((await confirm(owner, open)).status, 404);
  const left = gateway.database.read.selectFrom('device_logins').select('address');
  await begin();
  assert.equal((await left.execute()).length, 1, 'what has ended is removed');
});

test('only who may make keys can confirm, also when the right was lost before the key was made', async () => {
  const admin = await signIn(gateway, { account: owner.account, role: 'admin' });
  for (const role of ['member', 'viewer'] as const) {
    const by = await signIn(gateway, { account: owner.account, role });
    const codes = await begin();
    assert.equal((await confirm(by, codes)).status, 403, role);
    assert.equal((await poll(codes)).error, 'authorization_pending');
  }
  const stranger = await signIn(gateway, { role: 'owner' });
  const codes = await begin();
  const body = { user_code: codes.user_code, name: 'x' };
  const reply = await stranger.post(`/accounts/${owner.account}/device-logins`, body);
  assert.equal(reply.status, 404);
  assert.equal((await confirm(admin, codes)).status, 200);
  await ok(owner.patch(`/accounts/${owner.account}/members/${admin.userId}`, { role: 'viewer' }));
  assert.equal((await poll(codes)).error, 'access_denied');
});

test('a confirmed program gets no key when the account wants a second factor, or the session was ended, since', async () => {
  const passwordHash = quickHash('a password of hers');
  const admin = await signIn(gateway, { account: owner.account, passwordHash, role: 'admin' });
  const codes = await begin();
  assert.equal((await confirm(admin, codes)).status, 200);
  const requires = (requires_second_factor: 0 | 1) =>
    setRows(gateway.database, 'accounts', { id: owner.account }, { requires_second_factor });
  await requires(1);
  assert.equal((await poll(codes)).error, 'access_denied');
  await requires(0);
  const later = await begin();
  assert.equal((await confirm(admin, later)).status, 200);
  const [{ id }] = (await admin.get('/profile/sessions')).json<{ data: [{ id: string }] }>().data;
  assert.equal((await admin.delete(`/profile/sessions/${id}`)).status, 200);
  assert.equal((await poll(later)).error, 'expired_token');
});

testOn('sqlite', 'without session or name, or from elsewhere, nothing is confirmed', async () => {
  const codes = await begin();
  const path = `/accounts/${owner.account}/device-logins`;
  const body = { user_code: codes.user_code, name: 'x' };
  const send = (headers: Record<string, string>) => owner.send('POST', path, { body, headers });
  assert.equal((await send({ origin: 'https://evil.example' })).status, 403);
  const form = await send({ 'content-type': 'application/x-www-form-urlencoded' });
  assert.equal(form.status, 415);
  assert.equal((await owner.post(path, { ...body, name: ' \u200B' })).status, 400);
  const nobody = await gateway.post(`/dashboard-api${path}`, { body });
  assert.equal(nobody.status, 401);
  assert.equal((await poll(codes)).error, 'authorization_pending');
});

testOn('sqlite', 'guesses at a code are few, and one’s own right code adds none', async () => {
  const guesser = await signIn(gateway, { role: 'owner' });
  const own = await begin();
  const statuses: number[] = [];
  for (let guess = 0; guess < 12; guess++) {
    const code = guess % 2 === 0 ? own.user_code : 'BBBB-BBBB';
    statuses.push((await guesser.post('/device-logins/find', { user_code: code })).status);
  }
  assert.deepEqual(statuses, [200, 404, 200, 404, 200, 404, 200, 404, 200, 404, 429, 429]);
  // Confirming counts with them: it would tell as much.
  assert.equal((await confirm(guesser, own)).status, 429);
  assert.equal((await find(owner, own)).status, 200, 'others are not affected');
});

testOn('sqlite', 'programs that ask are limited by address, and in all', async () => {
  const from = nextMachine();
  for (let times = 0; times < 20; times++) await begin(from);
  const refused = await post('/oauth/device_authorization', {}, from);
  assert.deepEqual([refused.status, await errorOf(refused)], [429, 'slow_down']);
  const waiting = Array.from({ length: 1_000 }, (_, index) => ({
    device_digest: `d${index}`,
    user_digest: `u${index}`,
    program: 'x',
    address: '203.0.113.1',
    expires_at_ms: clock.nowMs() + minuteMs + index,
  }));
  const earlier = await begin();
  await gateway.database.write.insertInto('device_logins').values(waiting).execute();
  const codes = await begin();
  const left = await gateway.database.read
    .selectFrom('device_logins')
    .select('device_digest')
    .where('address', '=', waiting[0]!.address)
    .execute();
  assert.ok(left.length < 1_000, 'one that waits longest, of the address with most, has made room');
  assert.deepEqual(
    left.map((row) => row.device_digest),
    waiting.slice(-left.length).map((row) => row.device_digest),
  );
  for (const other of [earlier, codes])
    assert.equal((await poll(other)).error, 'authorization_pending');
});

testOn('sqlite', 'a program cannot call itself anything that a user trusts', async () => {
  const names = {
    'claude-code/2.1.0': 'Claude Code 2.1.0',
    'Your own laptop, all is well': 'A program',
    'claude-code/1<b>': 'Claude Code 1',
    'claude-code/x': 'A program',
    'claude-code/1.0 (a text)': 'Claude Code 1.0',
  };
  for (const [agent, program] of Object.entries(names)) {
    const codes = await begin(nextMachine(), agent);
    assert.equal((await find(owner, codes)).json<{ program: string }>().program, program);
  }
});

testOn('sqlite', 'malformed requests are errors of OAuth, and no code is kept plain', async () => {
  const path = '/oauth/token';
  const cases: [Record<string, string>, number, string][] = [
    [{}, 400, 'unsupported_grant_type'],
    [{ grant_type: grant }, 400, 'invalid_request'],
    [{ grant_type: grant, device_code: 'x'.repeat(9_000) }, 400, 'expired_token'],
    [{ grant_type: 'refresh_token', refresh_token: 'x' }, 401, 'invalid_grant'],
  ];
  for (const [form, status, error] of cases) {
    const response = await post(path, form, nextMachine());
    assert.deepEqual([response.status, await errorOf(response)], [status, error]);
  }
  assert.equal((await post(path, { x: 'y'.repeat(20_000) }, nextMachine())).status, 413);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      const response = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'x-forwarded-for': nextMachine() },
        body: new Uint8Array(bytes),
      });
      assert.equal(response.status, 400);
      await response.text();
    }),
    { numRuns: 30 },
  );
  const codes = await begin();
  const rows = await gateway.database.read.selectFrom('device_logins').selectAll().execute();
  const stored = JSON.stringify(rows);
  for (const code of [codes.device_code, codes.user_code, codes.user_code.replace('-', '')])
    assert.ok(!stored.includes(code));
});
