// Signing in to the dashboard, from the first link to the last session.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { signIn, visitor } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const password = 'correct horse battery';
let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ server: { trust_proxy: true } });
});
after(() => gateway.stop());

test('the link of the first start makes an operator and owner, once', async () => {
  const token = /\/first-run\?token=([\w-]+)/.exec(gateway.program.output)![1]!;
  const first = visitor(gateway);
  const known = await first.post('/auth/link', { token });
  assert.deepEqual(known.json(), { kind: 'first-run', email: null });
  const user = { name: 'Ada', email: 'Ada@Example.com', password };
  const reply = await first.post('/auth/first-run', { token, ...user });
  assert.equal(reply.status, 200, reply.text);

  const session = (await first.get('/session')).json<{ user: { email: string; is_operator: boolean }; accounts: object[] }>();
  assert.equal(session.user.email, 'ada@example.com');
  assert.equal(session.user.is_operator, true);
  assert.partialDeepStrictEqual(session.accounts, [{ name: 'Default', role: 'owner' }]);

  const again = await visitor(gateway).post('/auth/first-run', { token, ...user, email: 'eve@example.com' });
  assert.equal(again.status, 404);
});

test('a session that tests write is one', async () => {
  const member = await signIn(gateway, { role: 'member' });
  const members = await member.get(`/accounts/${member.account}/members`);
  assert.partialDeepStrictEqual(members.json(), { data: [{ user_id: member.userId, role: 'member' }] });
});
