// A change and its audit row are one transaction: when the row cannot be written, no endpoint of
// the dashboard's API or the admin API and no command changes anything. Endpoints come from the
// contract and commands from the program, so a new one without an entry here fails.
import assert from 'node:assert/strict';
import {
  adminCalls,
  type Contract,
  dashboardCalls,
} from '../../src/management/contract/contract.ts';
import { writeTest } from '../../src/domain/alerts/outbox.ts';
import { createLink } from '../../src/domain/users/one-time-link.ts';
import { createResetLink } from '../../src/domain/users/password-reset.ts';
import { newIdWithPrefix } from '../../src/lib/ids.ts';
import { adminOf, type AdminClient } from '../support/admin.ts';
import { after, before, beforeEach, test, testOn } from '../support/both-stores.ts';
import { listedCommands } from '../support/commands.ts';
import { type DashboardClient, invite, quickHash, signIn, visitor } from '../support/dashboard.ts';
import { addBatch } from '../support/add-batch.ts';
import { liteLlmSample, makeForeign, newApiSample } from '../support/foreign-samples.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { actionsOf, rowOf, setRows } from '../support/rows.ts';
import { jsonOf, ok, type Reply } from '../support/http.ts';
import { PasskeyDevice } from '../support/passkey-device.ts';
import { allRows, changedTables, whileRefusingAuditRows } from '../support/refused-audit.ts';
import { startStripe, type LocalStripe } from '../support/stripe.ts';
import { Authenticator, enrol } from '../support/totp.ts';

const password = 'correct horse battery';
const passwordHash = quickHash(password);
/** The gateway's public URL: passkeys need a host name, and the tests call its IP address. */
const passkeyOrigin = 'http://localhost:4000';
const hooks = hooksOfFile();
const nobody = '127.0.0.1:9';
let stripe: LocalStripe;
let gateway: TestGateway;
let admin: AdminClient;
before(async () => {
  stripe = await startStripe(hooks);
  gateway = await startGateway(
    ({ url }) => ({
      providers: {
        host: {
          kind: 'openai-compatible',
          base_url: url,
          api_key: 'sk-host',
          accounts_may_bring_keys: true,
        },
      },
      stripe: stripe.config,
      alerts: { allowed_hosts: [nobody] },
      signup: { open: true, initial_credit_usd: 1 },
      server: { trust_proxy: true, public_url: passkeyOrigin },
    }),
    { tuning: stripe.tuning },
  );
  stripe.sendTo(gateway.url);
  admin = await adminOf(gateway);
});
after(() => gateway.stop());
// What an earlier test had sent is tried again later, while this one compares rows.
beforeEach(async () => {
  await gateway.database.write.deleteFrom('alert_endpoints').execute();
});

/** Who changes something, and the ids in the path. */
type Call<By = DashboardClient> = {
  readonly by: By;
  readonly body?: object;
  readonly [id: string]: unknown;
};

const owner = () => signIn(gateway, { passwordHash });
const operator = () => signIn(gateway, { operator: true, passwordHash });
const newcomer = () => `${newIdWithPrefix('new')}@example.com`;
const requestId = () => newIdWithPrefix('req');
const nowMs = () => gateway.program.clock.nowMs();

/** An account with an owner, another member, and a key. */
async function customer() {
  const by = await owner();
  const { account, userId, email } = by;
  const { userId: user } = await signIn(gateway, { account, role: 'member' });
  const { id: key } = await gateway.makeKey({ account });
  return { by, account, userId, email, user, key };
}

const byOwner = async () => {
  const { by, user, key } = await customer();
  return { by, user, key };
};
const byNobody = async () => ({ by: visitor(gateway) });
const byOperator = async () => ({ ...(await customer()), by: await operator() });

/** The account is the caller's, if the call names none. */
function idIn(call: Call<{ readonly account?: string }>, name: string): string {
  const id = call[name] ?? (name === 'account' ? call.by.account : null);
  assert.ok(typeof id === 'string', `the call has no ${name}`);
  return id;
}

