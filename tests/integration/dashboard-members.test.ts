// Members of an account and invitations.
import assert from 'node:assert/strict';
import type { Database } from '../../src/db/database.ts';
import type { Role } from '../../src/db/schema.ts';
import { after, before, test, testOn } from '../support/both-stores.ts';
import { type DashboardClient, invite, signIn, statusesOf, visitor } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { actionsOf, rowsOf, setRows } from '../support/rows.ts';
import { jsonOf, ok } from '../support/http.ts';

const password = 'correct horse battery';
let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ server: { trust_proxy: true } });
});
after(() => gateway.stop());

async function invited(by: DashboardClient, email: string, role?: Role): Promise<string> {
  const { link, mailed, token } = await invite(by, email, role);
  assert.equal(mailed, false);
  assert.ok(link.startsWith(`${gateway.url}/invitation?token=`));
  return token;
}

async function rolesIn(client: DashboardClient): Promise<Record<string, string>> {
  const { data } = await jsonOf<{ data: { email: string; role: string }[] }>(
    client.get(`/accounts/${client.account}/members`),
  );
  return Object.fromEntries(data.map(({ email, role }) => [email, role]));
}

const isAlive = async (token: string) =>
  (await visitor(gateway).post('/auth/invitation', { token })).status === 200;
const accept = (token: string, as: object = { name: 'New', password }) =>
  visitor(gateway).post('/auth/invitation/accept', { token, ...as });

const newcomer = (name: string) => `${name}-${Math.random().toString(36).slice(2)}@example.com`;

test('of several people who follow an invitation at once, one becomes a user', async () => {
  const owner = await signIn(gateway, { name: 'Olga' });
  const email = newcomer('new');
  const token = await invited(owner, email.toUpperCase(), 'admin');
  const info = (await visitor(gateway).post('/auth/invitation', { token })).json();
  assert.partialDeepStrictEqual(info, {
    account_name: 'Test',
    role: 'admin',
    email,
    invited_by: 'Olga',
    is_user: false,
  });
  const visitors = [1, 2, 3].map(() => visitor(gateway));
  const replies = await Promise.all(
    visitors.map((client) =>
      client.post('/auth/invitation/accept', { token, name: 'New', password }),
    ),
  );
  assert.deepEqual(statusesOf(replies), [200, 404, 404]);
  const winner = visitors[replies.findIndex(({ status }) => status === 200)]!;
  const session = (await winner.get('/session')).json();
  assert.partialDeepStrictEqual(session, {
    user: { email, is_operator: false },
    accounts: [{ id: owner.account, role: 'admin' }],
  });
  assert.deepEqual(await rolesIn(owner), { [owner.email]: 'owner', [email]: 'admin' });
});

test('the name of an inviter cannot turn the text around it', async () => {
  const owner = await signIn(gateway);
  const name = 'Evil \u202Etxet';
  await ok(owner.patch('/profile', { name }));
  const settings = `/accounts/${owner.account}/settings`;
  await ok(owner.patch(settings, { name: `\u2067${name}` }));
  const token = await invited(owner, newcomer('new'));
  const info = (await visitor(gateway).post('/auth/invitation', { token })).json();
  assert.partialDeepStrictEqual(info, { invited_by: 'Evil txet', account_name: 'Evil txet' });
});

test('a user must sign in to accept, and only for their own address', async () => {
  const owner = await signIn(gateway);
  const user = await signIn(gateway, { role: null });
  const token = await invited(owner, user.email);
  const stranger = await accept(token);
  assert.deepEqual([stranger.status, stranger.error.code], [401, 'not_signed_in']);
  const other = await signIn(gateway);
  const wrong = await other.post('/auth/invitation/accept', { token });
  assert.deepEqual([wrong.status, wrong.error.code], [409, 'conflict']);
  assert.deepEqual((await user.post('/auth/invitation/accept', { token })).json(), {
    account_id: owner.account,
  });
  assert.equal((await rolesIn(owner))[user.email], 'member');
});

