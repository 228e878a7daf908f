// Idempotency-Keys over several gateways on one PostgreSQL database: whichever is asked, a request runs once.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { answerContent, streamFrames } from '../support/answers.ts';
import { endpoint } from '../support/endpoints.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import type { TestGateway } from '../support/gateway.ts';
import { send, type Reply } from '../support/http.ts';
import type { Program } from '../support/program.ts';
import { startReplicaPrograms } from '../support/replicas.ts';
import { framesText, hang, type LocalUpstream, type Script } from '../support/upstream.ts';

const chat = endpoint('chat');
const duplicates = Number(process.env['TOLLGATE_DUPLICATES'] ?? 1_000);
const content = { text: 'one two three', tokens: { input: 100, output: 20 } };
const answer = answerContent('chat', content);
let upstream: LocalUpstream;
let replicas: readonly Program[];
let setup: TestGateway;

const hooks = hooksOfFile();
before(async () => {
  ({ replicas, setup, upstream } = await startReplicaPrograms(hooks, { count: 3 }));
});

const ask = (replica: Program, { key, name, stream = false }: { key: string; name: string; stream?: boolean }) =>
  send(replica.url + chat.path, { key, headers: { 'idempotency-key': name }, body: chat.body({ stream }) });

void describe('gateways on one database', () => {
  for (const stream of [false, true]) {
    test(
      `of ${duplicates} ${stream ? 'streams' : 'requests'} at once on three gateways one runs and one is charged`,
      { timeout: 60_000 },
      async () => {
        const { key, account } = await setup.makeKey({ mode: 'live', creditUsd: 5 });
        upstream.on(chat.upstreamPath, async (response, request) => {
          await setTimeout(500);
          return answer(response, request);
        });
        const earlier = upstream.requests.length;
        const replies = await Promise.all(
          Array.from({ length: duplicates }, (_, index) => ask(replicas[index % 3]!, { key, name: 'order-1', stream })),
        );
        assert.ok(replies.every(({ status }) => status === 200));
        assert.equal(new Set(replies.map(({ text }) => text.replace(/^: .*\n\n/gm, ''))).size, 1);
        assert.equal(replies.filter((reply) => reply.costMicros !== 0).length, 1);
        assert.equal(upstream.requests.length - earlier, 1);
        const charges = await setup.database.read
          .selectFrom('charges')
          .select('cost_micros')
          .where('ledger_id', '=', `${account}:live`)
          .execute();
        assert.equal(charges.length, 1);
        assert.equal((await setup.balance(account)).postedMicros, 5_000_000 - charges[0]!.cost_micros);
      },
    );
  }

  test('what a killed gateway ran, another runs when its lease has ended; it is charged once', { timeout: 100_000 }, async () => {
    const { key, account } = await setup.makeKey({ mode: 'live', creditUsd: 5 });
    upstream.on(chat.upstreamPath, hang, answer);
    const earlier = upstream.requests.length;
    const lost = ask(replicas[1]!, { key, name: 'order-1' }).catch(() => null);
    await upstream.request(earlier);
    await replicas[1]!.kill();
    assert.equal(await lost, null);
    const reply = await ask(replicas[2]!, { key, name: 'order-1' });
    assert.equal(reply.status, 200, reply.text);
    assert.ok(reply.costMicros! > 0);
    const replayed = await ask(replicas[0]!, { key, name: 'order-1' });
    assert.equal(replayed.text, reply.text);
    assert.equal(replayed.costMicros, 0);
    assert.equal(upstream.requests.length - earlier, 2);
    assert.equal((await setup.balance(account)).postedMicros, 5_000_000 - reply.costMicros!);
  });

  test(
    'a gateway that was paused beyond its lease charges nothing for what another has run since',
    { timeout: 60_000 },
    async () => {
      const { key, account } = await setup.makeKey({ mode: 'live', creditUsd: 5 });
      const [paused, , other] = replicas as [Program, Program, Program];
      const names = [
        { key, name: 'order-1', stream: false },
        { key, name: 'order-2', stream: true },
      ];
      const resumed = Promise.withResolvers<void>();
      const earlier = upstream.requests.length;
      upstream.on(chat.upstreamPath, beginThen(resumed.promise), beginThen(resumed.promise), answer);
      const late = names.map((name) => ask(paused, name));
      await upstream.request(earlier + 1);
      // The stream's first frames are on their way to its client.
      await setTimeout(200);
      process.kill(paused.pid, 'SIGSTOP');
      try {
        await setup.database.write.updateTable('hold_owners').set({ expires_at_ms: 1 }).where('pid', '=', paused.pid).execute();
        const replies = await Promise.all(names.map((name) => ask(other, name)));
        assert.deepEqual(
          replies.map(({ status }) => status),
          [200, 200],
        );
        resumed.resolve();
        process.kill(paused.pid, 'SIGCONT');
        const [whole, stream] = (await Promise.all(late)) as [Reply, Reply];
        assert.deepEqual([whole.status, whole.error.code], [503, 'upstream_unavailable'], whole.text);
        assert.match(whole.error.message, /has taken its place/);
        assert.match(stream.text, /"content":" two"[^]*upstream_unavailable/);
        assert.doesNotMatch(stream.text, /\[DONE\]|cost_micros/);

        const replays = await Promise.all(names.map((name) => ask(paused, name)));
        assert.deepEqual(
          replays.map(({ text, costMicros }) => [text, costMicros]),
          replies.map(({ text }) => [text.replace(/^: .*\n\n/gm, ''), 0]),
        );
        const costs = replies.reduce((sum, { costMicros }) => sum + costMicros!, 0);
        const { postedMicros, heldMicros } = await setup.balance(account);
        assert.deepEqual([postedMicros, heldMicros], [5_000_000 - costs, 0]);
        assert.deepEqual(await lossesOf(account), [true, true]);
      } finally {
        process.kill(paused.pid, 'SIGCONT');
      }
    },
  );
});

/** Some of a stream at once; the rest, or all of a whole answer, when the time has come. */
function beginThen(come: Promise<void>): Script {
  const { start, deltas, end } = streamFrames('chat', content);
  return async (response, request) => {
    if ((request.body as { stream?: boolean }).stream !== true) {
      await come;
      return answer(response, request);
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(framesText([...start, ...deltas]));
    await come;
    response.end(framesText(end));
  };
}

/** Whether each request that was free because another had its key cost the operator something. */
async function lossesOf(account: string): Promise<boolean[]> {
  const entries = await setup.database.read
    .selectFrom('entries')
    .select('loss_micros')
    .where('ledger_id', '=', `${account}:live`)
    .where('note', '=', 'superseded')
    .execute();
  return entries.map(({ loss_micros: lossMicros }) => lossMicros > 0);
}
