// Sign-in to the dashboard, from the first link to the end of the last session.
import assert from 'node:assert/strict';
import { hashPassword } from '../../src/domain/users/password.ts';
import { after, before, test, testOn } from '../support/both-stores.ts';
import {
  type DashboardClient,
  quickHash,
  signIn,
  statusesOf,
  tokenOf,
  visitor,
} from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { rowOf, rowsOf, setRows } from '../support/rows.ts';
import { jsonOf, ok, type Reply } from '../support/http.ts';

const password = 'correct horse battery';
const newPassword = 'staple battery horse';
const change = { current_password: password, new_password: newPassword };
const passwordHash = quickHash(password);
let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ server: { trust_proxy: true } });
});
after(() => gateway.stop());

function attempt(body: object, client: DashboardClient = visitor(gateway)): Promise<Reply> {
  return client.post('/auth/sign-in', body);
}

async function signedIn(email: string): Promise<DashboardClient> {
  const client = visitor(gateway);
  const reply = await attempt({ email, password }, client);
  assert.deepEqual([reply.status, reply.json()], [200, { next: 'done' }], reply.text);
  return client;
}

const nameOf = async (client: DashboardClient) =>
  (await client.get('/session')).json<{ user: { email: string } | null }>().user?.email ?? null;

const resetToken = async (email: string) =>
  tokenOf(await gateway.program.cli<{ link: string }>('users', 'reset-password', email));

test('of several people who open first-start links at once, one becomes operator and owner', async () => {
  const firstToken = gateway.program.firstRunToken!;
  const linked = await gateway.program.cli<{ link: string }>('users', 'first-run-link');
  const tokens = [firstToken, tokenOf(linked), firstToken];
  const visitors = tokens.map(() => visitor(gateway));
  assert.deepEqual((await visitors[0]!.post('/auth/link', { token: firstToken })).json(), {
    kind: 'first-run',
    email: null,
  });
  const replies = await Promise.all(
    tokens.map((token, index) =>
      visitors[index]!.post('/auth/first-run', {
        token,
        name: 'Ada',
        email: `Ada${index}@Example.com`,
        password,
      }),
    ),
  );
  assert.deepEqual(statusesOf(replies), [200, 404, 404]);
  const winner = visitors[replies.findIndex(({ status }) => status === 200)]!;
  const session = (await winner.get('/session')).json<{ user: object; accounts: object[] }>();
  assert.partialDeepStrictEqual(session, {
    user: { is_operator: true },
    accounts: [{ name: 'Default', role: 'owner' }],
  });

  for (const token of tokens)
    assert.equal((await visitor(gateway).post('/auth/link', { token })).status, 404);
  await assert.rejects(gateway.program.cli('users', 'first-run-link'), /there are users already/);
});

testOn('sqlite', 'a link is checked before the password', async () => {
  const body = { token: 'x', name: 'Eve', email: 'eve@example.com', password: 'short' };
  assert.equal((await visitor(gateway).post('/auth/first-run', body)).status, 404);
});

testOn('sqlite', 'an unknown address and a wrong password get the same answer', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  const { email: withoutPassword } = await signIn(gateway);
  const bodies = [
    { email, password: 'a wrong password' },
    { email: 'nobody@example.com', password },
    { email: withoutPassword, password },
    { email: 'no address', password },
    { email, password: 'x'.repeat(900) },
  ];
  const replies = await Promise.all(bodies.map((body) => attempt(body)));
  const answers = replies.map((reply) => ({
    ...reply.error,
    request_id: undefined,
    instance: undefined,
    status: reply.status,
    cookies: reply.headers['set-cookie'],
  }));
  assert.equal(answers[0]!.status, 401);
  assert.equal(answers[0]!.code, 'sign_in_failed');
  for (const one of answers) assert.deepEqual(one, answers[0]);
});

