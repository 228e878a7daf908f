// What all tasks have in common, over real HTTP: embeddings, rankings, moderations, speech and
// transcriptions.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { startGateway, type KeyOptions } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { rowOf } from '../support/rows.ts';
import { taskSamples, type TaskSample } from '../support/task-samples.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerJson, answerStatus, hang, thenReset, type Script } from '../support/upstream.ts';

const clock = new TestClock();
const timeoutMs = 2_000;
const gateway = await startGateway(
  ({ url }) => ({
    providers: Object.fromEntries(
      ['first', 'second'].map((name) => [
        name,
        {
          kind: 'openai-compatible',
          base_url: `${url}/${name}/v1`,
          api_key: 'none',
          timeouts: { first_byte_ms: timeoutMs, total_ms: timeoutMs },
        },
      ]),
    ),
    models: Object.fromEntries(
      taskSamples.map(({ type, prices }) => [
        `a-${type}`,
        {
          type,
          prices,
          routes: ['first', 'second'].map((provider) => ({ provider, model: `${provider}-host` })),
        },
      ]),
    ),
  }),
  { clock, tuning: { failuresMax: 1_000, ejectionMsMax: 1 } },
);
after(() => gateway.stop());
const { upstream } = gateway;

const creditMicros = 1_000_000;
const newKey = (options: KeyOptions = {}) =>
  gateway.makeKey({ mode: 'live', creditUsd: creditMicros / 1_000_000, ...options });
type Made = Awaited<ReturnType<typeof newKey>>;

const uncached = { 'x-service-cache': 'false' };
const failures: Readonly<
  Record<string, { script: Script; status: number; isLost?: boolean; isSilent?: boolean }>
> = {
  'answers 500': { script: answerStatus(500), status: 502 },
  'is overloaded': { script: answerStatus(503), status: 503 },
  'answers no object': { script: answerJson([1]), status: 502, isLost: true },
  'answers an empty object': { script: answerJson({}), status: 502, isLost: true },
  'cuts its answer': {
    script: thenReset('{"', { headers: { 'content-type': 'application/json' } }),
    status: 502,
    isLost: true,
  },
  'never answers': { script: hang, status: 504, isLost: true, isSilent: true },
};

for (const sample of taskSamples) describe(sample.path, () => describeTask(sample));

