// A change and its audit row are one transaction: when the row cannot be written, no endpoint of
// the dashboard's API and no command changes anything. Endpoints come from the contract and commands
// from the program, so a new one without an entry here fails.
import assert from 'node:assert/strict';
import { type Contract, dashboardCalls } from '../../src/management/contract/contract.ts';
import { createLink } from '../../src/domain/users/one-time-link.ts';
import { createResetLink } from '../../src/domain/users/password-reset.ts';
import { newIdWithPrefix } from '../../src/lib/ids.ts';
import { after, before, test, testOn } from '../support/both-stores.ts';
import { listedCommands } from '../support/commands.ts';
import { type DashboardClient, quickHash, signIn, visitor } from '../support/dashboard.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { PasskeyDevice } from '../support/passkey-device.ts';
import { allRows, changedTables, whileRefusingAuditRows } from '../support/refused-audit.ts';
import { startStripe, type LocalStripe } from '../support/stripe.ts';
import { Authenticator } from '../support/totp.ts';

const password = 'correct horse battery';
const passwordHash = quickHash(password);
/** The gateway's public URL: passkeys need a host name, and the tests call its IP address. */
const passkeyOrigin = 'http://localhost:4000';
const hooks = hooksOfFile();
let stripe: LocalStripe;
let gateway: TestGateway;
before(async () => {
  stripe = await startStripe(hooks);
  gateway = await startGateway({
    stripe: stripe.config,
    signup: { open: true, initial_credit_usd: 1 },
    server: { trust_proxy: true, public_url: passkeyOrigin },
  });
  stripe.sendTo(gateway.url);
});
after(() => gateway.stop());

type Call = { readonly by: DashboardClient; readonly path: string; readonly body?: object };

/** Creates what a change needs. `null`: the endpoint changes nothing that the audit log records. */
type Prepare = (() => Promise<Call>) | null;

const owner = () => signIn(gateway, { passwordHash });
const operator = () => signIn(gateway, { operator: true, passwordHash });
const newcomer = () => `${newIdWithPrefix('new')}@example.com`;
const requestId = () => newIdWithPrefix('req');

async function keyCall(action: string, body?: object): Promise<Call> {
  const by = await owner();
  const { id } = await gateway.makeKey({ account: by.account });
  if (action === '/enable') await by.post(`/accounts/${by.account}/keys/${id}/disable`);
  return { by, path: `/accounts/${by.account}/keys/${id}${action}`, body };
}

async function operatorKeyCall(action: string): Promise<Call> {
  const by = await operator();
  const { id } = await gateway.makeKey();
  if (action === '/enable') await by.post(`/operator/keys/${id}/disable`);
  return { by, path: `/operator/keys/${id}${action}` };
}

async function accountCall(action: string, body?: object): Promise<Call> {
  const [by, { account }] = [await operator(), await owner()];
  return { by, path: `/operator/accounts/${account}${action}`, body };
}

/** A payment that matches no top-up. */
async function paymentCall(action: string, body: object): Promise<Call> {
  const fields = {
    'line_items[0][price_data][unit_amount]': '500',
    'line_items[0][price_data][currency]': 'usd',
  };
  const { intent } = await stripe.pay(stripe.open(fields, requestId()).url);
  return { by: await operator(), path: `/operator/payments/${intent}/${action}`, body };
}

async function linkTo(kind: 'first-run' | 'verify-email', userId: string | null): Promise<string> {
  const email = kind === 'verify-email' ? newcomer() : null;
  return createLink(gateway.database, { kind, userId, email }, gateway.program.clock.nowMs());
}

/** A user with a second factor. Backup codes replace the app's codes, which work only once. */
async function enrolled(): Promise<{
  readonly by: DashboardClient;
  readonly codes: readonly string[];
}> {
  const by = await owner();
  const started = (await by.post('/profile/second-factor', { password })).json<{
    secret: string;
    backup_codes: string[];
  }>();
  const confirmed = await by.post('/profile/second-factor/confirm', {
    code: new Authenticator(started.secret).nextCode(),
  });
  assert.equal(confirmed.status, 200, confirmed.text);
  return { by, codes: started.backup_codes };
}

