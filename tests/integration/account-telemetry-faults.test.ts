// Receivers of accounts that are down, slow, lie, or lead into the operator's network.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { receiverHosts } from '../../src/domain/telemetry/accounts/address.ts';
import { accountSender } from '../../src/domain/telemetry/accounts/exports.ts';
import { checkedConnector, type OpenConnector } from '../../src/lib/checked-connector.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { answerContent } from '../support/answers.ts';
import { signIn } from '../support/dashboard.ts';
import { rowsOf } from '../support/rows.ts';
import { TestClock } from '../support/test-clock.ts';
import { endpointOf, startTwoRoutes } from '../support/two-routes.ts';
import { until } from '../support/until.ts';
import {
  answerJson,
  answerStatus,
  hang,
  startUpstream,
  thenReset,
  type LocalUpstream,
  type Script,
} from '../support/upstream.ts';
import { ok } from '../support/http.ts';

const target = { endpoint: 'https://otlp.example.com', headers: { authorization: 'a key' } };

/** A sender whose names resolve to these addresses, one list for each connection. */
function senderTo(answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const connected: string[] = [];
  const resolve = async (name: string) => {
    asked.push(name);
    return answers[Math.min(asked.length, answers.length) - 1]!;
  };
  const openConnector: OpenConnector = (addresses) => {
    connected.push(...addresses);
    return (_options, callback) => callback(new Error('no connection in this test'), null);
  };
  const hosts = receiverHosts([], resolve);
  return { send: accountSender({ hosts, openConnector, clock: systemClock }), asked, connected };
}

const later = (problem: string) => ({ kind: 'later', problem, waitMs: null });

const inside = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', 'fd00::1', '64:ff9b::7f00:1'];
for (const address of [...inside, '::ffff:127.0.0.1', '::ffff:a9fe:a9fe']) {
  test(`a name that leads to ${address} gets no connection, nor beside a public address`, async () => {
    for (const answer of [[address], ['93.184.215.14', address]]) {
      const { send, connected } = senderTo([answer]);
      assert.deepEqual(await send(target, '{}'), later('it has no public address'));
      assert.deepEqual(connected, []);
    }
  });
}

test('a name whose address changes is checked anew for each connection, which goes where was checked', async () => {
  const { send, asked, connected } = senderTo([['93.184.215.14'], ['127.0.0.1']]);
  await send(target, '{}');
  await send(target, '{}');
  assert.deepEqual(asked, ['otlp.example.com', 'otlp.example.com']);
  assert.deepEqual(connected, ['93.184.215.14']);
});

test('a name that does not exist, and a resolver that hangs, end with a problem', async () => {
  const { send } = senderTo([[]]);
  assert.equal((await send(target, '{}')).kind, 'later');
  const clock = new TestClock();
  const hosts = receiverHosts([], () => new Promise(() => {}));
  const sending = accountSender({ hosts, clock })(target, '{}');
  await clock.advance(10_000);
  assert.deepEqual(await sending, later('it does not answer within 10 seconds'));
});

async function receiverThat(t: TestContext, script: Script): Promise<LocalUpstream> {
  const receiver = await startUpstream(t);
  receiver.on('/v1/traces', script);
  return receiver;
}

function senderOf(receiver: LocalUpstream, clock = new TestClock()) {
  const hosts = receiverHosts([new URL(receiver.url).host]);
  const send = accountSender({ hosts, openConnector: checkedConnector, clock });
  return { clock, send: () => send({ endpoint: receiver.url, headers: {} }, '{}') };
}

for (const location of [
  'http://127.0.0.1:1/',
  'http://169.254.169.254/latest/meta-data',
  'http://[::ffff:169.254.169.254]/',
  '/v1/traces/',
])
  for (const status of [301, 302, 303, 307, 308])
    test(`a redirect ${status} to ${location} is refused and not followed`, async (t) => {
      const receiver = await receiverThat(t, (response) => {
        response.writeHead(status, { location }).end();
      });
      const posted = await senderOf(receiver).send();
      assert.deepEqual(posted, { kind: 'refused', problem: `it answers with status ${status}` });
      assert.equal(receiver.requests.length, 1);
    });