function describeTask(task: TaskSample): void {
  const { type, path, costMicros } = task;
  const model = `a-${type}`;
  const places = ['first', 'second'].map((name) => `/${name}/v1${task.hostPath}`);
  const ask = (
    { key }: Pick<Made, 'key'>,
    headers: Readonly<Record<string, string>> = uncached,
    { named = model, words = '' } = {},
  ): Promise<Reply> => {
    const request = task.request(named, words);
    return gateway.post(path, { ...request, key, headers: { ...request.headers, ...headers } });
  };
  const assertCharged = async ({ account }: Made, charged: number, credit = creditMicros) => {
    const { availableMicros, heldMicros } = await gateway.balance(account);
    assert.deepEqual([credit - availableMicros, heldMicros], [charged, 0]);
  };
  const lostBy = async ({ requestId }: Reply) =>
    (await gateway.lossesOf(requestId)).reduce((sum, one) => sum + one, 0);

  beforeEach(async () => {
    for (const place of places) upstream.on(place, task.answer);
    await clock.advance(1);
  });

  test('an answer costs what its host counts, and is recorded', async () => {
    const made = await newKey();
    const reply = await ask(made);
    assert.deepEqual([reply.status, reply.costMicros], [200, costMicros], reply.text);
    await assertCharged(made, costMicros);
    const [record] = await gateway.usage(made.key);
    assert.equal(record!['model_id'], model);
  });

  if (task.zero)
    test('an answer whose host counts 0 costs our own count', async () => {
      for (const place of places) upstream.on(place, answerJson(task.zero!));
      const made = await newKey();
      const reply = await ask(made);
      assert.deepEqual([reply.status, reply.costMicros], [200, task.lostMicros], reply.text);
      await assertCharged(made, task.lostMicros);
      const { usage_source } = await rowOf(gateway.database, 'charges', { id: reply.requestId });
      assert.equal(usage_source, 'estimate');
    });

  for (const [what, { script, status, isLost = false, isSilent = false }] of Object.entries(
    failures,
  )) {
    const lost = isLost ? task.lostMicros : 0;
    /** Moves the clock while so many hosts are silent. */
    const askSilent = async (made: Made, silentHosts: number): Promise<Reply> => {
      const earlier = upstream.requests.length;
      const asked = ask(made);
      if (!isSilent) return asked;
      await upstream.request(earlier);
      if (silentHosts > 1) return clock.hurry(asked);
      // Slowly, and not further: the other host must not run out of time on a busy machine.
      const isAskedNext = async () => {
        await setTimeout(5);
        return upstream.requests[earlier + 1];
      };
      await clock.advanceUntil(isAskedNext, { stepMs: timeoutMs / 100 });
      return asked;
    };

    test(`a host that ${what} is replaced by another of the model`, async () => {
      upstream.on(places[0]!, script);
      const made = await newKey();
      const reply = await askSilent(made, 1);
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.headers['x-service-route'], 'second');
      assert.equal(reply.headers['x-service-attempts'], '2');
      await assertCharged(made, costMicros);
      assert.equal(await lostBy(reply), lost);
    });

    test(`an only host that ${what} costs the account nothing`, async () => {
      for (const place of places) upstream.on(place, script);
      const made = await newKey();
      const reply = await askSilent(made, 2);
      assert.equal(reply.status, status, reply.text);
      assert.ok(reply.error.code.startsWith('upstream_'), reply.text);
      await assertCharged(made, 0);
      assert.deepEqual(await gateway.usage(made.key), []);
      assert.equal(await lostBy(reply), 2 * lost);
    });
  }

  test('a request that the host refuses is refused with its words, and no other is asked', async () => {
    const body = { error: { message: 'that is too much' } };
    upstream.on(places[0]!, answerStatus(400, { body }));
    const made = await newKey();
    const { reply, asked } = await gateway.recordUpstream(() => ask(made));
    assert.deepEqual([reply.status, asked.length], [400, 1]);
    assert.match(reply.error.message, /that is too much/);
    await assertCharged(made, 0);
    assert.equal(await lostBy(reply), 0);
  });

  test('a balance that is too small is refused with what would fit', async () => {
    const made = await newKey({ creditUsd: (task.heldMicros - 1) / 1_000_000 });
    const { reply, asked } = await gateway.recordUpstream(() => ask(made));
    assert.deepEqual([reply.status, reply.error.code], [402, 'insufficient_balance']);
    assert.equal(typeof reply.error.details?.[task.affordable], 'number');
    assert.equal(asked.length, 0);
  });

  test('two requests at once never spend more than there is', async () => {
    const made = await newKey({ creditUsd: task.heldMicros / 1_000_000 });
    const replies = await Promise.all([ask(made), ask(made)]);
    assert.deepEqual(
      replies.map(({ status }) => status).toSorted((one, other) => one - other),
      [200, 402],
    );
    await assertCharged(made, costMicros, task.heldMicros);
  });

  test('its Idempotency-Key repeats the answer for nothing, also when several come at once', async () => {
    const made = await newKey();
    const headers = { 'idempotency-key': 'once', ...uncached };
    const { reply, asked } = await gateway.recordUpstream(async () => {
      const [first, ...others] = await Promise.all(
        Array.from({ length: 3 }, () => ask(made, headers)),
      );
      const again = await ask(made, headers);
      for (const other of [...others, again]) {
        assert.equal(other.text, first!.text);
        assert.equal(other.headers['content-type'], first!.headers['content-type']);
      }
      return again;
    });
    assert.deepEqual([reply.status, reply.costMicros, asked.length], [200, 0, 1], reply.text);
    await assertCharged(made, costMicros);
  });

  test('the cache repeats it for nothing if a header asks for it', async () => {
    const made = await newKey();
    const headers = { 'x-service-cache': 'true' };
    const first = await ask(made, headers);
    const { reply, asked } = await gateway.recordUpstream(() => ask(made, headers));
    assert.deepEqual([reply.headers['x-service-cache'], asked.length], ['hit', 0]);
    assert.deepEqual([reply.costMicros, reply.text], [0, first.text]);
    await assertCharged(made, costMicros);
  });

  test('a model of another type is refused with the endpoint that it has, and the other way round', async () => {
    const made = await newKey();
    const chat = await ask(made, {}, { named: 'gpt-6-luna' });
    assert.equal(chat.status, 404);
    assert.match(chat.error.message, /answers conversations: use POST \/v1\/chat\/completions/);
    const image = await ask(made, {}, { named: 'flux-2' });
    assert.match(image.error.message, /makes images/);
    const body = { model, messages: [{ role: 'user', content: 'Hello!' }] };
    const reply = await gateway.post('/v1/chat/completions', { key: made.key, body });
    assert.equal(reply.status, 404);
    assert.ok(reply.error.message.includes(`use POST ${path}`), reply.error.message);
  });

  test('a key’s list of models holds', async () => {
    const [other] = taskSamples.filter((one) => one.type !== type);
    const reply = await ask(await newKey({ models: [`a-${other!.type}`] }));
    assert.deepEqual([reply.status, reply.error.code], [403, 'model_not_allowed_for_key']);
    assert.equal((await ask(await newKey({ models: [model] }))).status, 200);
  });

  test('the lists have the model with its type and its price', async () => {
    const { key } = await newKey();
    type Listed = { readonly data: readonly Readonly<Record<string, unknown>>[] };
    for (const list of ['/v1/models', '/v1/models/info']) {
      const { data } = (await gateway.get(list, { key })).json<Listed>();
      const entry = data.find(({ id }) => id === model)!;
      assert.equal(entry['type'], type);
      const [field, price] = task.listed;
      if (list !== '/v1/models') assert.equal(entry[field], price);
    }
  });

  test('with a test key, directives make it fail', async () => {
    const made = await gateway.makeKey({ mode: 'test' });
    const good = await ask(made);
    assert.deepEqual([good.status, good.headers['x-service-mode']], [200, 'test'], good.text);
    const words = 'sandbox: status=503\nHello';
    assert.equal((await ask(made, {}, { words })).status, 503);
    const wrong = await ask(made, {}, { words: 'sandbox: colour=red' });
    assert.equal(wrong.status, 400);
    assert.match(wrong.error.message, /The directives are delay_ms, status/);
  });
}