/** The body that adds a passkey. */
async function newPasskey(by: DashboardClient) {
  const started = await by.post('/profile/passkeys/start', { password });
  assert.equal(started.status, 200, started.text);
  const device = new PasskeyDevice(passkeyOrigin);
  return { name: 'Laptop', credential: device.create(started.json()) };
}

async function withPasskey(): Promise<{ readonly by: DashboardClient; readonly id: string }> {
  const by = await owner();
  const added = await by.post('/profile/passkeys', await newPasskey(by));
  assert.equal(added.status, 200, added.text);
  return { by, id: added.json<{ id: string }>().id };
}

type Changing = Exclude<keyof Contract, `GET ${string}`>;

const changes: Readonly<Record<Changing, Prepare>> = {
  'POST /auth/sign-in': null,
  'POST /auth/second-factor': null,
  'POST /auth/sign-out': null,
  'POST /auth/link': null,
  'POST /auth/invitation': null,
  'POST /auth/oidc': null,
  'POST /auth/password-reset': null,
  'POST /auth/verify-email/send': null,
  'POST /profile/second-factor': null,
  'POST /auth/passkey/start': null,
  'POST /auth/passkey': null,
  'POST /profile/passkeys/start': null,
  'POST /accounts/:account/telemetry/test': null,
  'PATCH /accounts/:account/telemetry': async () => {
    const by = await owner();
    return {
      by,
      path: `/accounts/${by.account}/telemetry`,
      body: { endpoint: 'https://otlp.example.com', headers: { authorization: 'a key' } },
    };
  },
  'POST /auth/sign-up': async () => ({
    by: visitor(gateway),
    path: '/auth/sign-up',
    body: { name: 'New', email: newcomer(), password },
  }),
  'POST /auth/first-run': async () => ({
    by: visitor(gateway),
    path: '/auth/first-run',
    body: { token: await linkTo('first-run', null), name: 'First', email: newcomer(), password },
  }),
  'POST /auth/password-reset/complete': async () => {
    const { userId: id, email } = await owner();
    const token = await createResetLink(
      gateway.database,
      { user: { id, email }, mailed: true },
      gateway.program.clock.nowMs(),
    );
    return {
      by: visitor(gateway),
      path: '/auth/password-reset/complete',
      body: { token, password: 'another password' },
    };
  },
  'POST /auth/verify-email': async () => {
    const by = await owner();
    return {
      by,
      path: '/auth/verify-email',
      body: { token: await linkTo('verify-email', by.userId) },
    };
  },
  'POST /auth/invitation/accept': async () => {
    const inviter = await owner();
    const asked = { email: newcomer(), role: 'member' };
    const { link } = (await inviter.post(`/accounts/${inviter.account}/invitations`, asked)).json<{
      link: string;
    }>();
    const token = new URL(link).searchParams.get('token')!;
    return {
      by: visitor(gateway),
      path: '/auth/invitation/accept',
      body: { token, name: 'New', password },
    };
  },
  'PATCH /profile': async () => ({
    by: await owner(),
    path: '/profile',
    body: { name: 'Another Name' },
  }),
  'POST /profile/email': async () => ({
    by: await owner(),
    path: '/profile/email',
    body: { email: newcomer(), password },
  }),
  'POST /profile/password': async () => ({
    by: await owner(),
    path: '/profile/password',
    body: { current_password: password, new_password: 'another password' },
  }),
  'DELETE /profile/sessions/:session': async () => {
    const by = await owner();
    await visitor(gateway).post('/auth/sign-in', { email: by.email, password });
    const { data } = (await by.get('/profile/sessions')).json<{
      data: { id: string; current: boolean }[];
    }>();
    return { by, path: `/profile/sessions/${data.find(({ current }) => !current)!.id}` };
  },
  'POST /profile/sessions/revoke-others': async () => {
    const by = await owner();
    await visitor(gateway).post('/auth/sign-in', { email: by.email, password });
    return { by, path: '/profile/sessions/revoke-others' };
  },
  'POST /profile/second-factor/confirm': async () => {
    const by = await owner();
    const { secret } = (await by.post('/profile/second-factor', { password })).json<{
      secret: string;
    }>();
    return {
      by,
      path: '/profile/second-factor/confirm',
      body: { code: new Authenticator(secret).nextCode() },
    };
  },
  'POST /profile/second-factor/disable': async () => {
    const { by, codes } = await enrolled();
    return {
      by,
      path: '/profile/second-factor/disable',
      body: { password, code: codes[0], kind: 'backup' },
    };
  },
  'POST /profile/second-factor/backup-codes': async () => {
    const { by, codes } = await enrolled();
    return {
      by,
      path: '/profile/second-factor/backup-codes',
      body: { password, code: codes[0], kind: 'backup' },
    };
  },
  'POST /profile/passkeys': async () => {
    const by = await owner();
    return { by, path: '/profile/passkeys', body: await newPasskey(by) };
  },
  'PATCH /profile/passkeys/:passkey': async () => {
    const { by, id } = await withPasskey();
    return { by, path: `/profile/passkeys/${id}`, body: { name: 'Another' } };
  },
  'POST /profile/passkeys/:passkey/remove': async () => {
    const { by, id } = await withPasskey();
    return { by, path: `/profile/passkeys/${id}/remove`, body: { password } };
  },
  'PATCH /accounts/:account/settings': async () => {
    const by = await owner();
    return {
      by,
      path: `/accounts/${by.account}/settings`,
      body: { name: 'Another', retain_responses: false },
    };
  },
  'PATCH /accounts/:account/members/:user': async () => {
    const by = await owner();
    const { userId } = await signIn(gateway, { account: by.account, role: 'member' });
    return { by, path: `/accounts/${by.account}/members/${userId}`, body: { role: 'admin' } };
  },
  'PATCH /accounts/:account/members/:user/budget': async () => {
    const by = await owner();
    const { userId } = await signIn(gateway, { account: by.account, role: 'member' });
    const body = { daily_micros: null, monthly_micros: 5_000_000 };
    return { by, path: `/accounts/${by.account}/members/${userId}/budget`, body };
  },
  'PATCH /accounts/:account/keys/:key/owner': async () => {
    const by = await owner();
    const { id } = await gateway.makeKey({ account: by.account });
    const path = `/accounts/${by.account}/keys/${id}/owner`;
    return { by, path, body: { user_id: by.userId } };
  },
  'DELETE /accounts/:account/members/:user': async () => {
    const by = await owner();
    const { userId } = await signIn(gateway, { account: by.account, role: 'member' });
    return { by, path: `/accounts/${by.account}/members/${userId}` };
  },
  'POST /accounts/:account/leave': async () => {
    const { account } = await owner();
    return {
      by: await signIn(gateway, { account, role: 'admin' }),
      path: `/accounts/${account}/leave`,
    };
  },
  'POST /accounts/:account/invitations': async () => {
    const by = await owner();
    return {
      by,
      path: `/accounts/${by.account}/invitations`,
      body: { email: newcomer(), role: 'admin' },
    };
  },
  'DELETE /accounts/:account/invitations/:invitation': async () => {
    const by = await owner();
    const path = `/accounts/${by.account}/invitations`;
    const { id } = (await by.post(path, { email: newcomer(), role: 'member' })).json<{
      id: string;
    }>();
    return { by, path: `${path}/${id}` };
  },
  'POST /accounts/:account/keys': async () => {
    const by = await owner();
    return {
      by,
      path: `/accounts/${by.account}/keys`,
      body: { mode: 'live', name: 'seen by nobody' },
    };
  },
  'PATCH /accounts/:account/keys/:key': () => keyCall('', { name: 'another', daily_cap_micros: 5 }),
  'POST /accounts/:account/keys/:key/rotate': () => keyCall('/rotate', { overlap_hours: 24 }),
  'POST /accounts/:account/keys/:key/disable': () => keyCall('/disable'),
  'POST /accounts/:account/keys/:key/enable': () => keyCall('/enable'),
  'POST /accounts/:account/keys/:key/revoke': () => keyCall('/revoke'),
  'POST /accounts/:account/top-ups': async () => {
    const by = await owner();
    return {
      by,
      path: `/accounts/${by.account}/top-ups`,
      body: { request_id: requestId(), amount_micros: 10_000_000 },
    };
  },
  'PATCH /accounts/:account/low-balance': async () => {
    const by = await owner();
    return {
      by,
      path: `/accounts/${by.account}/low-balance`,
      body: { threshold_micros: 1_000_000 },
    };
  },
  'POST /operator/accounts': async () => ({
    by: await operator(),
    path: '/operator/accounts',
    body: { request_id: requestId(), name: 'Made by an operator' },
  }),
  'PATCH /operator/accounts/:account': () =>
    accountCall('', { frozen: true, retain_responses: false }),
  'PATCH /operator/accounts/:account/model-prices': () =>
    accountCall('/model-prices', { model: 'gpt-5-mini', multiplier_ppm: 900_000 }),
  'POST /operator/accounts/:account/adjustments': () =>
    accountCall('/adjustments', {
      request_id: requestId(),
      kind: 'credit',
      mode: 'live',
      amount_micros: 5_000_000,
      note: 'of "every" \\ kind',
    }),
  'POST /operator/accounts/:account/purge': () => accountCall('/purge'),
  'POST /operator/accounts/:account/invitations': () =>
    accountCall('/invitations', { email: newcomer(), role: 'owner' }),
  'DELETE /operator/accounts/:account/invitations/:invitation': async () => {
    const { by, path, body } = await accountCall('/invitations', {
      email: newcomer(),
      role: 'owner',
    });
    const { id } = (await by.post(path, body)).json<{ id: string }>();
    return { by, path: `${path}/${id}` };
  },
  'POST /operator/admin-keys': async () => ({
    by: await operator(),
    path: '/operator/admin-keys',
    body: { name: 'A shop', scopes: ['accounts:read'] },
  }),
  'POST /operator/admin-keys/:key/revoke': async () => {
    const { id } = await gateway.makeAdminKey();
    return { by: await operator(), path: `/operator/admin-keys/${id}/revoke` };
  },
  'POST /operator/keys/:key/disable': () => operatorKeyCall('/disable'),
  'POST /operator/keys/:key/enable': () => operatorKeyCall('/enable'),
  'POST /operator/keys/:key/revoke': () => operatorKeyCall('/revoke'),
  'POST /operator/users/:user/reset-link': async () => {
    const { userId } = await owner();
    return { by: await operator(), path: `/operator/users/${userId}/reset-link` };
  },
  'POST /operator/payments/:payment/assign': async () => {
    const { account } = await owner();
    return paymentCall('assign', { account, note: 'paid by link' });
  },
  'POST /operator/payments/:payment/dismiss': () =>
    paymentCall('dismiss', { note: 'none of ours' }),
};

