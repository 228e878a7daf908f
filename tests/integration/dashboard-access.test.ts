// Calls every endpoint of the dashboard's API with every role, and with objects of another account:
// only permitted callers get in, and nobody sees another account's data. Endpoints come from the
// contract and the table of streams, so new ones are covered at once.
import assert from 'node:assert/strict';
import { openAccount } from '../../src/management/changes/accounts.ts';
import { errorKinds, type ErrorCode } from '../../src/canonical/errors.ts';
import { dashboardCalls } from '../../src/management/contract/contract.ts';
import type { SessionEndpoint } from '../../src/management/contract/doors.ts';
import type { Access } from '../../src/management/contract/endpoint.ts';
import type { Role } from '../../src/db/schema.ts';
import { streams } from '../../src/management/streams.ts';
import { after, before, test, testOn } from '../support/both-stores.ts';
import { signIn, visitor, type DashboardClient } from '../support/dashboard.ts';
import { addBatch } from '../support/add-batch.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { rowOf, rowsOf } from '../support/rows.ts';
import { ok, open, type Reply } from '../support/http.ts';
import { sampleOf } from '../support/sample.ts';
import { currentStore } from '../support/test-store.ts';

type Row = { readonly name: string; readonly method: string; readonly path: string } & Pick<
  SessionEndpoint,
  'access' | 'query' | 'body'
>;

const rows: readonly Row[] = Object.entries<SessionEndpoint | { readonly access: Access }>({
  ...dashboardCalls,
  ...streams,
})
  .map(([name, endpoint]) => ({
    name,
    method: name.split(' ')[0]!,
    path: name.split(' ')[1]!,
    ...endpoint,
  }))
  .filter(({ access }) => access !== 'public');

const callers = ['nobody', 'outsider', 'operator', 'viewer', 'member', 'admin', 'owner'] as const;
type CallerName = (typeof callers)[number];

/** Part of every name in the other account, so that a leak shows up. */
const canary = 'canary';

let gateway: TestGateway;
let account: string;
let clients: Readonly<Record<CallerName, DashboardClient>>;
/** The other account's objects, by their names in paths. */
let foreign: Readonly<Record<string, string>>;

before(async () => {
  gateway = await startGateway({ test_mode: { enabled: true } });
  ({ id: account } = await openNamed('Ours'));
  const inAccount = (role: Role) => signIn(gateway, { account, role });
  clients = {
    nobody: visitor(gateway),
    outsider: await signIn(gateway, { role: null, account }),
    operator: await signIn(gateway, { role: null, account, operator: true }),
    viewer: await inAccount('viewer'),
    member: await inAccount('member'),
    admin: await inAccount('admin'),
    owner: await inAccount('owner'),
  };
  foreign = await makeForeign();
});
after(() => gateway.stop());

const openNamed = (name: string) =>
  openAccount(gateway.database.write, { name }, gateway.program.clock.nowMs());

async function makeForeign(): Promise<Readonly<Record<string, string>>> {
  const { id } = await openNamed(`${canary} account`);
  const owner = await signIn(gateway, {
    account: id,
    role: 'owner',
    email: `${canary}@example.com`,
    name: `${canary} owner`,
  });
  const key = await gateway.makeKey({ account: id, name: `${canary} key` });
  const body = { model: 'gpt-6-luna', messages: [{ role: 'user', content: canary }] };
  const reply = await ok(gateway.post('/v1/chat/completions', { key: key.key, body }));
  const guest = { email: `${canary}-guest@example.com`, role: 'member' };
  const invitation = await ok(owner.post(`/accounts/${id}/invitations`, guest));
  const sessions = await owner.get('/profile/sessions');
  return {
    account: id,
    key: key.id,
    request: String(reply.headers['x-request-id']),
    user: owner.userId,
    invitation: invitation.json<{ id: string }>().id,
    session: sessions.json<{ data: { id: string }[] }>().data[0]!.id,
    passkey: 'pky_unknown',
    ownKey: 'own_unknown',
    batch: await addBatch(gateway.database, { account: id, key: key.id, nowMs: Date.now() }),
    topUp: 'top_unknown',
    payment: 'pay_unknown',
    ...(await makeForeignAlert(owner)),
  };
}