test('a sign-in ignores the case of the address, and sets a cookie that scripts cannot read', async () => {
  const { email, userId } = await signIn(gateway, { passwordHash: await hashPassword(password) });
  const reply = await attempt({ email: ` ${email.toUpperCase()} `, password });
  const [cookie] = reply.headers['set-cookie']!;
  assert.match(
    cookie!,
    /^tollgate\.session_token=[^;]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  assert.deepEqual(Object.keys(reply.json()), ['next']);

  const rows = await rowsOf(gateway.database, 'user_sessions', { user_id: userId });
  for (const { token } of rows)
    assert.ok(!decodeURIComponent(cookie!).includes(token), 'the database has what the cookie has');
  const credential = await rowOf(gateway.database, 'user_credentials', { user_id: userId });
  assert.match(credential.password!, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

testOn('sqlite', 'over https the cookie is bound to the host', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  const headers = { 'x-forwarded-proto': 'https', origin: gateway.url.replace('http:', 'https:') };
  const body = { email, password };
  const reply = await visitor(gateway).send('POST', '/auth/sign-in', { body, headers });
  const [cookie] = reply.headers['set-cookie']!;
  assert.match(
    cookie!,
    /^__Host-tollgate\.session_token=[^;]+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  const device = reply.headers['set-cookie']!.find((line) => line.includes('device'));
  assert.match(
    device!,
    /^__Host-tollgate\.device=[^;]+; Max-Age=34560000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
});

const wrongTry = (email: string, client = visitor(gateway)) =>
  attempt({ email, password: 'a wrong password' }, client);
const wrongTries = (email: string, count: number, client = () => visitor(gateway)) =>
  Promise.all(Array.from({ length: count }, () => wrongTry(email, client())));

test('ten tries in fifteen minutes are allowed for a user, from all addresses together; then they must wait', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  const wrong = await wrongTries(email, 14);
  assert.equal(wrong.filter(({ status }) => status === 401).length, 10);
  const blocked = await attempt({ email, password });
  assert.equal(blocked.status, 429);
  assert.equal(blocked.error.code, 'rate_limit_exceeded');
  const seconds = Number(blocked.headers['retry-after']);
  assert.ok(seconds > 0 && seconds <= 30, String(seconds));
  assert.equal((await attempt({ email: `other-${email}`, password })).status, 401);

  const over = { blocked_until_ms: gateway.program.clock.nowMs() };
  await setRows(gateway.database, 'attempts', {}, over);
  await signedIn(email);
  assert.equal((await wrongTry(email)).status, 401, 'a success does not begin anew');
});

testOn('sqlite', 'wrong passwords elsewhere do not lock out a known browser', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  const user = await signedIn(email);
  await user.post('/auth/sign-out');
  await wrongTries(email, 14);
  const byStranger = async () => (await attempt({ email, password })).status;
  assert.equal(await byStranger(), 429, 'a stranger’s browser does not wait');
  assert.equal((await wrongTry(email, user)).status, 401);
  assert.deepEqual(await jsonOf(attempt({ email, password }, user)), { next: 'done' });
  assert.equal(await byStranger(), 429, 'his success lets strangers begin anew');
});

testOn('sqlite', 'a known browser gets no extra guesses, and none for other users', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  const { email: otherEmail } = await signIn(gateway, { passwordHash });
  const user = await signedIn(email);
  const cookie = user.cookie;
  const replies = await wrongTries(email, 14, () => user);
  assert.equal(replies.filter(({ status }) => status === 401).length, 10);
  assert.equal((await attempt({ email, password }, user)).status, 429);

  await wrongTries(otherEmail, 14);
  const device = cookie.split('; ').find((pair) => pair.startsWith('tollgate.device='))!;
  const [userId, name, signature] = device.slice('tollgate.device='.length).split('.') as [
    string,
    string,
    string,
  ];
  const { userId: otherId } = await signIn(gateway, {});
  const forgeries = [
    device,
    `tollgate.device=${otherId}.${name}.${signature}`,
    `tollgate.device=${userId}.${name}.${'A'.repeat(43)}`,
  ];
  for (const forged of forgeries) {
    const thief = visitor(gateway);
    thief.cookie = forged;
    assert.equal((await attempt({ email: otherEmail, password }, thief)).status, 429, forged);
  }
});

test('a new password forgets all known browsers except the one that set it', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  const [thief, user] = [await signedIn(email), await signedIn(email)];
  await wrongTries(email, 14);
  await ok(user.post('/profile/password', change));
  assert.equal((await wrongTry(email, thief)).status, 429);
  assert.equal((await attempt({ email, password: newPassword }, user)).status, 200);
});

test('a password reset lets the user in while someone else keeps guessing', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  const token = await resetToken(email);
  const user = visitor(gateway);
  await ok(user.post('/auth/password-reset/complete', { token, password: newPassword }));
  await wrongTries(email, 14);
  assert.equal((await attempt({ email, password: newPassword }, user)).status, 200);
});

