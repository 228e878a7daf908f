// The operator's spans and metrics: what a receiver of OTLP gets of each kind of request, compared
// with the ledger.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, describe, test } from 'node:test';
import fc from '../support/property.ts';
import { scaled } from '../support/volume.ts';
import { answerContent, streamFrames } from '../support/answers.ts';
import { endpoints } from '../support/endpoints.ts';
import { startOtlpReceiver, type ReceivedTrace } from '../support/otlp-receiver.ts';
import { endpointOf, startTwoRoutes } from '../support/two-routes.ts';
import { SleeplessClock } from '../support/test-clock.ts';
import { until, untilNoticed } from '../support/until.ts';
import { answerStatus, framesText } from '../support/upstream.ts';
import { ok } from '../support/http.ts';
import { rowOf, rowsOf } from '../support/rows.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const traced = { traceparent: `00-${traceId}-${parentId}-01`, tracestate: 'vendor=1' };
const tokens = { input: 40, output: 12 };
const receiverKey = 'key-of-the-receiver';

const clock = new SleeplessClock();
const receiver = await startOtlpReceiver({ clock });
const two = await startTwoRoutes(
  {
    telemetry: {
      endpoint: receiver.url,
      headers: { Authorization: receiverKey },
    },
  },
  { clock, env: { OTEL_SERVICE_NAME: 'gate', OTEL_METRIC_EXPORT_INTERVAL: '1000' } },
);
const { key, account } = await two.gateway.makeKey({ mode: 'live', creditUsd: 50 });
after(async () => {
  await two.stop();
  await receiver.close();
});

