// Sign-in through a real OpenID Connect provider, whose statements about users the tests choose.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { Provider } from 'oidc-provider';
import { columnOf } from '../support/column-of.ts';
import { type DashboardClient, invite, signIn, visitor } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { actionsOf, rowsOf, setRows } from '../support/rows.ts';
import { ok, type Reply, send } from '../support/http.ts';
import { startMailbox, type Mailbox } from '../support/mailbox.ts';
import { TestClock } from '../support/test-clock.ts';
import { allRows, changedTables, whileRefusingAuditRows } from '../support/refused-audit.ts';

type Claims = {
  readonly email?: string;
  readonly email_verified?: unknown;
  readonly name?: string;
};

/** The provider's claims, by its user ids. */
const people = new Map<string, Claims>();
let listening: Server;
let mailbox: Mailbox;
let closed: TestGateway;
let open: TestGateway;
/** It trusts addresses. Its clock is ahead, so that each sign-in at the provider was a while ago. */
let ahead: TestGateway;
before(async () => {
  mailbox = await startMailbox();
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  listening = server;
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const oidc = { issuer, client_id: 'gate', client_secret: 'provider-secret', name: 'Acme' };
  const config = { server: { trust_proxy: true }, oidc };
  [closed, open, ahead] = await Promise.all([
    // Invited people are sent a link too.
    startGateway({ ...config, smtp: { url: mailbox.url, from: 'gate@example.com' } }),
    startGateway({ ...config, signup: { open: true, initial_credit_usd: 1 } }),
    startGateway(
      { ...config, oidc: { ...oidc, trust_email: true } },
      { clock: new TestClock(Date.now() + 30 * 60_000) },
    ),
  ]);
  const redirect_uris = columnOf([closed, open, ahead], 'url').map(
    (url) => `${url}/dashboard-api/auth/callback/oidc`,
  );
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'gate', client_secret: 'provider-secret', redirect_uris }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    findAccount: async (_context: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, ...people.get(id) }),
    }),
    features: { devInteractions: { enabled: true } },
  });
  server.on('request', provider.callback());
});
after(async () => {
  await Promise.all([closed.stop(), open.stop(), ahead.stop()]);
  await mailbox.close();
  listening.closeAllConnections();
  listening.close();
});

/**
 * Signs in at the provider, consents and returns. Returns the address that the browser is
 * redirected to.
 */
async function passThrough(client: DashboardClient, sub: string, next?: string): Promise<string> {
  return back(client, await callbackOf(client, sub, next));
}

async function callbackOf(client: DashboardClient, sub: string, next?: string): Promise<string> {
  return (await visitProvider(client, sub, { ...(next !== undefined && { next }) })).callback;
}

type Visit = {
  readonly next?: string;
  readonly fresh?: boolean;
  /** The browser's cookies of the provider, which may have a session there. */
  readonly jar?: Map<string, string>;
  /** Changes the address before the browser opens it. */
  readonly change?: (url: URL) => void;
};

/** Returns the address that the provider sends the browser to, and how often it asked for a sign-in. */
async function visitProvider(
  client: DashboardClient,
  sub: string,
  { jar = new Map(), change = () => {}, ...sent }: Visit,
): Promise<{ readonly callback: string; readonly logins: number }> {
  const started = await ok(client.post('/auth/oidc', sent));
  let logins = 0;
  const visit = async (url: string, body?: string): Promise<Reply> => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = {
      cookie,
      ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
    };
    const reply = await send(url, { headers, body, method: body === undefined ? 'GET' : 'POST' });
    for (const line of reply.headers['set-cookie'] ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      jar.set(name!, value!);
    }
    return reply;
  };
  const first = new URL(started.json<{ url: string }>().url);
  change(first);
  let url = first.href;
  const { origin } = first;
  for (let step = 0; step < 12; step++) {
    if (url.includes('/dashboard-api/auth/callback/oidc')) return { callback: url, logins };
    let reply = await visit(url);
    if (url.includes('/interaction/')) {
      const isLogin = reply.text.includes('name="login"');
      logins += isLogin ? 1 : 0;
      reply = await visit(url, isLogin ? `prompt=login&login=${sub}&password=x` : 'prompt=consent');
    }
    assert.ok(reply.headers.location, `${reply.status} ${reply.text}`);
    url = new URL(reply.headers.location, origin).href;
  }
  throw new Error('the provider never sent the browser back');
}