testOn('sqlite', 'guesses in a stolen session do not lock the user out', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  const [stolen, own] = [await signedIn(email), await signedIn(email)];
  const wrong = { ...change, current_password: 'a wrong password' };
  const guesses = Array.from({ length: 14 }, () => stolen.post('/profile/password', wrong));
  assert.equal((await Promise.all(guesses)).filter(({ status }) => status === 400).length, 10);
  assert.equal((await stolen.post('/profile/password', change)).status, 429);
  await ok(own.post('/profile/password', change));
});

testOn('sqlite', 'one address cannot try without limit, whichever users it targets', async () => {
  const client = visitor(gateway);
  const tries = Array.from({ length: 80 }, (_, index) =>
    client.send('POST', '/auth/link', {
      body: { token: `t${index}` },
      headers: { 'x-forwarded-for': '10.8.0.1' },
    }),
  );
  assert.deepEqual([...new Set(statusesOf(await Promise.all(tries)))], [404, 429]);
});

testOn('sqlite', 'a page of another site cannot sign anybody in or out', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }]) {
    const body = { email, password };
    const reply = await visitor(gateway).send('POST', '/auth/sign-in', { body, headers });
    assert.deepEqual([reply.status, reply.error.code], [403, 'not_permitted']);
    assert.match(reply.error.message, /set `server\.public_url` to its address/);
  }
});

testOn('sqlite', 'a sign-in creates a new session, whatever cookie the browser sent', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  const attacker = await signIn(gateway, { passwordHash });
  const planted = attacker.cookie;
  const victim = visitor(gateway);
  victim.cookie = planted;
  await attempt({ email, password }, victim);
  assert.notEqual(victim.cookie, planted);
  assert.equal(await nameOf(victim), email);
  attacker.cookie = planted;
  assert.notEqual(await nameOf(attacker), email);
});

testOn('sqlite', 'a changed or unsigned cookie is ignored', async () => {
  const user = await signIn(gateway);
  const [name, value] = user.cookie.split('=') as [string, string];
  const token = decodeURIComponent(value).split('.')[0]!;
  for (const forged of [token, `${token}.AAAA`, `x${value}`, '']) {
    const other = visitor(gateway);
    other.cookie = `${name}=${forged}`;
    assert.equal((await other.get('/profile')).status, 401);
  }
});

test('sessions are listed, and an ended session stops working at once', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  const [one, other] = [await signedIn(email), await signedIn(email)];
  type List = { data: { id: string; current: boolean; address: string }[] };
  const { data } = (await one.get('/profile/sessions')).json<List>();
  assert.equal(data.length, 3);
  assert.equal(data.filter(({ current }) => current).length, 1);
  assert.match(data[0]!.address, /^10\./);

  const [theirs] = (await other.get('/profile/sessions'))
    .json<List>()
    .data.filter(({ current }) => current);
  await ok(one.delete(`/profile/sessions/${theirs!.id}`));
  assert.equal((await other.get('/profile')).status, 401);
  assert.equal(await nameOf(one), email);

  const stranger = await signIn(gateway);
  const mine = data.find(({ current }) => current)!;
  assert.equal((await stranger.delete(`/profile/sessions/${mine.id}`)).status, 404);

  const third = await signedIn(email);
  await ok(third.post('/profile/sessions/revoke-others'));
  assert.equal((await one.get('/profile')).status, 401);
  assert.equal(await nameOf(third), email);
});

test('signing out ends the session, not only the cookie', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  const user = await signedIn(email);
  const { cookie } = user;
  await user.post('/auth/sign-out');
  assert.ok(!user.cookie.includes('session_token'), user.cookie);
  user.cookie = cookie;
  assert.equal((await user.get('/profile')).status, 401);
});

