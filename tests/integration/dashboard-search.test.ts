// The search of the command palette finds what its user may open, and nothing else.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { columnOf } from '../support/column-of.ts';

const chat = endpoint('chat');

const gateway = await startGateway({});
const owner = await signIn(gateway, { name: 'Ada' });
const member = await signIn(gateway, { role: 'member', account: owner.account });
const stranger = await signIn(gateway);
const operator = await signIn(gateway, { operator: true, role: null });
after(() => gateway.stop());

type Found = {
  requests: { id: string; mode: string; outcome: string }[];
  keys: { id: string; name: string; hint: string }[];
  models: { id: string; name: string }[];
};

async function find(client: DashboardClient, text: string, account = client.account) {
  const query = new URLSearchParams({ q: text });
  return client.get(`/accounts/${account}/search?${query.toString()}`);
}

const found = async (client: DashboardClient, text: string) =>
  (await find(client, text)).json<Found>();

test('a request is found by its id, alone or in a pasted line, by members of its account only', async () => {
  const { key } = await gateway.makeKey({ account: member.account });
  const reply = await gateway.post(chat.path, { key, body: chat.body() });
  const id = reply.requestId;
  for (const text of [
    id,
    id.slice('req_'.length),
    ` ${id} `,
    id.toUpperCase(),
    `X-Request-Id: ${id}`,
    `"request_id":"${id}"`,
  ]) {
    const { requests } = await found(member, text);
    assert.deepEqual(
      requests.map((request) => [request.id, request.mode, request.outcome]),
      [[id, 'test', 'complete']],
      text,
    );
  }
  assert.deepEqual((await found(member, id.slice(0, -1))).requests, []);
  assert.deepEqual((await found(stranger, id)).requests, []);
  assert.equal((await find(stranger, id, member.account)).status, 404);
  assert.equal((await find(operator, id, member.account)).status, 404);
});

test('keys are found by a part of the name or of the visible text, in both modes', async () => {
  const { account } = member;
  const made = await gateway.makeKey({ account, name: 'Nightly 100%', mode: 'live' });
  await gateway.makeKey({ account: stranger.account, name: 'Nightly too' });
  const [key] = (await found(member, 'nightly')).keys;
  assert.deepEqual([key!.id, key!.name], [made.id, 'Nightly 100%']);
  for (const text of [key!.hint, made.key.slice(-4), 'TLY 100%', made.id])
    assert.deepEqual(columnOf((await found(member, text)).keys, 'id'), [made.id], text);
  assert.deepEqual((await found(member, '%_%_%')).keys, []);
  for (let count = 0; count < 8; count++) await gateway.makeKey({ account, name: `Many ${count}` });
  assert.equal((await found(member, 'many')).keys.length, 5);
});

test('models are found by parts of their name', async () => {
  const { models } = await found(member, 'gpt mini');
  assert.ok(models.length > 0 && models.length <= 5);
  assert.ok(models.every(({ id, name }) => /gpt.*mini/i.test(`${id} ${name}`)));
});

test('accounts and users are for operators', async () => {
  const search = (client: DashboardClient, text: string) =>
    client.get(`/operator/search?${new URLSearchParams({ q: text }).toString()}`);
  const { accounts } = (await search(operator, member.account)).json<{
    accounts: { id: string }[];
  }>();
  assert.deepEqual(columnOf(accounts, 'id'), [member.account]);
  const { users } = (await search(operator, member.email)).json<{ users: { email: string }[] }>();
  assert.deepEqual(columnOf(users, 'email'), [member.email]);
  for (const client of [member, stranger])
    assert.equal((await search(client, member.account)).status, 404);
});

test('a search has from 2 to 100 characters', async () => {
  for (const text of ['', 'x', 'x'.repeat(101)]) {
    const reply = await find(member, text);
    assert.equal(reply.status, 400, text);
    assert.equal(reply.error.param, 'q');
  }
});
