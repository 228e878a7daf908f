// Budgets of members over HTTP: what counts in them, who sets them, and ways around them.
import assert from 'node:assert/strict';
import { newIdWithPrefix } from '../../src/lib/ids.ts';
import { micros } from '../../src/lib/money.ts';
import { after, before, test } from '../support/both-stores.ts';
import { adminOf } from '../support/admin.ts';
import { type DashboardClient, invite, signIn, visitor } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonOf, ok } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';

const chat = endpoint('chat');
const body = chat.body();

let clock: TestClock;
let gateway: TestGateway;
let owner: DashboardClient;

before(async () => {
  clock = new TestClock();
  gateway = await startGateway({}, { clock });
  owner = await signIn(gateway, { role: 'owner' });
});
after(() => gateway.stop());

type Made = { readonly id: string; readonly key: string };

/** Makes a key that belongs to who makes it. */
async function make(by: DashboardClient, mode: 'live' | 'test' = 'test'): Promise<Made> {
  const { key, secret } = await jsonOf<{ key: { id: string }; secret: string }>(
    by.post(`/accounts/${owner.account}/keys`, { mode, name: 'Theirs' }),
  );
  return { id: key.id, key: secret };
}

function setBudget(userId: string, daily: number | null, monthly: number | null = null) {
  const path = `/accounts/${owner.account}/members/${userId}/budget`;
  return owner.patch(path, { daily_micros: daily, monthly_micros: monthly });
}

const ask = ({ key }: { readonly key: string }) => gateway.post(chat.path, { key, body });

/** An admin of the account with a daily budget, and a key that the gateway applies it to. */
async function adminWithBudget(daily: number) {
  const admin = await signIn(gateway, { account: owner.account, role: 'admin' });
  const key = await make(admin);
  const set = await setBudget(admin.userId, daily);
  assert.equal(set.status, 200, set.text);
  await noticed();
  return { admin, key };
}

/** Waits until the gateway has read the newest keys and budgets. */
async function noticed(): Promise<void> {
  const probe = await gateway.makeKey({ dailyCapMicros: micros(1_000_000) });
  await ok(ask(probe));
  const { write } = gateway.database;
  await write
    .updateTable('api_keys')
    .set({ disabled_at_ms: 1 })
    .where('id', '=', probe.id)
    .execute();
  await untilNoticed(clock, async () => (await ask(probe)).status === 401);
}

test('all keys of a member share a budget, and a refusal says what is left', async () => {
  const plain = await gateway.makeKey();
  const { costMicros } = await ask(plain);
  const { admin, key } = await adminWithBudget(1_000_000);
  const other = await make(admin);
  const spent = (await ask(key)).costMicros! + (await ask(other)).costMicros!;
  assert.ok(costMicros! > 0 && spent > 0);
  assert.equal((await setBudget(admin.userId, spent)).status, 200);
  await noticed();
  for (const one of [key, other]) {
    const reply = await ask(one);
    assert.equal(reply.status, 429, reply.text);
    assert.equal(reply.error.code, 'member_budget_reached');
    assert.equal(reply.headers['x-should-retry'], 'false');
    const {
      required_micros: required,
      affordable_output_tokens: tokens,
      ...details
    } = reply.error['details'] as Readonly<Record<string, unknown>>;
    assert.ok(Number(required) > 0 && tokens === 0);
    assert.deepEqual(details, {
      limit: 'daily_budget',
      left_micros: 0,
      held_micros: 0,
      cap_micros: spent,
      spent_micros: spent,
      resets_at: new Date(Math.ceil(clock.nowMs() / 86_400_000) * 86_400_000).toISOString(),
    });
  }
  const third = await make(admin);
  assert.equal((await ask(third)).error.code, 'member_budget_reached', 'a new key is no way out');
  assert.equal((await ask(plain)).status, 200, 'other accounts are not affected');
});

