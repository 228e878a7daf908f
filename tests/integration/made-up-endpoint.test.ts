// What a new endpoint costs: the three files of tests/support/shout and a line in the table of sales.
// Holds, charges, replays, cache, limits, tries, spans, metrics, test mode and its description come
// without a line of its own.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findLogged } from '../../src/domain/activity/queries.ts';
import { sales } from '../../src/server/sales.ts';
import { metricsToken, startGateway } from '../support/gateway.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import { shoutEndpoint } from '../support/shout/endpoint.ts';
import { hostOf, hosts } from '../support/shout/host.ts';
import { shoutOperation } from '../support/shout/operation.ts';
import { until } from '../support/until.ts';
import { answerJson, answerStatus, startUpstream } from '../support/upstream.ts';

sales.push({ url: '/v1/shout', endpoint: shoutEndpoint, operation: shoutOperation });

const text = 'hello';
/** Five characters at two microdollars, with the markup of a half. */
const costMicros = 15;

const first = await startUpstream();
const second = await startUpstream();
const receiver = await startOtlpReceiver();
hosts.live.push(hostOf('loud', first.url), hostOf('louder', second.url));
const gateway = await startGateway(
  {
    pricing: { markup: 1.5 },
    metrics: { token: metricsToken },
    telemetry: { endpoint: receiver.url },
  },
  {
    tuning: { failuresMax: 1_000, ejectionMsMax: 1 },
    env: { OTEL_METRIC_EXPORT_INTERVAL: '1000' },
  },
);
after(async () => {
  await gateway.stop();
  for (const part of [first, second, receiver]) await part.close();
});

const answer = answerJson({ text: 'HELLO' });
const serve = () => first.on('/shout', answer);

async function newKey(creditUsd = 1, controls: object = {}) {
  return gateway.makeKey({ mode: 'live', creditUsd, ...controls });
}
const ask = (key: string, headers: Record<string, string> = {}, body: object = { text }) =>
  gateway.post('/v1/shout', { key, headers, body });
const leftMicros = async (account: string) => (await gateway.balance(account)).availableMicros;

test('it holds the whole price, charges it, and gives a failure back', async () => {
  const { key, account } = await newKey();
  serve();
  const reply = await ask(key);
  assert.deepEqual([reply.status, reply.json()], [200, { text: 'HELLO' }]);
  assert.equal(reply.costMicros, costMicros);
  const leftBefore = await leftMicros(account);
  for (const host of [first, second]) host.on('/shout', answerStatus(503));
  assert.equal((await ask(key)).status, 503);
  assert.equal(await leftMicros(account), leftBefore);
  const poor = await gateway.makeKey({ mode: 'live', creditUsd: 0.000_01 });
  const refused = await ask(poor.key);
  assert.deepEqual(
    [refused.status, refused.error.code, refused.error.details],
    [402, 'insufficient_balance', { ...Object(refused.error.details), affordable_characters: 3 }],
  );
  assert.match(
    refused.error.message,
    / Up to 3 characters would fit\. To run it as it is, top up the account\.$/,
  );
});

test('the second host serves when the first fails, and each call is told to everybody', async () => {
  const { key, account } = await newKey();
  first.on('/shout', answerStatus(503));
  second.on('/shout', answer);
  const reply = await ask(key);
  assert.equal(reply.headers['x-service-route'], 'louder');
  await gateway.program.app.gateway.observe.activity.flush();
  const found = await findLogged(gateway.database.read, {
    accountId: account,
    requestIds: [reply.requestId],
  });
  assert.deepEqual(
    found.get(reply.requestId)!.notes.tries?.map(({ provider, ending }) => [provider, ending]),
    [
      ['loud', 'failed'],
      ['louder', 'answered'],
    ],
  );
  const { calls } = await receiver.requestTrace(reply.requestId);
  assert.deepEqual(
    calls.map(({ name }) => name),
    ['shout shout', 'shout shout'],
  );
  const metrics = (await gateway.get('/metrics', { key: metricsToken })).text;
  assert.match(metrics, /provider="loud",outcome="http-5xx"/);
  const durations = await until(() => {
    const points = receiver.points('gen_ai.client.operation.duration');
    return points.length > 0 && points;
  });
  assert.ok(durations.some(({ attributes }) => attributes['gen_ai.operation.name'] === 'shout'));
});

test('a request that the first host refuses is not sent to the second', async () => {
  const { key } = await newKey();
  first.on('/shout', answerStatus(400));
  second.on('/shout', answer);
  const sentBefore = second.requests.length;
  assert.equal((await ask(key)).status, 400);
  assert.equal(second.requests.length, sentBefore);
});

test('an answer is replayed by its key and from the cache, free', async () => {
  const { key } = await newKey();
  serve();
  for (const [name, value] of [
    ['idempotency-key', 'one'],
    ['x-service-cache', 'true'],
  ] as const) {
    const headers = { [name]: value };
    const one = await ask(key, headers);
    const other = await ask(key, headers);
    assert.deepEqual([one.costMicros, one.text], [costMicros, other.text]);
    assert.equal(other.costMicros, 0);
  }
});

test('a key’s limits and a wrong body are refused, free', async () => {
  const { key } = await newKey(1, { requestsPerMinute: 1 });
  serve();
  assert.equal((await ask(key)).status, 200);
  assert.equal((await ask(key)).status, 429);
  const wrong = await ask((await newKey()).key, {}, { text: 7 });
  assert.deepEqual([wrong.status, wrong.error.param], [400, 'text']);
});

test('a test key is answered by the sandbox', async () => {
  const { key } = await gateway.makeKey({ mode: 'test' });
  const reply = await ask(key);
  assert.deepEqual([reply.json(), reply.headers['x-service-mode']], [{ text: 'HELLO' }, 'test']);
});

type Described = {
  readonly paths: Record<string, { readonly post: { readonly operationId: string } }>;
};

test('the reference describes it', async () => {
  const { paths } = (await gateway.get('/openapi.json')).json<Described>();
  const { post } = paths['/v1/shout']!;
  assert.equal(post.operationId, 'shout');
});