async function settingsVersion(): Promise<number> {
  return (await admin.ok<{ version: number }>('GET', '/settings/saved')).version;
}

/** Saves an alias of a model as a new version, and returns it. */
async function savedAlias(): Promise<string> {
  const alias = newIdWithPrefix('a');
  const body = {
    version: await settingsVersion(),
    changes: [{ path: ['aliases', alias], value: 'gpt-6-luna' }],
  };
  await admin.ok('PATCH', '/settings/saved', { body });
  return alias;
}

/** The call of `prepare` with a body. */
const sending =
  <By>(prepare: () => Promise<Call<By>>, body: object) =>
  async () => ({ ...(await prepare()), body });

async function withDisabledKey(prepare: () => Promise<Call>): Promise<Call> {
  const call = await prepare();
  await gateway.program.cli('keys', 'disable', idIn(call, 'key'));
  return call;
}

async function withInvitation(prepare: () => Promise<Call>): Promise<Call> {
  const call = await prepare();
  const account = idIn(call, 'account');
  const body = { email: newcomer(), role: 'member' };
  const { id } = await admin.ok('POST', `/accounts/${account}/invitations`, { body });
  return { ...call, invitation: id };
}

/** A payment that matches no top-up. */
async function withPayment(): Promise<Call> {
  const fields = {
    'line_items[0][price_data][unit_amount]': '500',
    'line_items[0][price_data][currency]': 'usd',
  };
  const { intent } = await stripe.pay(stripe.open(fields, requestId()).url);
  return { ...(await byOperator()), payment: intent };
}

async function withSavedCard(): Promise<Call> {
  const call = await byOwner();
  const path = `/accounts/${call.by.account}/auto-top-up/card`;
  const { checkout_url: url } = await jsonOf<{ checkout_url: string }>(call.by.post(path));
  await ok(stripe.saveCard(url));
  return call;
}

/** Has enough that nothing is topped up or warned of later, in the tables of the next test. */
const withBalance = (prepare: () => Promise<Call>) => async (): Promise<Call> => {
  const call = await prepare();
  await gateway.makeKey({ mode: 'live', account: call.by.account, creditUsd: 10 });
  return call;
};

async function withOtherSession() {
  const by = await owner();
  await visitor(gateway).post('/auth/sign-in', { email: by.email, password });
  type Sessions = { data: { id: string; current: boolean }[] };
  const { data } = await jsonOf<Sessions>(by.get('/profile/sessions'));
  return { by, session: data.find(({ current }) => !current)!.id };
}

async function withStartedSecondFactor(): Promise<Call> {
  const by = await owner();
  const { secret } = await jsonOf(by.post('/profile/second-factor', { password }));
  return { by, body: { code: new Authenticator(String(secret)).nextCode() } };
}

async function withSecondFactor(): Promise<Call> {
  const by = await owner();
  const { backupCodes } = await enrol(by, password);
  return { by, body: { password, code: backupCodes[0], kind: 'backup' } };
}

async function withDevice(): Promise<Call> {
  const by = await owner();
  const started = await ok(by.post('/profile/passkeys/start', { password }));
  const credential = new PasskeyDevice(passkeyOrigin).create(started.json());
  return { by, body: { name: 'Laptop', credential } };
}

async function withPasskey(): Promise<Call> {
  const { by, body } = await withDevice();
  const { id } = await jsonOf(by.post('/profile/passkeys', body));
  return { by, passkey: id };
}

/** Nobody listens there. */
const webhook = { kind: 'webhook', address: `http://${nobody}/hook` };

async function addEndpoint(by: DashboardClient, account: string, below = ''): Promise<Call> {
  const { endpoint } = await jsonOf<{ endpoint: { id: string } }>(
    by.post(`${below}/accounts/${account}/alert-endpoints`, { ...webhook, password }),
  );
  return { by, account, endpoint: endpoint.id };
}