test('a new user is told which field is missing or invalid', async () => {
  const token = await invited(await signIn(gateway), newcomer('new'));
  for (const [body, param] of [
    [{}, 'name'],
    [{ name: 'New' }, 'password'],
    [{ name: 'New', password: 'short' }, 'password'],
    [{ name: '  ', password }, 'name'],
  ] as const) {
    const reply = await accept(token, body);
    assert.deepEqual([reply.status, reply.error.param], [400, param]);
  }
});

test('an invitation stops working when it is withdrawn, replaced or expired', async () => {
  const owner = await signIn(gateway);
  const email = newcomer('new');
  const first = await invited(owner, email);
  const second = await invited(owner, email);
  assert.deepEqual([await isAlive(first), await isAlive(second)], [false, true]);
  const list = (await owner.get(`/accounts/${owner.account}/invitations`)).json<{
    data: { id: string; email: string }[];
  }>();
  assert.partialDeepStrictEqual(list, { data: [{ email, role: 'member' }] });
  await ok(owner.delete(`/accounts/${owner.account}/invitations/${list.data[0]!.id}`));
  assert.equal(await isAlive(second), false);
  const third = await invited(owner, email);
  const expired = { expires_at_ms: gateway.program.clock.nowMs() - 1 };
  await setRows(gateway.database, 'invitations', { email }, expired);
  assert.equal(await isAlive(third), false);
  assert.equal((await accept(third)).status, 404);
});

test('admins cannot invite owners', async () => {
  const owner = await signIn(gateway);
  const { account } = owner;
  const member = await signIn(gateway, { account, role: 'member' });
  const admin = await signIn(gateway, { account, role: 'admin' });
  const email = newcomer('new');
  const path = `/accounts/${account}/invitations`;
  assert.equal((await admin.post(path, { email, role: 'owner' })).status, 403);
  await ok(admin.post(path, { email, role: 'admin' }));
  await ok(owner.post(path, { email, role: 'owner' }));
  const promoted = await admin.patch(`/accounts/${account}/members/${member.userId}`, {
    role: 'owner',
  });
  assert.equal(promoted.status, 403);
  assert.equal((await admin.delete(`/accounts/${account}/members/${owner.userId}`)).status, 403);
  const again = await owner.post(path, { email: member.email, role: 'member' });
  assert.deepEqual([again.status, again.error.param], [409, 'email']);
});

test("leaving, removal or demotion withdraws a member's invitations; removal also those to the member", async () => {
  const owner = await signIn(gateway);
  const { account } = owner;
  const makers = {
    removed: 'admin',
    demoted: 'admin',
    left: 'admin',
    'no owner any more': 'owner',
  } as const;
  for (const [how, role] of Object.entries(makers)) {
    const maker = await signIn(gateway, { account, role });
    const own = await invited(maker, newcomer('guest'));
    const ofOwner = await invited(owner, newcomer('guest'));
    const path = `/accounts/${account}/members/${maker.userId}`;
    const reply =
      how === 'removed'
        ? await owner.delete(path)
        : how === 'left'
          ? await maker.post(`/accounts/${account}/leave`)
          : await owner.patch(path, { role: how === 'demoted' ? 'member' : 'admin' });
    assert.equal(reply.status, 200, how);
    assert.deepEqual([await isAlive(own), await isAlive(ofOwner)], [false, true], how);
    assert.equal((await accept(own)).status, 404, how);
  }
  const promoted = await signIn(gateway, { account, role: 'admin' });
  const kept = await invited(promoted, newcomer('guest'));
  await ok(owner.patch(`/accounts/${account}/members/${promoted.userId}`, { role: 'owner' }));
  assert.equal(await isAlive(kept), true, 'whoever may do more keeps his');

  // An address that the user changed to after it was invited.
  const renamed = await signIn(gateway, { account, role: 'member' });
  const second = newcomer('second');
  const toSecond = await invited(owner, second);
  await setRows(gateway.database, 'users', { id: renamed.userId }, { email: second });
  await ok(owner.delete(`/accounts/${account}/members/${renamed.userId}`));
  assert.equal(await isAlive(toSecond), false);
});