async function back(client: DashboardClient, callback: string): Promise<string> {
  const reply = await client.get(callback.slice(callback.indexOf('/auth/callback')));
  assert.equal(reply.status, 303, reply.text);
  return reply.headers.location!;
}

const nameOf = async (client: DashboardClient) =>
  (await client.get('/session')).json<{ user: { email: string } | null }>().user?.email ?? null;

let count = 0;
function person(claims: Claims = {}): { readonly sub: string; readonly email: string } {
  count += 1;
  const email = `person${count}@example.com`;
  const stated = { email: email.toUpperCase(), email_verified: true, name: `Person ${count}` };
  people.set(`sub${count}`, { ...stated, ...claims });
  return { sub: `sub${count}`, email };
}

test("an existing user is matched by the confirmed address first, then by the provider's user id", async () => {
  // Apple and Amazon Cognito state it as text.
  const { sub, email } = person({ email_verified: 'true' });
  const known = await signIn(closed, { email });
  const client = visitor(closed);
  assert.equal(await passThrough(client, sub, '/keys?mode=test'), '/keys?mode=test');
  assert.equal((await client.get('/profile')).json<{ id: string }>().id, known.userId);
  people.set(sub, { email: 'changed@example.com', email_verified: true });
  const later = visitor(closed);
  await passThrough(later, sub);
  assert.equal(await nameOf(later), email);
  const rows = await rowsOf(closed.database, 'user_credentials', { user_id: known.userId });
  for (const [name, value] of rows.flatMap((row) => Object.entries(row)))
    if (name.endsWith('token')) assert.equal(value, null);
});

test('an address that the provider has not verified signs nobody in', async () => {
  for (const [claims, error] of [
    [{ email_verified: false }, 'account_not_linked'],
    [{ email_verified: undefined }, 'account_not_linked'],
    [{ email_verified: 'false' }, 'account_not_linked'],
    [{ email: undefined }, 'email_not_verified'],
  ] as const) {
    const { sub, email } = person(claims);
    await signIn(closed, { email });
    const [client, stranger] = [visitor(closed), visitor(open)];
    const where = JSON.stringify(claims);
    assert.equal(await passThrough(client, sub), `/sign-in?error=${error}`, where);
    assert.equal(await passThrough(stranger, sub), '/sign-in?error=email_not_verified', where);
    for (const one of [client, stranger]) assert.equal(await nameOf(one), null);
  }
});

test('a trusted provider need not say that an address is verified, but may deny it', async () => {
  for (const [claims, path] of [
    [{ email_verified: undefined }, '/'],
    [{ email_verified: false }, '/sign-in?error=account_not_linked'],
  ] as const) {
    const { sub, email } = person(claims);
    await signIn(ahead, { email });
    const client = visitor(ahead);
    assert.equal(await passThrough(client, sub), path);
    assert.equal(await nameOf(client), path === '/' ? email : null);
  }
});

test('an address that was not confirmed here is not linked to the provider', async () => {
  const { sub, email } = person();
  await signIn(closed, { email });
  await setRows(closed.database, 'users', { email }, { email_verified: 0 });
  const client = visitor(closed);
  assert.equal(await passThrough(client, sub), '/sign-in?error=account_not_linked');
  assert.equal(await nameOf(client), null);
});

