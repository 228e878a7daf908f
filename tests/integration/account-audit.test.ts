// An owner's view of the account's audit log: everything that members did, and what the operator
// did without who did it.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { signIn } from '../support/dashboard.ts';
import { startGateway } from '../support/gateway.ts';
import { jsonOf, ok } from '../support/http.ts';
import { rowsOf } from '../support/rows.ts';

type Entry = {
  readonly actor: { readonly kind: string; readonly name: string; readonly address: string | null };
  readonly account_id: string;
  readonly action: string;
  readonly subject: string;
  readonly names: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, unknown>> | null;
};

const gateway = await startGateway();
const owner = await signIn(gateway, { role: 'owner', name: 'Ada' });
const operator = await signIn(gateway, { operator: true, name: 'Olga Operator' });
after(() => gateway.stop());

const read = async (query = '') => {
  return jsonOf<{ data: readonly Entry[]; next_cursor: string | null }>(
    owner.get(`/accounts/${owner.account}/audit-log?${query}`),
  );
};

test('owners see what was changed, and the operator without name, address and own settings', async () => {
  await ok(owner.patch(`/accounts/${owner.account}/settings`, { name: 'Engines' }));
  await ok(
    operator.patch(`/operator/accounts/${owner.account}`, {
      frozen: true,
      price_multiplier_ppm: 1_234_000,
    }),
  );
  const { data } = await read('action=account.update');
  assert.deepEqual(
    data.map(({ actor, after: fields }) => [actor.name, actor.address, fields]),
    [
      ['The operator', null, { frozen: true }],
      [owner.email, '127.0.0.1', { name: 'Engines' }],
    ],
  );
  const all = JSON.stringify((await read()).data);
  assert.doesNotMatch(all, /Olga|1234000/);
  assert.ok(!all.includes(operator.email));
});

test('ids have the names that they have now, but for an operator’s own', async () => {
  const { account } = owner;
  const keys = `/accounts/${account}/keys`;
  const made = await jsonOf<{ key: { id: string } }>(
    owner.post(keys, { name: 'Earlier', mode: 'test' }),
  );
  const { id } = made.key;
  await ok(owner.patch(`${keys}/${id}`, { name: 'Production backend' }));
  await ok(owner.patch(`${keys}/${id}/owner`, { user_id: null }));
  const guest = await signIn(gateway, { operator: true, role: 'member', account });
  await ok(guest.post(`/accounts/${account}/leave`));
  const { data } = await read();
  const [left, assigned, , created] = data;
  assert.deepEqual([left!.action, left!.actor.name], ['member.leave', 'The operator']);
  assert.ok(!JSON.stringify(data).includes(guest.email));
  assert.equal(assigned!.action, 'key.assign');
  const named = { [id]: 'Production backend', [account]: 'Engines' };
  const withOwner = { ...named, [owner.userId]: owner.email };
  assert.deepEqual(assigned!.names, withOwner);
  assert.deepEqual([created!.action, created!.names], ['key.create', withOwner]);
});

test('it is read page by page, and only of the account', async () => {
  const first = await read('limit=1');
  assert.equal(first.data.length, 1);
  const second = await read(`limit=1&cursor=${encodeURIComponent(first.next_cursor!)}`);
  assert.notDeepEqual(second.data, first.data);
  for (const { account_id: account } of (await read()).data) assert.equal(account, owner.account);
  const wrong = await owner.get(`/accounts/${owner.account}/audit-log?cursor=x`);
  assert.deepEqual([wrong.status, wrong.error.param], [400, 'cursor']);
});

test('a session makes many changes, not any number, and others go on', async () => {
  const busy = await signIn(gateway, { account: owner.account, role: 'owner' });
  const path = `/accounts/${owner.account}/settings`;
  for (let count = 0; count < 300; count += 1)
    await ok(busy.patch(path, { name: `Name ${count}` }));
  const rows = (await rowsOf(gateway.database, 'audit_log')).length;
  const refused = await busy.patch(path, { name: 'One more' });
  assert.deepEqual([refused.status, refused.error.code], [429, 'rate_limit_exceeded']);
  assert.equal((await rowsOf(gateway.database, 'audit_log')).length, rows);
  await ok(busy.get('/profile'));
  await ok(owner.patch(path, { name: 'By another' }));
  await ok(operator.patch(`/operator/accounts/${owner.account}`, { frozen: false }));
  await ok(busy.post('/auth/sign-out'));
});