async function withEndpoint(): Promise<Call> {
  const { by } = await byOwner();
  return addEndpoint(by, by.account);
}

async function withOwnKey(): Promise<Call> {
  const { by } = await byOwner();
  const path = `/accounts/${by.account}/own-keys`;
  const { id } = await jsonOf(by.post(path, { ...ownKey, password }));
  return { by, ownKey: id };
}

async function withBatch(): Promise<Call> {
  const call = await byOwner();
  const { account } = call.by;
  const owned = { account, key: call.key, nowMs: nowMs() };
  return { ...call, batch: await addBatch(gateway.database, owned) };
}

async function withOwnEndpoint(): Promise<Call> {
  return addEndpoint(await operator(), 'operators', '/operator');
}

/** A delivery of an endpoint that is switched off. */
async function withDelivery(made?: Call): Promise<Call> {
  const call = made ?? (await withEndpoint());
  const id = idIn(call, 'endpoint');
  await setRows(gateway.database, 'alert_endpoints', { id }, { disabled_at_ms: 1 });
  const { write } = gateway.database;
  const endpoint = await rowOf(gateway.database, 'alert_endpoints', { id });
  await writeTest(write, endpoint, nowMs());
  const { id: delivery } = await rowOf(gateway.database, 'event_deliveries', { endpoint_id: id });
  return { ...call, delivery };
}

const adjustment = {
  kind: 'credit',
  mode: 'live',
  amount_micros: 5_000_000,
  note: 'of "every" \\ kind',
};
const ownKey = { provider: 'host', api_key: 'sk-of-the-customer' };
const telemetry = { endpoint: 'https://otlp.example.com', headers: { authorization: 'a key' } };
const guest = { email: newcomer(), role: 'owner' };

type Changing = Exclude<keyof Contract, `GET ${string}`>;