test("an address's owner does not sign in as a user whom an invitation created with it", async () => {
  const { sub, email } = person();
  const attacker = await signIn(closed);
  const { token } = await invite(attacker, email, 'owner');
  const password = 'correct horse battery';
  const squatter = visitor(closed);
  await ok(squatter.post('/auth/invitation/accept', { token, name: 'Eve', password }));
  const victim = visitor(closed);
  assert.equal(await passThrough(victim, sub), '/sign-in?error=account_not_linked');
  assert.equal(await nameOf(victim), null);
});

test('a new user gets in only when sign-up is open, with one account and one credit', async () => {
  const { sub, email } = person();
  const outside = visitor(closed);
  assert.equal(await passThrough(outside, sub), '/sign-in?error=signup_closed');
  assert.equal(await nameOf(outside), null);

  const clients = [visitor(open), visitor(open)];
  for (const client of clients) assert.equal(await passThrough(client, sub), '/');
  assert.equal(await nameOf(clients[1]!), email);
  type Session = { accounts: { id: string; role: string }[] };
  const { accounts } = (await clients[1]!.get('/session')).json<Session>();
  assert.deepEqual(columnOf(accounts, 'role'), ['owner']);
  assert.equal((await open.balance(accounts[0]!.id)).availableMicros, 1_000_000);
});

test('a first sign-in through a provider fails without its audit row', async () => {
  const { sub, email } = person();
  const known = await signIn(open);
  const { sub: knownSub } = person({ email: known.email });
  const stranger = visitor(open);
  const untouched = await allRows(open.database);
  for (const one of [sub, knownSub]) {
    const callback = await callbackOf(stranger, one);
    const returning = () => stranger.get(callback.slice(callback.indexOf('/auth/callback')));
    const reply = await whileRefusingAuditRows(open.database, returning);
    const { location } = reply.headers;
    assert.ok(reply.status >= 500 || location!.includes('error='), `${reply.status} ${location}`);
    assert.equal(await nameOf(stranger), null);
  }
  const changed = new Set(changedTables(untouched, await allRows(open.database)));
  changed.delete('user_verifications');
  assert.deepEqual([...changed], []);
  for (const one of [sub, knownSub]) assert.equal(await passThrough(visitor(open), one), '/');
  const byUser = (actor_name: string) => actionsOf(open.database, { actor_name });
  assert.deepEqual(await byUser(email), ['account.create', 'user.link-provider']);
  assert.deepEqual(await byUser(known.email), ['user.link-provider']);
});

test('an invited person signs in through the provider and accepts', async () => {
  const { sub, email } = person();
  const owner = await signIn(closed);
  const { token } = await invite(owner, email);
  const client = visitor(closed);
  const next = `/invitation?token=${token}`;
  assert.equal(await passThrough(client, sub, next), next);
  await ok(client.post('/auth/invitation/accept', { token }));
  assert.partialDeepStrictEqual((await client.get('/session')).json(), {
    accounts: [{ id: owner.account, role: 'member' }],
  });
});

test("the provider's answer works once, unchanged, in the browser that started the sign-in", async () => {
  const { sub, email } = person();
  await signIn(closed, { email });
  const client = visitor(closed);
  const callback = await callbackOf(client, sub);
  const thief = visitor(closed);
  assert.equal(await back(thief, callback), '/sign-in?error=oidc_failed');
  assert.equal(await nameOf(thief), null);

  const second = visitor(closed);
  const forged = (await callbackOf(second, sub)).replace(/state=[^&]+/, 'state=forged');
  assert.equal(await back(second, forged), '/sign-in?error=oidc_failed');
  assert.equal(await nameOf(second), null);

  const third = visitor(closed);
  const used = await callbackOf(third, sub);
  await back(third, used);
  assert.equal(await nameOf(third), email);
  const again = visitor(closed);
  assert.equal(await back(again, used), '/sign-in?error=oidc_failed');
});

test('a sign-in that was begun in another tab meanwhile ends no earlier one', async () => {
  const { sub, email } = person();
  await signIn(closed, { email });
  const client = visitor(closed);
  const first = await callbackOf(client, sub, '/keys');
  const second = await callbackOf(client, sub, '/usage');
  assert.equal(client.cookie.match(/tollgate\.state_/g)?.length, 2);
  assert.equal(await back(client, first), '/keys');
  assert.equal(await nameOf(client), email);
  assert.equal(await back(client, second), '/usage');
  assert.doesNotMatch(client.cookie, /tollgate\.state/);
});