test('at any concurrency, over all keys, charges never exceed the budget', async () => {
  const { costMicros: one } = await ask(await gateway.makeKey());
  const { admin, key } = await adminWithBudget(1_000_000);
  const keys = [key, await make(admin), await make(admin)];
  const first = await ask(key);
  await setBudget(admin.userId, 1);
  await noticed();
  const refusal = (await ask(key)).json<{ error: { details: { required_micros: number } } }>();
  const hold = refusal.error.details.required_micros;
  // Room for four holds at once, beside what was spent.
  const budget = first.costMicros! + 4 * hold;
  assert.equal((await setBudget(admin.userId, budget)).status, 200);
  await noticed();
  let spent = first.costMicros!;
  let refused = 0;
  for (let round = 0; round < 40 && refused < 20; round++) {
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, index) => ask(keys[index % keys.length]!)),
    );
    for (const reply of replies) {
      if (reply.status === 200) spent += reply.costMicros!;
      else refused += 1;
      assert.ok(reply.status === 200 || reply.error.code === 'member_budget_reached', reply.text);
    }
    assert.ok(spent <= budget, `${spent} of ${budget}`);
  }
  assert.ok(refused > 0 && one! > 0);
});

test('a budget counts what a key spent before it was given to the member', async () => {
  const member = await signIn(gateway, { account: owner.account, role: 'member' });
  const key = await gateway.makeKey({ account: owner.account });
  const { costMicros } = await ask(key);
  assert.equal((await setBudget(member.userId, costMicros)).status, 200);
  const given = await owner.patch(`/accounts/${owner.account}/keys/${key.id}/owner`, {
    user_id: member.userId,
  });
  assert.deepEqual(
    given.json()['owner'],
    { user_id: member.userId, name: 'Test User' },
    given.text,
  );
  await untilNoticed(clock, async () => (await ask(key)).status === 429);
  const taken = await owner.patch(`/accounts/${owner.account}/keys/${key.id}/owner`, {
    user_id: null,
  });
  assert.equal(taken.json()['owner'], null);
  await untilNoticed(clock, async () => (await ask(key)).status === 200);
});

test('live and test keys count separately, and a budget can be lifted', async () => {
  const { admin, key } = await adminWithBudget(0);
  assert.equal((await ask(key)).status, 429, '0 allows nothing');
  const shown = await owner.get(`/accounts/${owner.account}/budgets`);
  const row = shown
    .json<{ data: { user_id: string; daily_micros: number; today: { spent_micros: number } }[] }>()
    .data.find(({ user_id: id }) => id === admin.userId)!;
  assert.deepEqual([row.daily_micros, row.today.spent_micros], [0, 0]);
  assert.equal((await setBudget(admin.userId, null)).status, 200);
  await untilNoticed(clock, async () => (await ask(key)).status === 200);
});

test('a user with a budget cannot spend by the keys of others, nor invite a helper', async () => {
  const { admin, key } = await adminWithBudget(1_000_000);
  const others = await gateway.makeKey({ account: owner.account });
  const base = `/accounts/${owner.account}`;
  const play = (id: string) => admin.post(`${base}/keys/${id}${chat.path}`, body);
  await ok(play(key.id));
  assert.equal((await play(others.id)).error.code, 'not_permitted');
  const rotated = await admin.post(`${base}/keys/${others.id}/rotate`, { overlap_hours: 1 });
  assert.equal(rotated.status, 403, rotated.text);
  const invitation = { email: 'helper@example.com', role: 'admin' };
  assert.equal((await admin.post(`${base}/invitations`, invitation)).status, 403);
  const own = await ok(admin.post(`${base}/keys/${key.id}/rotate`, { overlap_hours: 1 }));
  const secret = own.json<{ secret: string }>().secret;
  await setBudget(admin.userId, 0);
  await untilNoticed(clock, async () => (await ask({ key: secret })).status === 429);
  assert.equal((await ask(key)).status, 429, 'both texts of a rotated key count');
});