async function makeForeignAlert(owner: DashboardClient) {
  const path = `/accounts/${owner.account}/alert-endpoints`;
  const made = await ok(owner.post(path, { kind: 'email', address: 'owners' }));
  const { id: endpoint } = made.json<{ endpoint: { id: string } }>().endpoint;
  await ok(owner.post(`${path}/${endpoint}/test`));
  await ok(owner.patch(`${path}/${endpoint}`, { enabled: false }));
  const { id: delivery } = await rowOf(gateway.database, 'event_deliveries', {
    endpoint_id: endpoint,
  });
  return { endpoint, delivery };
}

function call(
  client: DashboardClient,
  row: Row,
  params: Readonly<Record<string, string>>,
): Promise<Reply> {
  const path = row.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    assert.ok(
      params[name] !== undefined,
      `${row.name}: give the test a '${name}' of the other account`,
    );
    return params[name];
  });
  const query = row.query
    ? `?${new URLSearchParams(sampleOf(row.query) as Record<string, string>).toString()}`
    : '';
  const body = row.method === 'GET' ? undefined : row.body ? sampleOf(row.body) : {};
  return client.send(row.method, path + query, { body });
}

const roles: readonly Role[] = ['viewer', 'member', 'admin', 'owner'];
const isRole = (access: string): access is Role => (roles as readonly string[]).includes(access);

/** The status of the refusal; null when the call is permitted. */
function refusalOf(access: Access, caller: CallerName): number | null {
  if (caller === 'nobody') return 401;
  if (access === 'user') return null;
  if (access === 'operator') return caller === 'operator' ? null : 404;
  if (!isRole(caller)) return 404;
  return roles.indexOf(caller) < roles.indexOf(access as Role) ? 403 : null;
}

for (const row of rows) {
  test(`${row.name} is open to permitted roles only`, async () => {
    for (const caller of callers) {
      const refusal = refusalOf(row.access, caller);
      const params = { ...foreign, account };
      if (refusal !== null) {
        // Who is refused does not depend on the store.
        if (currentStore() !== 'sqlite') continue;
        const reply = await call(clients[caller], row, params);
        assert.equal(reply.status, refusal, `${caller}: ${reply.text}`);
        showsNothing(reply, params);
      } else if (caller === 'operator' || row.access === 'user' || row.access === caller) {
        // Its own user, because the call may end the session or leave the account.
        const role = isRole(caller) ? caller : null;
        const able = await signIn(gateway, { account, role, operator: caller === 'operator' });
        const { status, text } = await call(able, row, params);
        assert.ok(status !== 401 && status !== 403 && status < 500, `${caller}: ${status} ${text}`);
      }
    }
  });

  if (!row.path.includes(':') || row.access === 'operator') continue;
  testOn('sqlite', `${row.name} neither shows nor changes another account`, async () => {
    const untouched = await foreignState();
    const owner = await signIn(gateway, { account, role: 'owner' });
    for (const caller of [owner, clients.operator, clients.outsider]) {
      const paths = isRole(row.access) ? [foreign, { ...foreign, account }] : [foreign];
      for (const params of paths) {
        const reply = await call(caller, row, params);
        const hasForeignId = params.account !== account || /:(?!account)/.test(row.path);
        if (hasForeignId)
          assert.ok(reply.status >= 400 && reply.status < 500, `${reply.status} ${reply.text}`);
        showsNothing(reply, params);
      }
    }
    assert.deepEqual(await foreignState(), untouched);
  });
}