test('a member removed while inviting leaves no invitation', async () => {
  const owner = await signIn(gateway);
  const { account } = owner;
  for (let round = 0; round < 5; round++) {
    const admin = await signIn(gateway, { account, role: 'admin' });
    const [reply] = await Promise.all([
      admin.post(`/accounts/${account}/invitations`, { email: newcomer('guest'), role: 'admin' }),
      owner.delete(`/accounts/${account}/members/${admin.userId}`),
    ]);
    assert.ok([200, 403, 404].includes(reply.status), reply.text);
    const open = await rowsOf(gateway.database, 'invitations', { invited_by: admin.userId });
    assert.deepEqual(open, []);
  }
});

test('an account keeps its last owner, even when all owners leave at once', async () => {
  const one = await signIn(gateway);
  const { account } = one;
  assert.equal((await one.post(`/accounts/${account}/leave`)).status, 409);
  const demoted = await one.patch(`/accounts/${account}/members/${one.userId}`, { role: 'admin' });
  assert.equal(demoted.status, 409);
  for (let round = 0; round < 3; round++) {
    const owners = [
      one,
      ...(await Promise.all([1, 2].map(() => signIn(gateway, { account, role: 'owner' })))),
    ];
    const leaving = owners.map((owner, index) =>
      index % 2 === 0
        ? owner.post(`/accounts/${account}/leave`)
        : owner.patch(`/accounts/${account}/members/${owner.userId}`, { role: 'member' }),
    );
    assert.deepEqual(statusesOf(await Promise.all(leaving)), [200, 200, 409]);
    const owning = await rowsOf(gateway.database, 'account_members', {
      account_id: account,
      role: 'owner',
    });
    assert.equal(owning.length, 1);
    if (owning[0]!.user_id !== one.userId) break;
  }
});

test("an owner changes an account's name and data retention", async () => {
  const owner = await signIn(gateway);
  const { account } = owner;
  const path = `/accounts/${account}/settings`;
  assert.partialDeepStrictEqual((await owner.get(path)).json(), {
    id: account,
    name: 'Test',
    retain_responses: true,
  });
  await ok(owner.patch(path, { name: '  New   name ', retain_responses: false }));
  assert.partialDeepStrictEqual((await owner.get(path)).json(), {
    name: 'New name',
    retain_responses: false,
  });
});

test('switching retention off erases stored answers before it replies, also those left by an interrupted call', async () => {
  const owner = await signIn(gateway);
  const operator = await signIn(gateway, { operator: true });
  for (const change of [
    () => owner.patch(`/accounts/${owner.account}/settings`, { retain_responses: false }),
    () => owner.patch(`/accounts/${owner.account}/settings`, { retain_responses: false }),
    () => operator.patch(`/operator/accounts/${owner.account}`, { retain_responses: false }),
  ]) {
    await storeAnswers(gateway.database, owner.account);
    const reply = await change();
    assert.equal(reply.status, 200, reply.text);
    const left = await rowsOf(gateway.database, 'cached_responses', { account_id: owner.account });
    assert.deepEqual(left, []);
  }
});

/** Enough answers for several batches. */
async function storeAnswers({ write }: Database, accountId: string): Promise<void> {
  const rows = Array.from({ length: 600 }, (_, index) => ({
    account_id: accountId,
    digest: `d${index}`,
    generation: 0,
    content_type: 'text/plain',
    headers: '{}',
    body: Buffer.from('answer'),
    size_bytes: 1_000,
    created_at_ms: 0,
    expires_at_ms: gateway.program.clock.nowMs() + 3_600_000,
  }));
  await write.insertInto('cached_responses').values(rows).execute();
}

// On one store, because the endpoints above cover both.
testOn(
  'sqlite',
  'the create-link command follows the same rules as the dashboard, and its new account is in the audit log',
  async () => {
    const create = (...options: string[]) =>
      gateway.program.cli<{ account_id: string }>('users', 'create-link', ...options);
    const { account, email } = await signIn(gateway);
    await assert.rejects(create(email, '--account', account), /This person is already a member/);
    await assert.rejects(
      create('nobody@localhost', '--account', account),
      /nobody@localhost is not an e-mail address/,
    );
    await assert.rejects(
      create(newcomer('new'), '--account', 'acc_none'),
      /There is no such account/,
    );
    const { account_id: made } = await create(newcomer('new'));
    const actions = await actionsOf(gateway.database, { account_id: made });
    assert.deepEqual(actions, ['account.create', 'invitation.create']);
  },
);