test('who leaves the account does not free the keys from the budget', async () => {
  const { admin, key } = await adminWithBudget(0);
  await ok(admin.post(`/accounts/${owner.account}/leave`));
  await noticed();
  assert.equal((await ask(key)).error.code, 'member_budget_reached');
  assert.equal((await setBudget(admin.userId, null)).status, 200, 'an owner can still lift it');
});

/** Invites somebody and returns the token of the link that the inviter sees. */
async function inviteBy(
  inviter: DashboardClient,
  role: 'member' | 'admin' | 'owner' = 'admin',
): Promise<{ readonly token: string; readonly email: string }> {
  const email = `${newIdWithPrefix('helper')}@example.com`;
  const { token } = await invite(inviter, email, role);
  return { token, email };
}

const accept = async ({ token }: { readonly token: string }) => {
  const answer = { token, name: 'Helper', password: 'correct horse battery' };
  return (await visitor(gateway).post('/auth/invitation/accept', answer)).status;
};

const openInvitations = async () =>
  (await owner.get(`/accounts/${owner.account}/invitations`))
    .json<{ data: readonly { email: string }[] }>()
    .data.map(({ email }) => email);

test('a budget ends the open invitations of its user, however it is set', async () => {
  const admin = await adminOf(gateway);
  const ways: Readonly<Record<string, (userId: string) => Promise<unknown>>> = {
    dashboard: (userId) => setBudget(userId, 0),
    'admin API': (userId) =>
      admin.ok('PATCH', `/accounts/${owner.account}/members/${userId}/budget`, {
        body: { daily_micros: 0, monthly_micros: null },
      }),
  };
  for (const [way, give] of Object.entries(ways)) {
    const inviter = await signIn(gateway, { account: owner.account, role: 'admin' });
    const helper = await inviteBy(inviter);
    await give(inviter.userId);
    assert.ok(!(await openInvitations()).includes(helper.email), way);
    assert.equal((await setBudget(inviter.userId, null)).status, 200);
    assert.equal(await accept(helper), 404, `${way}: a lifted budget brings no invitation back`);
  }
});

test('an owner with a budget still invites, because owners may lift their own budget', async () => {
  const other = await signIn(gateway, { account: owner.account, role: 'owner' });
  const helper = await inviteBy(other);
  assert.equal((await setBudget(other.userId, 0)).status, 200);
  assert.equal(await accept(helper), 200);
});

test('an invitation counts only while its inviter may still invite', async () => {
  const { write } = gateway.database;
  /** Changes that pass the functions which end invitations. */
  const losses: Readonly<Record<string, (userId: string) => Promise<unknown>>> = {
    'has a budget': (user_id) =>
      write
        .insertInto('member_budgets')
        .values({
          account_id: owner.account,
          user_id,
          daily_micros: micros(0),
          monthly_micros: null,
        })
        .execute(),
    'was demoted': (userId) =>
      write
        .updateTable('account_members')
        .set({ role: 'member' })
        .where('user_id', '=', userId)
        .execute(),
    'was removed': (userId) =>
      write.deleteFrom('account_members').where('user_id', '=', userId).execute(),
  };
  for (const [loss, lose] of Object.entries(losses)) {
    const inviter = await signIn(gateway, { account: owner.account, role: 'admin' });
    const helper = await inviteBy(inviter);
    await lose(inviter.userId);
    assert.ok(!(await openInvitations()).includes(helper.email), loss);
    const shown = await visitor(gateway).post('/auth/invitation', { token: helper.token });
    assert.equal(shown.status, 404, loss);
    assert.equal(await accept(helper), 404, loss);
  }
  const owning = await signIn(gateway, { account: owner.account, role: 'owner' });
  const asOwner = await inviteBy(owning, 'owner');
  await write
    .updateTable('account_members')
    .set({ role: 'admin' })
    .where('user_id', '=', owning.userId)
    .execute();
  assert.equal(await accept(asOwner), 404, 'an admin invites no owners');
  assert.equal(await accept(await inviteBy(owning)), 200, 'an admin invites admins');
});