/** The least role that may make a call in an account. A new endpoint needs a verdict here. */
const roleOf: Readonly<Record<Role, readonly string[]>> = {
  viewer: [
    'GET /analytics',
    'GET /analytics/days',
    'GET /analytics/hours',
    'GET /auto-top-up',
    'GET /batches',
    'GET /billing',
    'GET /budgets',
    'GET /key-defaults',
    'GET /keys',
    'GET /keys/:key',
    'GET /members',
    'GET /models',
    'GET /models/measured',
    'GET /overview',
    'GET /prompt-cache',
    'GET /receipt.pdf',
    'GET /requests',
    'GET /requests/:request',
    'GET /requests/totals',
    'GET /search',
    'GET /settings',
    'GET /statement',
    'GET /statement.csv',
    'GET /top-ups/:topUp',
    'GET /usage.csv',
    'POST /leave',
  ],
  member: [
    'GET /key-last-used',
    'POST /keys/:key/v1/audio/speech',
    'POST /keys/:key/v1/audio/transcriptions',
    'POST /keys/:key/v1/chat/completions',
    'POST /keys/:key/v1/embeddings',
    'POST /keys/:key/v1/images/generations',
    'POST /keys/:key/v1/messages',
    'POST /keys/:key/v1/moderations',
    'POST /keys/:key/v1/rerank',
    'POST /keys/:key/v1/responses',
    'POST /keys/:key/v1beta/generateContent',
  ],
  admin: [
    'DELETE /invitations/:invitation',
    'GET /invitations',
    'GET /requests/:request/bodies',
    'GET /telemetry',
    'PATCH /keys/:key',
    'PATCH /telemetry',
    'POST /batches/:batch/cancel',
    'POST /device-logins',
    'POST /invitations',
    'POST /keys',
    'POST /keys/:key/disable',
    'POST /keys/:key/enable',
    'POST /keys/:key/revoke',
    'POST /keys/:key/rotate',
  ],
  owner: [
    'DELETE /alert-endpoints/:endpoint',
    'DELETE /auto-top-up/card',
    'DELETE /members/:user',
    'DELETE /own-keys/:ownKey',
    'GET /alert-deliveries',
    'GET /alert-endpoints',
    'GET /audit-log',
    'GET /own-keys',
    'PATCH /alert-endpoints/:endpoint',
    'PATCH /auto-top-up',
    'PATCH /keys/:key/owner',
    'PATCH /low-balance',
    'PATCH /members/:user',
    'PATCH /members/:user/budget',
    'PATCH /own-keys/:ownKey',
    'PATCH /settings',
    'POST /alert-deliveries/:delivery/again',
    'POST /alert-endpoints',
    'POST /alert-endpoints/:endpoint/secret',
    'POST /alert-endpoints/:endpoint/test',
    'POST /auto-top-up/card',
    'POST /own-keys',
    'POST /top-ups',
  ],
};

testOn(
  'sqlite',
  'each call asks for the right role, and those below /operator for an operator',
  () => {
    const inAccount = rows.filter(({ path }) => path.startsWith('/accounts/:account/'));
    for (const [role, names] of Object.entries(roleOf))
      assert.deepEqual(
        inAccount
          .filter(({ access }) => access === role)
          .map(({ name }) => name.replace('/accounts/:account', ''))
          .toSorted(),
        names,
        role,
      );
    for (const { access, path, name } of rows)
      assert.equal(access === 'operator', path.startsWith('/operator'), name);
  },
);

testOn('sqlite', 'a viewer changes nothing and spends nothing', async () => {
  const closed = rows.filter(
    ({ path, access }) => path.startsWith('/accounts/:account/') && access !== 'viewer',
  );
  const key = await gateway.makeKey({ account, mode: 'live', creditUsd: 1 });
  const own = { ...foreign, account, key: key.id };
  const state = () => accountState(account);
  const untouched = await state();
  for (const row of closed)
    assert.equal((await call(clients.viewer, row, own)).status, 403, row.name);
  assert.deepEqual(await state(), untouched);
});

testOn('sqlite', 'no page of a viewer has the secret of a key', async () => {
  const key = await gateway.makeKey({ account, name: 'theirs' });
  const own = { ...foreign, account, key: key.id };
  for (const row of rows.filter(({ access, method }) => access === 'viewer' && method === 'GET')) {
    const { text } = await call(clients.viewer, row, own);
    const { digest } = await rowOf(gateway.database, 'api_keys', { id: key.id });
    assert.ok(!text.includes(key.key) && !text.includes(digest), row.name);
  }
});

test('a member made viewer loses the rights at once, and the invitations that they sent', async () => {
  const admin = await signIn(gateway, { account, role: 'admin' });
  const email = 'guest-of-a-later-viewer@example.com';
  await ok(admin.post(`/accounts/${account}/invitations`, { email, role: 'member' }));
  const { owner } = clients;
  const path = `/accounts/${account}/members/${admin.userId}`;
  await ok(owner.patch(path, { role: 'viewer' }));
  const create = { mode: 'test', name: 'Mine' };
  assert.equal((await admin.post(`/accounts/${account}/keys`, create)).status, 403);
  assert.equal((await admin.patch(path, { role: 'owner' })).status, 403);
  assert.ok(!(await owner.get(`/accounts/${account}/invitations`)).text.includes(email));
});