/** What each call needs. `null`: it changes nothing that the audit log records. */
const changes: Readonly<Record<Changing, (() => Promise<Call>) | null>> = {
  'POST /operator/settings/export': null,
  'POST /operator/settings/preview': null,
  'POST /operator/settings/test-provider': null,
  'PATCH /operator/settings/saved': async () => {
    const body = {
      version: await settingsVersion(),
      changes: [{ path: ['aliases', newIdWithPrefix('a')], value: 'gpt-6-luna' }],
    };
    return { ...(await byOperator()), body };
  },
  'POST /operator/settings/restore': async () => {
    const restored = await settingsVersion();
    await savedAlias();
    return { ...(await byOperator()), body: { version: restored + 1, restored } };
  },
  'POST /operator/settings/reload': byOperator,
  'POST /operator/accounts/:account/keys': sending(byOperator, { mode: 'live', name: 'By us' }),
  'POST /auth/sign-in': null,
  'POST /auth/second-factor': null,
  'POST /auth/sign-out': null,
  'POST /auth/link': null,
  // The key is recorded when the program gets it.
  'POST /device-logins/find': null,
  'POST /device-logins/deny': null,
  'POST /accounts/:account/device-logins': null,
  'POST /auth/invitation': null,
  'POST /auth/oidc': null,
  'POST /auth/password-reset': null,
  'POST /auth/verify-email/send': null,
  'POST /profile/second-factor': null,
  'POST /auth/passkey/start': null,
  'POST /auth/passkey': null,
  'POST /profile/passkeys/start': null,
  'PATCH /accounts/:account/telemetry': sending(byOwner, telemetry),
  'POST /auth/sign-up': sending(byNobody, { name: 'New', email: newcomer(), password }),
  'POST /auth/first-run': async () => {
    // The link works only while there are no users.
    await removeUsers();
    const link = { kind: 'first-run', userId: null, email: null } as const;
    const token = await createLink(gateway.database.write, link, nowMs());
    return { ...(await byNobody()), body: { token, name: 'First', email: newcomer(), password } };
  },
  'POST /auth/password-reset/complete': async () => {
    const { userId: id, email } = await owner();
    const asked = { user: { id, email }, mailed: true };
    const token = await createResetLink(gateway.database.write, asked, nowMs());
    return { ...(await byNobody()), body: { token, password: 'another password' } };
  },
  'POST /auth/verify-email': async () => {
    const by = await owner();
    const link = { kind: 'verify-email', userId: by.userId, email: newcomer() } as const;
    return { by, body: { token: await createLink(gateway.database.write, link, nowMs()) } };
  },
  'POST /auth/invitation/accept': async () => {
    const by = await owner();
    const { token } = await invite(by, newcomer());
    return { ...(await byNobody()), body: { token, name: 'New', password } };
  },
  'PATCH /profile': sending(byOwner, { name: 'Another Name' }),
  'POST /profile/email': sending(byOwner, { email: newcomer(), password }),
  'POST /profile/password': sending(byOwner, {
    current_password: password,
    new_password: 'another password',
  }),
  'DELETE /profile/sessions/:session': withOtherSession,
  'POST /profile/sessions/revoke-others': withOtherSession,
  'POST /profile/second-factor/confirm': withStartedSecondFactor,
  'POST /profile/second-factor/disable': withSecondFactor,
  'POST /profile/second-factor/backup-codes': withSecondFactor,
  'POST /profile/passkeys': withDevice,
  'POST /profile/passkeys/:passkey/remove': sending(withPasskey, { password }),
  'PATCH /accounts/:account/settings': sending(byOwner, {
    name: 'Another',
    retain_responses: false,
  }),
  'PATCH /accounts/:account/members/:user': sending(byOwner, { role: 'admin' }),
  'PATCH /accounts/:account/members/:user/budget': sending(byOwner, {
    daily_micros: null,
    monthly_micros: 5_000_000,
  }),
  'PATCH /accounts/:account/keys/:key/owner': async () => {
    const { by, key } = await customer();
    return { by, key, body: { user_id: by.userId } };
  },
  'DELETE /accounts/:account/members/:user': byOwner,
  'POST /accounts/:account/leave': async () => {
    const { account } = await owner();
    return { by: await signIn(gateway, { account, role: 'admin' }) };
  },
  'POST /accounts/:account/invitations': sending(byOwner, guest),
  'DELETE /accounts/:account/invitations/:invitation': () => withInvitation(byOwner),
  'POST /accounts/:account/keys': sending(byOwner, { mode: 'live', name: 'seen by nobody' }),
  'PATCH /accounts/:account/keys/:key': sending(byOwner, { name: 'another', daily_cap_micros: 5 }),
  'POST /accounts/:account/keys/:key/rotate': sending(byOwner, { overlap_hours: 24 }),
  'POST /accounts/:account/keys/:key/disable': byOwner,
  'POST /accounts/:account/keys/:key/enable': () => withDisabledKey(byOwner),
  'POST /accounts/:account/keys/:key/revoke': byOwner,
  'POST /accounts/:account/top-ups': sending(byOwner, {
    request_id: requestId(),
    amount_micros: 10_000_000,
  }),
  'PATCH /accounts/:account/auto-top-up': sending(withBalance(withSavedCard), {
    settings: {
      threshold_micros: 5_000_000,
      amount_micros: 20_000_000,
      ceiling_micros: 100_000_000,
    },
  }),
  'POST /accounts/:account/auto-top-up/card': byOwner,
  'DELETE /accounts/:account/auto-top-up/card': withSavedCard,
  'PATCH /accounts/:account/low-balance': sending(withBalance(byOwner), {
    thresholds_micros: [1_000_000],
  }),
  'POST /accounts/:account/alert-endpoints': sending(byOwner, webhook),
  'PATCH /accounts/:account/alert-endpoints/:endpoint': sending(withEndpoint, { enabled: false }),
  'DELETE /accounts/:account/alert-endpoints/:endpoint': withEndpoint,
  'POST /accounts/:account/alert-endpoints/:endpoint/secret': withEndpoint,
  'POST /accounts/:account/alert-endpoints/:endpoint/test': withEndpoint,
  'POST /accounts/:account/alert-deliveries/:delivery/again': withDelivery,
  'POST /accounts/:account/batches/:batch/cancel': withBatch,
  'POST /accounts/:account/own-keys': sending(byOwner, ownKey),
  'PATCH /accounts/:account/own-keys/:ownKey': sending(withOwnKey, { order: 'after' }),
  'DELETE /accounts/:account/own-keys/:ownKey': withOwnKey,
  'POST /operator/accounts/:account/alert-endpoints': sending(byOperator, webhook),
  'PATCH /operator/accounts/:account/alert-endpoints/:endpoint': sending(withOwnEndpoint, {
    enabled: false,
  }),
  'DELETE /operator/accounts/:account/alert-endpoints/:endpoint': withOwnEndpoint,
  'POST /operator/accounts/:account/alert-endpoints/:endpoint/secret': withOwnEndpoint,
  'POST /operator/accounts/:account/alert-endpoints/:endpoint/test': withOwnEndpoint,
  'POST /operator/accounts/:account/alert-deliveries/:delivery/again': async () =>
    withDelivery(await withOwnEndpoint()),
  'POST /operator/accounts': sending(byOperator, { request_id: requestId(), name: 'Made' }),
  'PATCH /operator/accounts/:account': sending(byOperator, {
    frozen: true,
    retain_responses: false,
  }),
  'PATCH /operator/accounts/:account/prices': sending(byOperator, {
    price_multiplier_ppm: 5,
    model_prices: [{ model: 'gpt-6-luna', multiplier_ppm: 900_000 }],
  }),
  'POST /operator/accounts/:account/adjustments': sending(byOperator, {
    ...adjustment,
    request_id: requestId(),
  }),
  'POST /operator/accounts/:account/purge': byOperator,
  'POST /operator/accounts/:account/invitations': sending(byOperator, guest),
  'DELETE /operator/accounts/:account/invitations/:invitation': () => withInvitation(byOperator),
  'POST /operator/admin-keys': sending(byOperator, { name: 'A shop', scopes: ['accounts:read'] }),
  'POST /operator/admin-keys/:key/revoke': async () => ({
    by: await operator(),
    key: (await gateway.makeAdminKey()).id,
  }),
  'POST /operator/accounts/:account/keys/:key/disable': byOperator,
  'POST /operator/accounts/:account/keys/:key/enable': () => withDisabledKey(byOperator),
  'POST /operator/accounts/:account/keys/:key/revoke': byOperator,
  'POST /operator/users/:user/reset-link': byOperator,
  'POST /operator/payments/:payment/decision': async () => {
    const { account, ...call } = await withPayment();
    return { ...call, body: { account, note: 'paid by link' } };
  },
};