for (const [name, prepare] of Object.entries(changes)) {
  if (!prepare) continue;
  const [method] = name.split(' ') as [string];
  test(`${name} changes nothing without its audit row`, async () => {
    // The first-start link works only while there are no users.
    if (name.endsWith('/first-run')) await removeUsers();
    const { by, path, ...given } = await prepare();
    const { confirmed: isConfirmed = false } = dashboardCalls[name as Changing]!;
    const body = { ...(isConfirmed && { password }), ...given.body };
    const call = () => by.send(method, path, { body: method === 'DELETE' ? undefined : body });
    const untouched = await allRows(gateway.database);
    const refused = await whileRefusingAuditRows(gateway.database, call);
    assert.equal(refused.status, 500, refused.text);
    assert.deepEqual(changedTables(untouched, await allRows(gateway.database)), []);

    const reply = await call();
    assert.equal(reply.status, 200, reply.text);
    const changed = changedTables(untouched, await allRows(gateway.database));
    assert.ok(changed.includes('audit_log') && changed.length > 1, changed.join());
  });
}

async function removeUsers(): Promise<void> {
  const { write } = gateway.database;
  await write.deleteFrom('account_members').execute();
  await write.deleteFrom('invitations').execute();
  await write.deleteFrom('users').execute();
}