const ask = (model: string, fields: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  two.gateway.post('/v1/chat/completions', {
    key,
    headers,
    body: endpointOf('chat').body({ model, ...fields }),
  });

/** Checks that the costs of the spans are what the ledger has. */
async function assertBooked({ request, settlements }: ReceivedTrace, id: string): Promise<void> {
  const charge = await rowOf(two.gateway.database, 'charges', { id });
  const costMicros = charge.cost_micros;
  assert.ok(costMicros > 0);
  assert.equal(settlements.length, 1);
  for (const { attributes } of [request, ...settlements]) {
    assert.equal(attributes['tollgate.cost.micros'], costMicros);
    assert.equal(attributes['tollgate.cost.usd'], costMicros / 1_000_000);
  }
  assert.equal(request.attributes['tollgate.upstream_cost.micros'], charge.upstream_cost_micros);
  assert.equal(
    request.attributes['gen_ai.usage.input_tokens'],
    charge.input_tokens + charge.cache_read_tokens,
  );
  assert.equal(request.attributes['gen_ai.usage.output_tokens'], charge.output_tokens);
}

for (const { name, path, body } of endpoints) {
  for (const stream of [false, true]) {
    test(`${name}, stream ${stream}: a request, its hold, both calls and the settlement are spans of the client's trace`, async () => {
      two.play(
        name,
        [answerStatus(401)],
        [answerContent(name, { text: 'yes indeed', tokens: { ...tokens, cacheRead: 3 } })],
      );
      const [first, second] = [two.first.requests.length, two.second.requests.length];
      const reply = await ok(
        two.gateway.post(path, {
          key,
          headers: traced,
          body: body({ model: `two-${name}`, stream }),
        }),
      );
      const trace = await receiver.requestTrace(reply.requestId);
      const { request, calls, holds } = trace;

      assert.equal(request.name, `POST ${path}`);
      assert.equal(request.kind, 2);
      assert.deepEqual([request.traceId, request.parentSpanId], [traceId, parentId]);
      const shown = request.attributes;
      assert.equal(shown['http.response.status_code'], 200);
      assert.equal(shown['gen_ai.operation.name'], 'chat');
      assert.equal(shown['gen_ai.request.model'], `two-${name}`);
      assert.equal(shown['gen_ai.response.model'], `two-${name}`);
      assert.deepEqual(shown['gen_ai.response.finish_reasons'], ['stop']);
      assert.equal(shown['tollgate.account.id'], account);
      assert.equal(shown['tollgate.calls'], 2);
      assert.equal('gen_ai.response.time_to_first_chunk' in shown, stream);
      assert.equal(request.isError, false);

      const suffix = name === 'messages' ? '-anthropic' : '';
      assert.deepEqual(
        calls.map(({ name: of, kind, isError, attributes }) => [
          of,
          kind,
          isError,
          attributes['gen_ai.provider.name'],
          attributes['error.type'],
          attributes['server.port'],
        ]),
        [
          ['chat first-model', 3, true, `first${suffix}`, '401', portOf(two.first.url)],
          ['chat second-model', 3, false, `second${suffix}`, undefined, portOf(two.second.url)],
        ],
      );
      const sent = [...two.first.requests.slice(first), ...two.second.requests.slice(second)];
      assert.deepEqual(
        sent.map(({ headers }) => headers['traceparent']),
        calls.map(({ spanId }) => `00-${traceId}-${spanId}-01`),
      );
      assert.equal(holds.length, 1);
      assert.equal(
        calls[1]!.attributes['gen_ai.usage.output_tokens'],
        shown['gen_ai.usage.output_tokens'],
      );
      for (const step of trace.steps) {
        assert.ok(step.startNanos >= request.startNanos, `${step.name} begins within its request`);
        assert.ok(step.endNanos <= request.endNanos, `${step.name} ends within its request`);
        assert.equal(step.traceId, traceId);
      }
      await assertBooked(trace, reply.requestId);
    });
  }
}

test('the receiver gets its header and the name of the service; nobody else gets the header', async () => {
  two.play('chat', [answerContent('chat', { text: 'yes', tokens })]);
  const reply = await ask('one-chat');
  await receiver.requestTrace(reply.requestId);
  const [exported] = receiver.upstream.requests;
  assert.equal(exported!.headers['authorization'], receiverKey);
  assert.match(JSON.stringify(exported!.body), /"service.name","value":{"stringValue":"gate"}/);
  assert.equal(
    JSON.stringify(two.first.requests.map(({ headers }) => headers)).includes(receiverKey),
    false,
  );
});

test('a request without a trace begins one, whose id is in the log', async () => {
  two.play('chat', [answerContent('chat', { text: 'yes', tokens })]);
  const reply = await ask('one-chat');
  const { request, calls } = await receiver.requestTrace(reply.requestId);
  assert.equal(request.parentSpanId, undefined);
  assert.equal(
    two.first.requests.at(-1)!.headers['traceparent'],
    `00-${request.traceId}-${calls[0]!.spanId}-01`,
  );
});

test('a client that does not sample its trace is not exported, and its money is counted', async () => {
  two.play('chat', [answerContent('chat', { text: 'yes', tokens })]);
  const charged = () => receiver.points('tollgate.charged').reduce((all, { sum }) => all + sum, 0);
  const earlier = await untilNoticed(clock, charged);
  const unsampled = await ask('one-chat', {}, { traceparent: `00-${traceId}-${parentId}-00` });
  const { costMicros } = await two.booked(unsampled);
  await untilNoticed(clock, () => charged() === earlier + costMicros);
  const later = await ask('one-chat');
  await receiver.requestTrace(later.requestId);
  assert.equal(
    JSON.stringify(receiver.spans().map(({ attributes }) => attributes)).includes(
      unsampled.requestId,
    ),
    false,
  );
  assert.match(String(two.first.requests.at(-2)!.headers['traceparent']), /-00$/);
});

describe('requests that no provider answers', () => {
  test('a refused key, model and hold have a span with their error and no cost', async () => {
    const { key: poor } = await two.gateway.makeKey({ mode: 'live' });
    for (const [sentKey, model, code, holds] of [
      ['tg_live_wrong', 'one-chat', 'invalid_api_key', 0],
      [key, 'no-such-model', 'model_not_found', 0],
      [poor, 'one-chat', 'insufficient_balance', 1],
    ] as const) {
      const reply = await two.gateway.post('/v1/chat/completions', {
        key: sentKey,
        body: endpointOf('chat').body({ model }),
      });
      const trace = await receiver.requestTrace(reply.requestId);
      assert.equal(trace.request.attributes['error.type'], code);
      assert.equal('tollgate.cost.micros' in trace.request.attributes, false);
      assert.equal(trace.holds.filter(({ isError }) => isError).length, holds, code);
      assert.deepEqual([trace.calls, trace.settlements], [[], []]);
    }
  });

  test('a request whose calls all fail is an error, with a span for each call and its release', async () => {
    two.play('chat', [answerStatus(500)], [answerStatus(529)]);
    const reply = await ask('two-chat');
    assert.equal(reply.status, 503);
    const { request, calls, settlements } = await receiver.requestTrace(reply.requestId);
    assert.equal(request.isError, true);
    assert.equal(request.attributes['error.type'], 'upstream_unavailable');
    assert.deepEqual(
      calls.map(({ attributes }) => attributes['error.type']),
      ['500', '529', '500', '529'],
    );
    assert.deepEqual(
      settlements.map(({ attributes }) => [
        attributes['tollgate.settlement'],
        attributes['tollgate.cost.micros'],
      ]),
      [['released', 0]],
    );
  });

  test('a replay by Idempotency-Key and a cache hit cost nothing and call nobody', async () => {
    two.play('chat', [answerContent('chat', { text: 'yes', tokens })]);
    for (const [headers, cache] of [
      [{ 'idempotency-key': 'telemetry-1' }, 'idempotent-replay'],
      [{ 'x-service-cache': 'true' }, 'hit'],
    ] as const) {
      await ask('one-chat', { seed: 7 }, headers);
      const reply = await ask('one-chat', { seed: 7 }, headers);
      const { request, steps } = await receiver.requestTrace(reply.requestId);
      assert.equal(request.attributes['tollgate.cache'], cache);
      assert.equal(request.attributes['tollgate.cost.micros'], 0);
      assert.deepEqual(steps, []);
    }
  });
});

test('a client that leaves in the middle of a stream has a span with what it was charged then', async () => {
  const { start, deltas, end } = streamFrames('chat', { text: 'one two three four', tokens });
  const left = Promise.withResolvers<void>();
  two.play('chat', [
    async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(framesText([...start, ...deltas]));
      await left.promise;
      response.end(framesText(end));
    },
  ]);
  const { request: sent, response } = two.gateway.open('/v1/chat/completions', {
    key,
    body: endpointOf('chat').body({ model: 'one-chat', stream: true }),
  });
  const answer = await response;
  await once(answer, 'readable');
  sent.destroy();
  const requestId = String(answer.headers['x-request-id']);
  const isLogged = () => two.gateway.program.output.includes(`"request_id":"${requestId}"`);
  await until(isLogged);
  left.resolve();
  const trace = await receiver.requestTrace(requestId);
  assert.equal(trace.request.attributes['tollgate.client_gone'], true);
  await assertBooked(trace, requestId);
});