/** The calls of the admin API that the dashboard does not have. */
const adminChanges: Readonly<Record<string, () => Promise<Call<AdminClient>>>> = {
  'POST /accounts/:account/forgive-losses': async () => {
    const { account } = await withLoss();
    return { by: admin, account };
  },
};

testOn('sqlite', 'every change of the admin API is tried here, or is one of the dashboard', () => {
  const others = new Set(Object.values(dashboardCalls).map(({ declared }) => declared));
  const own = Object.entries(adminCalls).filter(
    ([name, { declared }]) => !name.startsWith('GET ') && !others.has(declared),
  );
  assert.deepEqual(own.map(([name]) => name).toSorted(), Object.keys(adminChanges).toSorted());
});

/** `allowed`: the tables that a refused change may have changed. */
async function assertAllOrNothing(change: () => Promise<Reply>, allowed: readonly string[] = []) {
  const untouched = await allRows(gateway.database);
  const refused = await whileRefusingAuditRows(gateway.database, change);
  assert.equal(refused.status, 500, refused.text);
  const changed = changedTables(untouched, await allRows(gateway.database));
  // The queue may end the batch of an earlier test meanwhile.
  const ofOthers = refused.asked.includes('/batches/') ? [] : ['batches'];
  assert.deepEqual(
    changed.filter((table) => !ofOthers.includes(table)),
    allowed,
  );

  await ok(change());
  await assertAudited(untouched);
}

