// A receiver of telemetry that is down, slow, failing or talkative: no request fails or waits for it.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test, type TestContext } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { endpointOf, startTwoRoutes, type TwoRoutes } from '../support/two-routes.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import { until } from '../support/until.ts';
import { answerJson, answerStatus, hang, startUpstream, type Script } from '../support/upstream.ts';
import { ok } from '../support/http.ts';

const receiverKey = 'key-of-the-receiver';

async function startWith(t: TestContext, endpoint: string): Promise<TwoRoutes> {
  const two = await startTwoRoutes({
    telemetry: { endpoint, headers: { authorization: receiverKey } },
  });
  t.after(() => two.stop());
  two.play('chat', [answerContent('chat', { text: 'yes', tokens: { input: 4, output: 1 } })]);
  return two;
}

async function askOnce({ gateway }: TwoRoutes): Promise<string> {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const body = endpointOf('chat').body({ model: 'one-chat' });
  const reply = await ok(gateway.post('/v1/chat/completions', { key, body }));
  return reply.requestId;
}

/** A port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('with a receiver that is down, requests are answered, and the log says so once without its key', async (t) => {
  const two = await startWith(t, `http://127.0.0.1:${await closedPort()}`);
  await askOnce(two);
  const lines = () =>
    two.gateway.program.output.split('\n').filter((line) => line.includes('takes no spans'));
  await until(() => lines().length > 0);
  await askOnce(two);
  assert.equal(lines().length, 1);
  assert.match(lines()[0]!, /it cannot be reached/);
  assert.equal(two.gateway.program.output.includes(receiverKey), false);
});

const scripts: Readonly<Record<string, Script>> = {
  'never answers': hang,
  'answers with an error': answerStatus(500),
  'answers without an end': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('x'.repeat(1024 * 1024));
  },
  'answers no JSON': (response) => void response.writeHead(200).end('<html>'),
};
for (const [what, script] of Object.entries(scripts)) {
  test(`a receiver that ${what} stops no request`, async (t) => {
    const receiver = await startOtlpReceiver({ script });
    t.after(() => receiver.close());
    const two = await startWith(t, receiver.url);
    await askOnce(two);
    await until(() => receiver.upstream.requests.length > 0);
    await askOnce(two);
  });
}

test('spans that a receiver could not take for a moment are sent again', async (t) => {
  const upstream = await startUpstream(t);
  upstream.on('/v1/traces', answerStatus(503), answerJson({}));
  const two = await startWith(t, upstream.url);
  const requestId = await askOnce(two);
  const traces = () => upstream.requests.filter(({ path }) => path === '/v1/traces');
  await until(() => traces().length >= 2);
  const [first, second] = traces();
  assert.match(JSON.stringify(first!.body), new RegExp(requestId));
  assert.deepEqual(second!.body, first!.body);
});

test('a redirect is not followed: the key stays with the configured receiver', async (t) => {
  const other = await startUpstream(t);
  const receiver = await startOtlpReceiver({
    script: (response) => {
      response.writeHead(307, { location: `${other.url}/v1/traces` }).end();
    },
  });
  t.after(() => receiver.close());
  const two = await startWith(t, receiver.url);
  await askOnce(two);
  await until(() => two.gateway.program.output.includes('it answers with status 307'));
  assert.equal(other.requests.length, 0);
});

test('a stop exports the spans of the requests before it', async (t) => {
  const receiver = await startOtlpReceiver();
  t.after(() => receiver.close());
  const two = await startTwoRoutes({ telemetry: { endpoint: receiver.url } });
  two.play('chat', [answerContent('chat', { text: 'yes', tokens: { input: 4, output: 1 } })]);
  const requestId = await askOnce(two);
  await two.stop();
  await receiver.requestTrace(requestId);
  assert.equal(receiver.points('tollgate.charged').length, 1);
});
