// All threads of a process, and all gateways of a database, follow a change of an account's own keys:
// the threads on SQLite, the gateways on PostgreSQL.
import { test } from 'node:test';
import { wholeAnswer } from '../support/answers.ts';
import { adminOf } from '../support/admin.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { startGatewayProgram, type TestGateway } from '../support/gateway.ts';
import { send } from '../support/http.ts';
import { startReplicaPrograms } from '../support/replicas.ts';
import { until } from '../support/until.ts';
import { answerJson } from '../support/upstream.ts';

const answer = answerJson(
  wholeAnswer('chat', { text: 'one two', tokens: { input: 5, output: 20 } }),
);
const routes = [{ provider: 'openai', model: 'up', api: 'chat' }];
const settings = [
  { path: ['providers', 'openai', 'accounts_may_bring_keys'], value: true },
  { path: ['models', 'sold', 'routes'], value: routes },
  { path: ['models', 'sold', 'prices'], value: { input: 1, output: 1 } },
];

const hooks = hooksOfFile();

async function followChanges(gateway: TestGateway, urls: readonly string[]): Promise<void> {
  gateway.upstream.on('/v1/chat/completions', answer);
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
  const admin = await adminOf(gateway);
  await admin.ok('PATCH', '/settings/saved', { body: { version: 0, changes: settings } });
  const secret = 'sk-of-the-customer-000';
  const isOwn = ({ headers }: { headers: object }) =>
    (headers as Record<string, unknown>)['authorization'] === `Bearer ${secret}`;
  /** Each request has a connection of its own, which the system gives to some thread. */
  const usedBy = async () => {
    const { asked } = await gateway.recordUpstream(async () => {
      const sent = urls.flatMap((url) =>
        Array.from({ length: 8 }, (_, number) => {
          const messages = [{ role: 'user', content: `Question ${number}` }];
          const body = { model: 'sold', messages, max_tokens: 20 };
          return send(`${url}/v1/chat/completions`, { method: 'POST', key, body });
        }),
      );
      return (await Promise.all(sent))[0]!;
    });
    return asked.length > 0 ? asked.map(isOwn) : [false, true];
  };
  const body = { provider: 'openai', api_key: secret };
  const below = `/accounts/${account}/own-keys`;
  // Each thread takes the settings by itself.
  const { text } = await until(async () => {
    const reply = await admin.send('POST', below, { body });
    return reply.status === 200 && reply;
  });
  const { id } = JSON.parse(text) as { id: string };
  await until(async () => (await usedBy()).every(Boolean));
  await admin.ok('DELETE', `${below}/${id}`);
  await until(async () => (await usedBy()).every((own) => !own));
}

test('all threads of a process follow', async () => {
  const gateway = await startGatewayProgram({ server: { threads: 3 } });
  hooks.after(() => gateway.stop());
  await followChanges(gateway, [gateway.url]);
});

test('all gateways of a database follow', async () => {
  const { replicas, setup } = await startReplicaPrograms(hooks, {
    count: 2,
    config: { server: { threads: 1 } },
  });
  const urls = replicas.map(({ url }) => url);
  await followChanges(setup, urls);
});