test('the cost of each span is that of its ledger entry, whatever was used', async () => {
  const use = fc.record({
    input: fc.integer({ min: 1, max: 90_000 }),
    cacheRead: fc.integer({ min: 0, max: 5_000 }),
    output: fc.integer({ min: 1, max: 190 }),
    stream: fc.boolean(),
    wire: fc.constantFrom('chat' as const, 'responses' as const),
  });
  await fc.assert(
    fc.asyncProperty(use, async ({ stream, wire, ...used }) => {
      two.play(wire, [answerContent(wire, { text: 'yes', tokens: used })]);
      const { path, body } = endpointOf(wire);
      const reply = await ok(
        two.gateway.post(path, {
          key,
          body: body({ model: `one-${wire}`, stream }),
        }),
      );
      await assertBooked(await receiver.requestTrace(reply.requestId), reply.requestId);
    }),
    { numRuns: scaled(5, 100) },
  );
});

test('the sums of the metrics are those of the ledger', async () => {
  two.play('chat', [answerContent('chat', { text: 'yes', tokens })]);
  const replies = await Promise.all([1, 2, 3].map(() => ask('one-chat', { user: 'someone' })));
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200],
  );
  const rows = await rowsOf(two.gateway.database, 'charges');
  const charged = rows.reduce((sum, row) => sum + row.cost_micros, 0);
  const output = rows.reduce((sum, row) => sum + row.output_tokens, 0);
  const sumOf = (metric: string, attributes: object = {}) =>
    receiver
      .points(metric)
      .filter((point) =>
        Object.entries(attributes).every(([name, value]) => point.attributes[name] === value),
      )
      .reduce((sum, point) => sum + point.sum, 0);
  await untilNoticed(clock, () => sumOf('tollgate.charged') === charged);
  assert.equal(sumOf('gen_ai.client.token.usage', { 'gen_ai.token.type': 'output' }), output);
  const counted = receiver.points('gen_ai.server.request.duration');
  assert.ok(counted.reduce((sum, { count }) => sum + count, 0) >= rows.length);
  assert.ok(receiver.points('gen_ai.server.time_to_first_token').length > 0);
  assert.ok(receiver.points('gen_ai.client.operation.time_to_first_chunk').length > 0);
  assert.ok(
    receiver
      .points('gen_ai.client.operation.duration')
      .some(({ attributes }) => attributes['error.type'] === '529'),
  );
});

test('prompts, answers and keys are never exported', async () => {
  two.play('chat', [answerContent('chat', { text: 'the-secret-answer', tokens })]);
  const reply = await ask('one-chat', {
    messages: [{ role: 'user', content: 'the-secret-prompt' }],
    user: 'the-secret-user',
  });
  assert.match(reply.text, /the-secret-answer/);
  await receiver.requestTrace(reply.requestId);
  const text = receiver.text();
  assert.doesNotMatch(text, /the-secret/);
  assert.equal(text.includes(key), false);
  assert.doesNotMatch(text, /sk-upstream-secret/);
});

function portOf(url: string): number {
  return Number(new URL(url).port);
}