test('a new password needs the old one, and ends all other sessions', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  const [one, other] = [await signedIn(email), await signedIn(email)];
  for (const [param, wrong] of [
    ['current_password', 'a wrong password'],
    ...['short', 'x'.repeat(257), 'aaaaaaaaaaaa', email].map((bad) => ['new_password', bad]),
  ] as [string, string][]) {
    const refused = await one.post('/profile/password', { ...change, [param]: wrong });
    assert.deepEqual([refused.status, refused.error.param], [400, param], wrong);
  }
  const { cookie } = one;
  await ok(one.post('/profile/password', change));
  assert.notEqual(one.cookie, cookie);
  assert.equal(await nameOf(one), email);
  assert.equal((await other.get('/profile')).status, 401);
  one.cookie = cookie;
  assert.equal((await one.get('/profile')).status, 401);
  assert.equal((await attempt({ email, password })).status, 401);
  assert.equal((await attempt({ email, password: newPassword })).status, 200);
});

test('a session ends after seven days, and is renewed after one', async () => {
  const user = await signIn(gateway);
  const day = 24 * 60 * 60_000;
  const expireIn = (ms: number) => {
    const expires_at = new Date(Date.now() + ms).toISOString();
    return setRows(gateway.database, 'user_sessions', { user_id: user.userId }, { expires_at });
  };
  assert.equal((await user.get('/profile')).headers['set-cookie'], undefined);
  await expireIn(5.9 * day);
  const renewed = await user.get('/profile');
  assert.match(renewed.headers['set-cookie']![0]!, /session_token=[^;]+; Max-Age=604800/);
  assert.equal((await user.get('/profile')).headers['set-cookie'], undefined);
  await expireIn(-1);
  assert.equal((await user.get('/profile')).status, 401);
});

testOn('sqlite', "sign-up is closed, and the library's unused endpoints do not exist", async () => {
  const eve = { name: 'Eve', email: 'eve@example.com', password };
  const reply = await visitor(gateway).post('/auth/sign-up', eve);
  assert.deepEqual([reply.status, reply.error.code], [403, 'not_permitted']);
  for (const path of 'sign-in/email sign-up/email update-user list-sessions ok oidc'.split(' '))
    assert.equal((await visitor(gateway).post(`/auth/${path}`, {})).status, 404, path);
  assert.equal((await visitor(gateway).get('/auth/callback/oidc?code=x&state=y')).status, 404);
});

test('an operator creates links to reset a password and to invite users', async () => {
  const { email } = await signIn(gateway, { passwordHash });
  const token = await resetToken(email);
  assert.deepEqual((await visitor(gateway).post('/auth/link', { token })).json(), {
    kind: 'password-reset',
    email,
  });

  type Made = { link: string; account_id: string };
  const made = await gateway.program.cli<Made>('users', 'create-link', 'new@example.com');
  const invitation = tokenOf(made);
  const newcomer = visitor(gateway);
  const info = await newcomer.post('/auth/invitation', { token: invitation });
  assert.partialDeepStrictEqual(info.json(), {
    email: 'new@example.com',
    role: 'owner',
    is_user: false,
    invited_by: null,
  });
  const asNew = { token: invitation, name: 'New', password };
  const accepted = await newcomer.post('/auth/invitation/accept', asNew);
  assert.deepEqual(accepted.json(), { account_id: made.account_id });
  assert.equal(await nameOf(newcomer), 'new@example.com');
  const users = await gateway.program.cli<{ email: string; accounts: object[] }[]>('users', 'list');
  const listed = users.find((user) => user.email === 'new@example.com');
  assert.deepEqual(listed?.accounts, [{ id: made.account_id, role: 'owner' }]);
});

test('a link stops working when it expires', async () => {
  const { userId } = await signIn(gateway);
  const operator = await signIn(gateway, { operator: true });
  const made = await operator.post(`/operator/users/${userId}/reset-link`);
  const expired = { expires_at_ms: gateway.program.clock.nowMs() - 1 };
  await setRows(gateway.database, 'sign_in_links', {}, expired);
  const asked = { token: tokenOf(made.json()), password };
  assert.equal((await visitor(gateway).post('/auth/password-reset/complete', asked)).status, 404);
});

testOn('sqlite', 'when users exist, a start prints no first-run link', async () => {
  await gateway.program.terminate();
  await gateway.program.start();
  assert.equal(gateway.program.firstRunToken, null);
});
