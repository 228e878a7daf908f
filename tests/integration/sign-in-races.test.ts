// Two people at once: of several who want the same address, one gets it, and the others change
// nothing.
import assert from 'node:assert/strict';
import { after, before, test } from '../support/both-stores.ts';
import {
  type DashboardClient,
  quickHash,
  signIn,
  statusesOf,
  visitor,
} from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { createLink } from '../../src/domain/users/one-time-link.ts';

const passwordHash = quickHash('correct horse battery');
let gateway: TestGateway;
before(async () => {
  gateway = await startGateway({ server: { trust_proxy: true } });
});
after(() => gateway.stop());

const newcomer = () => `new-${Math.random().toString(36).slice(2)}@example.com`;

async function emailOf(client: DashboardClient): Promise<string> {
  return (await client.get('/profile')).json<{ email: string }>().email;
}

async function changesLogged(clients: readonly DashboardClient[]): Promise<number> {
  const rows = await gateway.database.read
    .selectFrom('audit_log')
    .select('id')
    .where('action', 'in', ['user.email', 'user.verify-email'])
    .where(
      'subject',
      'in',
      clients.map(({ userId }) => userId),
    )
    .execute();
  return rows.length;
}

async function checkOneGot(email: string, clients: readonly DashboardClient[]): Promise<void> {
  const emails = await Promise.all(clients.map(emailOf));
  assert.equal(emails.filter((one) => one === email).length, 1);
  for (const [index, one] of emails.entries())
    assert.ok(one === email || one === clients[index]!.email);
  assert.equal(await changesLogged(clients), 1);
}

test('of several users who change to one address at once, one gets it', async () => {
  const email = newcomer();
  const clients = await Promise.all([1, 2, 3].map(() => signIn(gateway, { passwordHash })));
  const replies = await Promise.all(
    clients.map((client) => client.post('/profile/email', { email })),
  );
  assert.deepEqual(statusesOf(replies), [200, 409, 409]);
  for (const { status, error } of replies.filter((reply) => reply.status !== 200))
    assert.deepEqual([status, error.code, error.param], [409, 'conflict', 'email']);
  await checkOneGot(email, clients);
});

test('users who ask for the address of each other at once are refused', async () => {
  const [one, other] = await Promise.all([1, 2].map(() => signIn(gateway, { passwordHash })));
  const replies = await Promise.all([
    one!.post('/profile/email', { email: other!.email }),
    other!.post('/profile/email', { email: one!.email }),
  ]);
  assert.deepEqual(statusesOf(replies), [409, 409]);
});

test('of several users who prove one address at once, one gets it', async () => {
  const email = newcomer();
  const clients = await Promise.all([1, 2, 3].map(() => signIn(gateway, { passwordHash })));
  const nowMs = gateway.program.clock.nowMs();
  const prove = async (client: DashboardClient) => {
    const link = { kind: 'verify-email', userId: client.userId, email } as const;
    const token = await createLink(gateway.database.write, link, nowMs);
    return () => client.post('/auth/verify-email', { token });
  };
  const proofs = await Promise.all(clients.map(prove));
  const replies = await Promise.all(proofs.map((follow) => follow()));
  assert.deepEqual(statusesOf(replies), [200, 404, 404]);
  await checkOneGot(email, clients);
  assert.deepEqual(
    statusesOf(await Promise.all(proofs.map((follow) => follow()))),
    [404, 404, 404],
    'a link works again, or takes the address of another user',
  );
});

test('of two invitations of one person, accepted at once, the refused one stays open', async () => {
  const email = newcomer();
  const owners = await Promise.all([signIn(gateway), signIn(gateway)]);
  const tokens = await Promise.all(
    owners.map(async (owner) => {
      const path = `/accounts/${owner.account}/invitations`;
      const { link } = (await owner.post(path, { email, role: 'member' })).json<{ link: string }>();
      return new URL(link).searchParams.get('token')!;
    }),
  );
  const people = [visitor(gateway), visitor(gateway)];
  const replies = await Promise.all(
    people.map((person, index) =>
      person.post('/auth/invitation/accept', {
        token: tokens[index]!,
        name: 'New',
        password: 'correct horse battery',
      }),
    ),
  );
  assert.deepEqual(statusesOf(replies), [200, 401]);
  const winner = replies.findIndex(({ status }) => status === 200);
  const refused = tokens[1 - winner]!;
  const stranger = await signIn(gateway);
  const replay = await people[winner]!.post('/auth/invitation/accept', { token: tokens[winner]! });
  const wrongUser = await stranger.post('/auth/invitation/accept', { token: refused });
  const right = await people[winner]!.post('/auth/invitation/accept', { token: refused });
  assert.deepEqual([replay.status, wrongUser.status, right.status], [404, 409, 200], right.text);
});