for (const [name, { access, body }] of Object.entries(dashboardCalls)) {
  const [method, path] = name.split(' ') as [string, string];
  if (method === 'GET') continue;
  testOn('sqlite', `${name} reads no large body`, async () => {
    const { nobody, operator, owner } = clients;
    const able = access === 'operator' ? operator : owner;
    const caller = access === 'public' ? nobody : able;
    const long = { ...(body && sampleOf(body)), filler: 'x'.repeat(64 * 1024) };
    const { status, text } = await caller.send(method, path.replaceAll(/:\w+/g, account), {
      body: long,
    });
    assert.deepEqual([status, text.includes('request_too_large')], [413, true], text);
  });
}

testOn(
  'sqlite',
  'bodies from strangers to the playground or to unknown paths are not read',
  async () => {
    const origin = new URL(gateway.url).origin;
    const playground = `/dashboard-api/accounts/${account}/keys/${foreign['key']}/v1/responses`;
    for (const [path, status] of [
      [playground, 401],
      ['/dashboard-api/nothing', 404],
      ['/v1/nothing', 404],
    ] as const) {
      const headers = { 'content-type': 'application/json', 'content-length': '20000000' };
      const { request, response } = open(gateway.url + path, {
        method: 'POST',
        headers: { origin, ...headers },
      });
      const answer = await response;
      assert.equal(answer.statusCode, status, path);
      request.destroy();
    }
  },
);

testOn(
  'sqlite',
  'an error is a problem as RFC 9457 has it; the playground has the errors of its endpoint',
  async () => {
    const { member } = clients;
    const table: readonly (readonly [Promise<Reply>, ErrorCode, string | null])[] = [
      [clients.nobody.get(`/accounts/${account}/keys?mode=live`), 'not_signed_in', null],
      [clients.outsider.get(`/accounts/${account}/keys?mode=live`), 'not_found', null],
      [member.get(`/accounts/${account}/keys`), 'invalid_request', 'mode'],
      [member.post(`/accounts/${account}/keys`, { mode: 'live' }), 'not_permitted', null],
      [member.get('/no-such-path?secret=1'), 'not_found', null],
      [member.get('/%zz'), 'invalid_request', null],
      [member.send('PUT', '/session'), 'not_found', null],
    ];
    for (const [sent, code, param] of table) {
      const reply = await sent;
      const { detail, ...problem } = reply.json();
      assert.equal(
        reply.headers['content-type'],
        'application/problem+json; charset=utf-8',
        reply.text,
      );
      assert.deepEqual(problem, {
        type: `/docs/errors#${code}`,
        title: errorKinds[code].meaning,
        status: reply.status,
        instance: `#${reply.requestId}`,
        code,
        param,
        request_id: reply.requestId,
      });
      assert.equal(reply.status, errorKinds[code].status);
      assert.ok(String(detail).length > 10);
    }
    const path = `/accounts/${account}/keys/key_none/v1/messages`;
    const played = await member.post(path, { model: 'claude-haiku-4-5', messages: [] });
    assert.match(String(played.headers['content-type']), /^application\/json/);
    assert.equal(played.json()['type'], 'error');
  },
);

/** Asserts that the answer shows nothing of the other account, except ids that the request sent. */
function showsNothing({ text }: Reply, sent: Readonly<Record<string, string>>): void {
  const ids = Object.values(foreign).filter((id) => !Object.values(sent).includes(id));
  for (const secret of [canary, ...ids]) assert.ok(!text.includes(secret), text);
}

async function foreignState(): Promise<unknown> {
  return accountState(foreign['account']!);
}

async function accountState(of: string): Promise<unknown> {
  const { database } = gateway;
  return {
    account: await rowsOf(database, 'accounts', { id: of }),
    keys: await rowsOf(database, 'api_keys', { account_id: of }),
    ledgers: await rowsOf(database, 'ledgers', { account_id: of }),
    members: await rowsOf(database, 'account_members', { account_id: of }),
    invitations: await rowsOf(database, 'invitations', { account_id: of }),
    sessions: await rowsOf(database, 'user_sessions', { user_id: foreign['user']! }),
  };
}