test('a redirect to a host that the operator allowed is not followed either', async (t) => {
  const other = await receiverThat(t, answerJson({}));
  const receiver = await receiverThat(t, (response) => {
    response.writeHead(307, { location: `${other.url}/v1/traces` }).end();
  });
  const hosts = receiverHosts([receiver, other].map(({ url }) => new URL(url).host));
  await accountSender({ hosts, clock: systemClock })({ endpoint: receiver.url, headers: {} }, '{}');
  assert.deepEqual(other.requests, []);
});

const endless: Readonly<Record<string, Script>> = {
  'never answers': hang,
  'never ends its answer': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{');
  },
};
for (const [what, script] of Object.entries(endless))
  test(`a receiver that ${what} is given up after ten seconds`, async (t) => {
    const receiver = await receiverThat(t, script);
    const { clock, send } = senderOf(receiver);
    const sending = send();
    await until(() => receiver.requests.length > 0);
    await clock.advance(10_000);
    assert.equal((await sending).kind, 'later');
  });

test('of a huge answer only the first bytes are read', async (t) => {
  const closed = Promise.withResolvers<void>();
  const receiver = await receiverThat(t, (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const sending = Readable.from(repeated('x'.repeat(64 * 1024))).pipe(response);
    sending.once('close', () => closed.resolve());
  });
  assert.deepEqual(await senderOf(receiver).send(), { kind: 'taken', rejected: 0 });
  await closed.promise;
});

function* repeated(text: string): Generator<string> {
  for (;;) yield text;
}

for (const count of ['-5', '1e999', '0.5', 'many', '99999999999999999999'])
  test(`a receiver that claims to have rejected ${count} spans changes nothing else`, async (t) => {
    const partialSuccess = { rejectedSpans: count };
    const receiver = await receiverThat(t, answerJson({ partialSuccess }));
    const posted = await senderOf(receiver).send();
    assert.equal(posted.kind, 'taken');
    assert.ok(posted.kind === 'taken' && posted.rejected >= 0);
  });

test('a receiver that hangs up is tried again later', async (t) => {
  const receiver = await receiverThat(t, thenReset(null));
  assert.deepEqual(await senderOf(receiver).send(), later('it cannot be reached'));
});

test('requests are answered at once whatever the receivers do, and the account sees what was dropped', async (t) => {
  const scripts = [hang, answerStatus(500), answerStatus(503)];
  const receivers = await Promise.all(scripts.map((script) => receiverThat(t, script)));
  const two = await startTwoRoutes({
    telemetry: { allowed_hosts: receivers.map(({ url }) => new URL(url).host) },
    metrics: { token: 'token-of-the-metrics' },
  });
  t.after(() => two.stop());
  two.play('chat', [answerContent('chat', { text: 'yes', tokens: { input: 4, output: 1 } })]);
  const owners = await Promise.all(
    receivers.map(async ({ url: endpoint }) => {
      const owner = await signIn(two.gateway);
      await owner.patch(`/accounts/${owner.account}/telemetry`, { endpoint });
      return owner;
    }),
  );
  const { database } = two.gateway;
  for (const { account } of owners) {
    const { key } = await two.gateway.makeKey({ account, mode: 'live', creditUsd: 5 });
    for (let request = 0; request < 3; request++) {
      const body = endpointOf('chat').body({ model: 'one-chat' });
      await ok(two.gateway.post('/v1/chat/completions', { key, body }));
    }
  }
  await until(() => receivers.every(({ requests }) => requests.length > 0));
  const expected = { account_id: owners[1]!.account, dropped_spans: 12 };
  const row = await until(async () => {
    const rows = await rowsOf(database, 'account_telemetry_results', expected);
    return rows[0];
  });
  assert.equal(row.last_problem, 'it answers with status 500');
  const { text } = await two.gateway.get('/metrics', { key: 'token-of-the-metrics' });
  assert.match(text, /tollgate_account_spans_total\{outcome="dropped"\} 12/);
});

test('without an export, no span is begun and nothing is sent', async (t) => {
  const two = await startTwoRoutes();
  t.after(() => two.stop());
  two.play('chat', [answerContent('chat', { text: 'yes', tokens: { input: 4, output: 1 } })]);
  const { key } = await two.gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const body = endpointOf('chat').body({ model: 'one-chat' });
  await two.gateway.post('/v1/chat/completions', { key, body });
  assert.equal(two.first.requests[0]!.headers['traceparent'], undefined);
});