test('the return address leads into the dashboard only', async () => {
  const { sub, email } = person();
  await signIn(closed, { email });
  const outside = ['https://evil.example/', '//evil.example/', '/\\evil.example'];
  for (const next of [...outside, 'javascript:alert(1)'])
    assert.equal(await passThrough(visitor(closed), sub, next), '/', next);
  // `URL` resolves these to paths that browsers read as another site.
  for (const next of ['/x/..//evil.example', '/x/..//a//evil.example', '/%2e//a//evil.example'])
    assert.match(await passThrough(visitor(closed), sub, next), /^\/(?![/\\])/, next);
});

test('a fresh sign-in at the provider confirms one call; a session there does not', async () => {
  const { sub, email } = person();
  await signIn(closed, { email, operator: true });
  const client = visitor(closed);
  const jar = new Map<string, string>();
  const body = { name: 'A shop', scopes: ['accounts:read'] };
  const makeKey = () => client.post('/operator/admin-keys', body);
  const visit = async (how: Visit) => {
    const { callback, logins } = await visitProvider(client, sub, { jar, ...how });
    assert.equal(await back(client, callback), how.next ?? '/');
    return logins;
  };
  assert.equal(await visit({}), 1);
  const refused = await makeKey();
  assert.equal(refused.error.code, 'confirmation_required', 'the provider did not say when it was');
  assert.partialDeepStrictEqual(refused.error.details, { password: false, provider: 'Acme' });

  const next = '/operator/admin-keys?create=yes';
  assert.equal(await visit({ fresh: true, next }), 1, 'the session at the provider is not enough');
  const made = await makeKey();
  assert.equal(made.status, 200, made.text);
  assert.equal((await makeKey()).error.code, 'confirmation_required');

  assert.equal(await visit({}), 0, 'the provider knows the browser');
  assert.equal((await makeKey()).error.code, 'confirmation_required');
  const withoutFresh = (url: URL) => {
    url.searchParams.delete('prompt');
    url.searchParams.delete('max_age');
  };
  assert.equal(await visit({ fresh: true, change: withoutFresh }), 0);
  assert.equal((await makeKey()).error.code, 'confirmation_required', 'a changed address');

  await visit({ fresh: true });
  const other = await signIn(closed, { operator: true });
  const [proof] = /tollgate\.confirmed=[\w-]+/.exec(client.cookie)!;
  const stolen = await other.sendUnconfirmed('POST', '/operator/admin-keys', { body }, proof);
  assert.equal(stolen.error.code, 'confirmation_required', 'a proof is of one session');
});

test('a sign-in at the provider a while ago confirms nothing', async () => {
  const { sub, email } = person();
  await signIn(ahead, { email, operator: true });
  const client = visitor(ahead);
  const { callback } = await visitProvider(client, sub, { fresh: true });
  assert.equal(await back(client, callback), '/');
  const made = await client.post('/operator/admin-keys', { name: 'A', scopes: ['accounts:read'] });
  assert.equal(made.error.code, 'confirmation_required', made.text);
});

test('a provider outage is reported, and sign-in works again afterwards', async () => {
  const oidc = { issuer: 'http://127.0.0.1:9', client_id: 'a', client_secret: 'b' };
  const gateway = await startGateway({ oidc });
  try {
    for (let round = 0; round < 2; round++) {
      const reply = await visitor(gateway).post('/auth/oidc', {});
      assert.deepEqual([reply.status, reply.error.code], [503, 'upstream_unavailable']);
    }
    const session = (await visitor(gateway).get('/session')).json();
    assert.partialDeepStrictEqual(session, { features: { oidc_name: 'single sign-on' } });
  } finally {
    await gateway.stop();
  }
});