/**
 * Commands that change nothing that the audit log records; `backup` writes its row alone.
 * `secret-commands.test.ts` has those of the secret, which change a file.
 */
const withoutEntry = [
  'serve',
  'migrate',
  'doctor',
  'verify',
  'backup',
  'openapi',
  'report',
  'accounts list',
  'keys list',
  'budgets list',
  'admin-keys list',
  'users list',
  'secret status',
  'secret rotate',
  'secret retire',
  'models list',
  'models check',
  'models update',
];

const commands: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  'accounts create': async () => ['accounts', 'create', '--name', 'By command'],
  'accounts update': async () => ['accounts', 'update', (await owner()).account, '--frozen', 'yes'],
  'accounts update --forgive-losses': async () => {
    const key = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
    await gateway.provokeLoss(key, 1);
    return ['accounts', 'update', key.account, '--forgive-losses'];
  },
  'accounts purge': async () => ['accounts', 'purge', (await owner()).account],
  'accounts telemetry': async () => [
    'accounts',
    'telemetry',
    (await owner()).account,
    '--endpoint',
    'https://otlp.example.com',
  ],
  'accounts credit': async () => ['accounts', 'credit', (await owner()).account, '--usd', '5'],
  'accounts debit': async () => ['accounts', 'debit', (await owner()).account, '--usd', '5'],
  'keys create': async () => [
    'keys',
    'create',
    '--account',
    (await owner()).account,
    '--mode',
    'live',
  ],
  'keys update': async () => ['keys', 'update', (await gateway.makeKey()).id, '--rpm', '5'],
  'keys assign': async () => {
    const { account, userId } = await owner();
    const { id } = await gateway.makeKey({ account });
    return ['keys', 'assign', id, '--owner', userId];
  },
  'budgets set': async () => {
    const { account, email } = await owner();
    return ['budgets', 'set', account, email, '--daily-usd', '5'];
  },
  'budgets remove': async () => {
    const { account, userId } = await owner();
    await gateway.program.cli('budgets', 'set', account, userId, '--daily-usd', '5');
    return ['budgets', 'remove', account, userId];
  },
  'keys rotate': async () => ['keys', 'rotate', (await gateway.makeKey()).id, '--overlap', '1'],
  'keys disable': async () => ['keys', 'disable', (await gateway.makeKey()).id],
  'keys enable': async () => {
    const { id } = await gateway.makeKey();
    await gateway.program.cli('keys', 'disable', id);
    return ['keys', 'enable', id];
  },
  'keys revoke': async () => ['keys', 'revoke', (await gateway.makeKey()).id],
  'admin-keys create': async () => [
    'admin-keys',
    'create',
    '--name',
    'A shop',
    '--scopes',
    'accounts:read,keys:write',
  ],
  'admin-keys revoke': async () => ['admin-keys', 'revoke', (await gateway.makeAdminKey()).id],
  'users create-link': async () => ['users', 'create-link', newcomer()],
  'users first-run-link': async () => {
    await removeUsers();
    return ['users', 'first-run-link'];
  },
  'users remove-passkeys': async () => ['users', 'remove-passkeys', (await withPasskey()).by.email],
  'users reset-password': async () => [
    'users',
    'reset-password',
    (await enrolled()).by.email,
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

// On one store: each starts the program more than once, and the endpoints above cover both stores.
for (const [name, prepare] of Object.entries(commands)) {
  testOn('sqlite', `tollgate ${name} changes nothing without its audit row`, async () => {
    const command = await prepare();
    const untouched = await allRows(gateway.database);
    await assert.rejects(
      whileRefusingAuditRows(gateway.database, () => gateway.program.cli(...command)),
    );
    assert.deepEqual(changedTables(untouched, await allRows(gateway.database)), []);
    await gateway.program.cli(...command);
    const changed = changedTables(untouched, await allRows(gateway.database));
    assert.ok(changed.includes('audit_log') && changed.length > 1, changed.join());
  });
}

test('the credit of a sign-up is in the audit log', async () => {
  const client = visitor(gateway);
  assert.equal(
    (await client.post('/auth/sign-up', { name: 'New', email: newcomer(), password })).status,
    200,
  );
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
    assert.equal((await client.post('/auth/sign-in', { email: user.email, password })).status, 200);
    return (await client.get('/session')).json<{ accounts: { id: string }[] }>().accounts;
  };
  assert.deepEqual(await whileRefusingAuditRows(gateway.database, enter), []);
  const [account] = await enter();
  assert.equal((await gateway.balance(account!.id)).postedMicros, 1_000_000);
  const log = gateway.database.read
    .selectFrom('audit_log')
    .select('action')
    .where('account_id', '=', account!.id);
  assert.deepEqual(
    (await log.orderBy('action').execute()).map(({ action }) => action),
    ['account.create', 'account.credit'],
  );
});

test('the account and key of the first start are in the audit log', async () => {
  const rows = await gateway.database.read
    .selectFrom('audit_log')
    .select('action')
    .where('actor_id', '=', 'first-start')
    .orderBy('action')
    .execute();
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['account.create', 'key.create'],
  );
});
