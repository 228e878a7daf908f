// The Prometheus metrics agree with the books.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { metricsToken, startGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { hang, holdBack } from '../support/upstream.ts';

const gateway = await startGateway({
  metrics: { token: metricsToken },
  models: {
    'priced-model': {
      routes: [{ provider: 'local', model: 'm' }],
      max_input_tokens: 100_000,
      max_output_tokens: 1_000,
      prices: { input: 1, output: 10 },
    },
  },
  pricing: { markup: 2 },
});
after(() => gateway.stop());

test('the metrics need the token', async () => {
  const { key } = await gateway.makeKey();
  assert.equal((await gateway.get('/metrics')).status, 401);
  assert.equal((await gateway.get('/metrics', { key })).status, 401);
  assert.equal((await gateway.get('/metrics', { key: metricsToken })).status, 200);
});

test('delays of the event loop are recorded from the first scrape on', async (t) => {
  const unscraped = await startGateway({ metrics: { token: metricsToken } });
  t.after(() => unscraped.stop());
  const longest = async () => {
    const { text } = await unscraped.get('/metrics', { key: metricsToken });
    return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]);
  };
  assert.equal(await longest(), 0);
  await until(async () => (await longest()) > 0);
});

test('readiness names providers and models to clients with the token, and only the status to others', async () => {
  const { key } = await gateway.makeKey();
  assert.deepEqual((await gateway.get('/readyz', { key: metricsToken })).json(), {
    status: 'ready',
    running: 0,
    overloaded: null,
    routes_in_trouble: [],
  });
  for (const asked of [{}, { key }])
    assert.deepEqual((await gateway.get('/readyz', asked)).json(), { status: 'ready' });
});

test('requests, tokens, charges, cost and loss match the books', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const body = {
    model: 'priced-model',
    max_tokens: 50,
    messages: [{ role: 'user', content: 'Hi' }],
  };
  gateway.upstream.on(
    '/local/v1/chat/completions',
    answerContent('chat', { text: 'Hello', tokens: { input: 30, output: 5 } }),
  );
  const answer = await gateway.post('/v1/chat/completions', { key, body });
  assert.equal(answer.headers['x-service-cost-micros'], '80');
  assert.equal(
    (await gateway.post('/v1/chat/completions', { key, body: { ...body, model: 'nothing' } }))
      .status,
    404,
  );

  const labels = 'mode="live",model="priced-model",provider="local"';
  const read = await gateway.get('/metrics', { key: metricsToken });
  for (const line of [
    'tollgate_requests_total{route="/v1/chat/completions",status="200",error_code=""} 1',
    'tollgate_requests_total{route="/v1/chat/completions",status="404",error_code="model_not_found"} 1',
    'tollgate_tokens_total{mode="live",model="priced-model",direction="input"} 30',
    'tollgate_tokens_total{mode="live",model="priced-model",direction="output"} 5',
    `tollgate_charged_micros_total{${labels}} 80`,
    `tollgate_loss_micros_total{${labels},reason="uncollected"} 0`,
    'tollgate_active_requests 0',
  ]) {
    assert.ok(read.text.includes(line), `${line} is missing in\n${read.text}`);
  }
});

test('a cost beyond the balance is counted as a loss', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 0.001 });
  // The provider reports far more input than the request's hold estimated.
  gateway.upstream.on(
    '/local/v1/chat/completions',
    answerContent('chat', { text: 'Hello', tokens: { input: 2_900, output: 5 } }),
  );
  const body = {
    model: 'priced-model',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'Hi' }],
  };
  const answer = await gateway.post('/v1/chat/completions', { key, body });
  assert.equal(answer.headers['x-service-cost-micros'], '1000');
  const read = await gateway.get('/metrics', { key: metricsToken });
  assert.match(read.text, /tollgate_loss_micros_total\{[^}]*reason="uncollected"\} 1950\n/);
});

test('a charge that is booked after its client has left is counted', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const charged = () => valueOf('tollgate_charged_micros_total', 'mode="live"');
  const ended = () =>
    valueOf('tollgate_request_duration_seconds_count', 'route="/v1/chat/completions"');
  const [chargedBefore, endedBefore] = [await charged(), await ended()];
  const held = holdBack(answerContent('chat', { text: 'Hello', tokens: { input: 30, output: 5 } }));
  gateway.upstream.on('/local/v1/chat/completions', held.script);
  await askAndLeave(key);
  await until(async () => (await ended()) > endedBefore);
  held.release();
  await until(async () => (await gateway.usage(key)).length === 1);
  assert.equal(await charged(), chargedBefore + 80);
});

test('a request whose client left before an answer began is not counted as a 200', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const counted = (status: number) =>
    valueOf('tollgate_requests_total', `route="/v1/chat/completions",status="${status}"`);
  const [answered, left] = [await counted(200), await counted(499)];
  gateway.upstream.on('/local/v1/chat/completions', hang);
  await askAndLeave(key);
  await until(async () => (await counted(499)) === left + 1);
  assert.equal(await counted(200), answered);
  assert.match(gateway.program.output, /"client_gone":true,.*"status":499/);
});

/** Leaves as soon as the request has reached the provider. */
async function askAndLeave(key: string): Promise<void> {
  const asked = gateway.upstream.requests.length;
  const { request, response } = gateway.open('/v1/chat/completions', {
    key,
    body: { model: 'priced-model', max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] },
  });
  response.catch(() => {});
  await until(() => gateway.upstream.requests.length > asked);
  request.destroy();
}

/** Returns the sum of the metric's series whose labels contain this text. */
async function valueOf(name: string, labels: string): Promise<number> {
  const { text } = await gateway.get('/metrics', { key: metricsToken });
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
  return lines
    .filter((line) => line.includes(labels))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