async function assertAudited(untouched: Awaited<ReturnType<typeof allRows>>): Promise<void> {
  const changed = changedTables(untouched, await allRows(gateway.database));
  assert.ok(changed.includes('audit_log') && changed.length > 1, changed.join());
}

function pathOf(name: string, call: Call<{ readonly account?: string }>): string {
  return name.split(' ')[1]!.replaceAll(/:(\w+)/g, (_, id: string) => idIn(call, id));
}

for (const [name, prepare] of Object.entries(changes)) {
  if (!prepare) continue;
  const [method] = name.split(' ') as [string];
  test(`${name} changes nothing without its audit row`, async () => {
    const call = await prepare();
    const { confirmed } = dashboardCalls[name as Changing]!;
    const body = { ...(confirmed && { password }), ...call.body };
    const sent = { body: method === 'DELETE' ? undefined : body };
    await assertAllOrNothing(() => call.by.send(method, pathOf(name, call), sent));
  });
}

for (const [name, prepare] of Object.entries(adminChanges)) {
  const [method] = name.split(' ') as [string];
  test(`${name} of the admin API changes nothing without its audit row`, async () => {
    const call = await prepare();
    const sent = { body: call.body, idempotencyKey: requestId() };
    // The claim of a credit comes before the ledger's transaction.
    const allowed = name.endsWith('/adjustments') ? ['admin_answers'] : [];
    await assertAllOrNothing(
      () => admin.send(method, pathOf(name, { ...call, by: {} }), sent),
      allowed,
    );
  });
}

async function removeUsers(): Promise<void> {
  const { write } = gateway.database;
  await write.deleteFrom('account_members').execute();
  await write.deleteFrom('invitations').execute();
  await write.deleteFrom('users').execute();
}

/** An account with a loss that it provoked. */
async function withLoss() {
  const key = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  await gateway.provokeLoss(key, 1);
  return key;
}

/**
 * Commands that change nothing that the audit log records; `backup` writes its row alone.
 * `secret-commands.test.ts` has those of the secret, which change a file.
 */
const withoutEntry = [
  'requests show',
  'serve',
  'migrate',
  'move',
  'doctor',
  'verify',
  'backup',
  'openapi',
  'report',
  'accounts list',
  'keys list',
  'admin-keys list',
  'users list',
  'secret status',
  'secret rotate',
  'secret retire',
  'models list',
  'models check',
  'models update',
  'settings show',
  'settings versions',
  'config export',
];

/** The arguments after the name. */
const commands: Readonly<
  Record<string, (made: Awaited<ReturnType<typeof customer>>) => Promise<readonly string[]>>
