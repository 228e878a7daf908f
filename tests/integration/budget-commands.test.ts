// Budgets and owners of keys by the command line, beside a running gateway.
import assert from 'node:assert/strict';
import { dayOf } from '../../src/lib/utc-time.ts';
import { answerContent } from '../support/answers.ts';
import { after, before, test } from '../support/both-stores.ts';
import { type DashboardClient, signIn } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';

const chat = endpoint('chat');

let gateway: TestGateway;
let owner: DashboardClient;
before(async () => {
  gateway = await startGateway({});
  owner = await signIn(gateway, { role: 'owner' });
  const tokens = { input: 300, output: 40 };
  gateway.upstream.on(chat.upstreamPath, answerContent('chat', { text: 'yes', tokens }));
});
after(() => gateway.stop());

type Budget = {
  readonly user_id: string;
  readonly name: string;
  readonly spent_today_micros: number;
  readonly spent_this_month_micros: number;
};
type Owned = { readonly id: string; readonly owner: { readonly user_id: string } | null };

const cli = <Result = Record<string, unknown>>(...args: string[]) =>
  gateway.program.cli<Result>(...args);

const createKey = (...options: string[]) => {
  const args = ['--account', owner.account, '--mode', 'live', ...options];
  return cli<{ id: string; key: string }>('keys', 'create', ...args);
};

async function ownerOf(keyId: string): Promise<string | null> {
  const keys = await cli<readonly Owned[]>('keys', 'list', '--account', owner.account);
  return keys.find(({ id }) => id === keyId)!.owner?.user_id ?? null;
}

const ask = async (key: string) =>
  (await gateway.post(chat.path, { key, body: chat.body() })).status;

test('a budget is set, binds the keys of its member, is changed in one field, and removed', async () => {
  await cli('accounts', 'credit', owner.account, '--usd', '5');
  // Commands use the system's clock, which may pass midnight meanwhile.
  const day = dayOf(Date.now());
  const member = await signIn(gateway, { account: owner.account, role: 'member' });
  const of = [owner.account, member.email.toUpperCase()];
  const ids = { account_id: owner.account, user_id: member.userId };
  const { id, key } = await createKey('--owner', member.email);
  assert.equal(await ownerOf(id), member.userId);
  assert.equal(await ask(key), 200);
  const set = await cli('budgets', 'set', ...of, '--daily-usd', '0', '--monthly-usd', '7.5');
  assert.deepEqual(set, { ...ids, daily_micros: 0, monthly_micros: 7_500_000 });
  await until(async () => (await ask(key)) === 429);
  const [row, ...others] = await cli<readonly Budget[]>('budgets', 'list', owner.account);
  assert.deepEqual(others, []);
  const isSameDay = dayOf(Date.now()) === day;
  assert.ok(!isSameDay || row!.spent_today_micros > 0);
  assert.deepEqual(row, {
    user_id: member.userId,
    name: row!.name,
    daily_micros: 0,
    monthly_micros: 7_500_000,
    spent_today_micros: row!.spent_today_micros,
    spent_this_month_micros: isSameDay ? row!.spent_today_micros : row!.spent_this_month_micros,
  });
  const changed = await cli('budgets', 'set', ...of, '--daily-usd', 'none');
  assert.deepEqual(changed, { ...ids, daily_micros: null, monthly_micros: 7_500_000 });
  await until(async () => (await ask(key)) === 200);
  const removed = await cli('budgets', 'remove', owner.account, member.userId);
  assert.deepEqual(removed, { ...ids, daily_micros: null, monthly_micros: null });
  assert.deepEqual(await cli('budgets', 'list', owner.account), []);
});

test('a key is given to a member by id or address, and to nobody', async () => {
  const member = await signIn(gateway, { account: owner.account, role: 'member' });
  const { id } = await createKey();
  assert.equal(await ownerOf(id), null);
  const given = await cli<Owned>('keys', 'assign', id, '--owner', member.email);
  assert.equal(given.owner?.user_id, member.userId);
  assert.equal(await ownerOf(id), member.userId);
  await cli('keys', 'assign', id, '--owner', owner.userId);
  assert.equal(await ownerOf(id), owner.userId);
  const taken = await cli<Owned>('keys', 'assign', id, '--owner', 'none');
  assert.equal(taken.owner, null);
  const log = await gateway.database.read
    .selectFrom('audit_log')
    .select(['action', 'actor_id', 'after'])
    .where('subject', '=', id)
    .where('action', '=', 'key.assign')
    .orderBy('id')
    .execute();
  assert.deepEqual(
    log.map(({ actor_id, after: fields }) => [actor_id, JSON.parse(fields!)]),
    [member.userId, owner.userId, null].map((to) => ['keys assign', { owner: to }]),
  );
});

test('wrong members, accounts, keys and amounts are refused with what to do', async () => {
  const stranger = await signIn(gateway);
  const { id } = await createKey();
  const { account, userId } = owner;
  const made = 'keys create --mode test --account';
  for (const [args, problem] of [
    ['budgets list acc_unknown', /There is no such account/],
    [`budgets set acc_unknown ${userId} --daily-usd 1`, /There is no such account/],
    [`budgets set ${account} ${userId}`, /give --daily-usd, --monthly-usd or both/],
    [`budgets set ${account} ${stranger.email} --daily-usd 1`, /no such member/],
    [`budgets set ${account} ${stranger.userId} --daily-usd 1`, /no such member/],
    [`budgets set ${account} ${userId} --daily-usd lots`, /--daily-usd.*amount in US dollars/],
    [`budgets set ${account} ${userId} --monthly-usd -1`, /--monthly-usd.*0 or more/],
    [`budgets remove ${account} nobody@example.com`, /no such member/],
    [`keys assign ${id}`, /--owner/],
    [`keys assign ${id} --owner ${stranger.userId}`, /no such member/],
    ['keys assign key_unknown --owner none', /There is no such key/],
    [`${made} ${account} --owner ${stranger.userId}`, /The owner must be a member/],
    [`${made} acc_unknown --owner ${userId}`, /There is no such account/],
  ] as const)
    await assert.rejects(cli(...args.split(' ')), problem, args);
  const blank = cli('keys', 'assign', id, '--owner', ' ');
  await assert.rejects(blank, /a user id, an e-mail address or "none"/);
  assert.equal(await ownerOf(id), null);
  assert.deepEqual(await cli('budgets', 'list', owner.account), []);
});

test('a list of keys or a report that can only be empty is refused', async () => {
  await assert.rejects(cli('keys', 'list', '--account', 'acc_nobody'), /There is no such account/);
  const words = /--to must be after --from: it is the day after the last one/;
  for (const to of ['2026-11-20', '2026-11-21'])
    await assert.rejects(cli('report', '--from', '2026-11-21', '--to', to), words);
});