> = {
  'accounts create': async () => ['--name', 'By command'],
  'settings set': async () => [`aliases.${newIdWithPrefix('a')}`, 'gpt-6-luna'],
  'settings unset': async () => [`aliases.${await savedAlias()}`],
  'settings restore': async () => {
    const version = await settingsVersion();
    await savedAlias();
    return [String(version)];
  },
  reload: async () => [],
  'accounts update': async ({ account }) => [account, '--frozen', 'yes'],
  'accounts update --forgive-losses': async () => [(await withLoss()).account],
  'accounts purge': async ({ account }) => [account],
  'accounts credit': async ({ account }) => [account, '--usd', '5'],
  'accounts debit': async ({ account }) => [account, '--usd', '5'],
  'keys create': async ({ account }) => ['--account', account, '--mode', 'live'],
  'keys update': async ({ key }) => [key, '--rpm', '5'],
  'keys rotate': async ({ key }) => [key, '--overlap', '1'],
  'keys disable': async ({ key }) => [key],
  'keys enable': async ({ key }) => {
    await gateway.program.cli('keys', 'disable', key);
    return [key];
  },
  'keys revoke': async ({ key }) => [key],
  'import new-api': async () => {
    const source = await makeForeign('sqlite', newApiSample(gateway.upstream.url));
    return ['--database', source, '--apply'];
  },
  'import litellm': async () => {
    const source = await makeForeign('postgres', liteLlmSample(gateway.upstream.url));
    return ['--database', source, '--apply'];
  },
  'admin-keys create': async () => ['--name', 'A shop', '--scopes', 'accounts:read,keys:write'],
  'admin-keys revoke': async () => [(await gateway.makeAdminKey()).id],
  'users create-link': async () => [newcomer()],
  'users first-run-link': async () => {
    await removeUsers();
    return [];
  },
  'users reset-password': async () => [
    (await withSecondFactor()).by.email,
    '--remove-second-factor',
  ],
};

testOn('sqlite', 'every command is tried here or changes nothing', () => {
  const tried = Object.keys(commands).map((name) => name.split(' --')[0]!);
  assert.deepEqual(
    new Set(listedCommands.map(({ name }) => name)),
    new Set([...tried, ...withoutEntry]),
    'a command that changes something needs an entry in `commands`, any other one in `withoutEntry`',
  );
});

// On one store, because the endpoints above cover both.
for (const [name, prepare] of Object.entries(commands)) {
  testOn('sqlite', `tollgate ${name} changes nothing without its audit row`, async () => {
    const command = [...name.split(' '), ...(await prepare(await customer()))];
    const run = () => gateway.program.cli(...command);
    const untouched = await allRows(gateway.database);
    await assert.rejects(whileRefusingAuditRows(gateway.database, run));
    assert.deepEqual(changedTables(untouched, await allRows(gateway.database)), []);
    await run();
    await assertAudited(untouched);
  });
}

test('the credit of a sign-up is in the audit log', async () => {
  const client = visitor(gateway);
  await ok(client.post('/auth/sign-up', { name: 'New', email: newcomer(), password }));
  const { accounts } = (await client.get('/session')).json<{ accounts: { id: string }[] }>();
  const rows = await gateway.database.read
    .selectFrom('audit_log')
    .select(['action', 'actor_kind', 'after'])
    .where('account_id', '=', accounts[0]!.id)
    .orderBy('action')
    .execute();
  assert.deepEqual(
    rows.map(({ action, actor_kind }) => [action, actor_kind]),
    [
      ['account.credit', 'service'],
      ['user.sign-up', 'user'],
    ],
  );
});

test('a sign-in creates accounts and credits only with their audit rows', async () => {
  const user = await signIn(gateway, { role: null, passwordHash });
  const enter = async () => {
    const client = visitor(gateway);
    await ok(client.post('/auth/sign-in', { email: user.email, password }));
    return (await client.get('/session')).json<{ accounts: { id: string }[] }>().accounts;
  };
  assert.deepEqual(await whileRefusingAuditRows(gateway.database, enter), []);
  const [account] = await enter();
  assert.equal((await gateway.balance(account!.id)).postedMicros, 1_000_000);
  const actions = await actionsOf(gateway.database, { account_id: account!.id });
  assert.deepEqual(actions, ['account.create', 'account.credit']);
});

test('the account and key of the first start are in the audit log', async () => {
  const actions = await actionsOf(gateway.database, { actor_id: 'first-start' });
  assert.deepEqual(actions, ['account.create', 'key.create']);
});
