// `POST /v1/moderations` over real HTTP, with local servers in place of OpenAI and Mistral.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { readModerations, type Moderated } from '../../src/providers/moderations/index.ts';
import { startGateway, upstreamKey } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { routesTo } from '../support/model-of.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerBytes, answerJson, answerStatus, type Script } from '../support/upstream.ts';

const clock = new TestClock();
const gateway = await startGateway(
  ({ url }) => ({
    providers: {
      // It stands for a host on the web.
      openai: {
        kind: 'openai',
        base_url: `${url}/v1`,
        api_key: upstreamKey,
        pass_fields: ['input.image_url'],
      },
      mistral: { base_url: `${url}/mistral/v1`, api_key: upstreamKey },
    },
    models: {
      'house-guard': {
        type: 'moderation',
        routes: routesTo({ local: 'guard', openai: 'guard' }),
        prices: { input: 100, output: 0 },
      },
    },
  }),
  { clock, tuning: { failuresMax: 1_000, ejectionMsMax: 1 } },
);
after(() => gateway.stop());

const openaiPath = '/v1/moderations';
const localPath = '/local/v1/moderations';
const mistralPath = '/mistral/v1/moderations';
const result = (flagged: boolean) => ({
  flagged,
  categories: { violence: flagged, hate: false },
  category_scores: { violence: flagged ? 0.9 : 0.1, hate: 0.01 },
  category_applied_input_types: { violence: ['text'], hate: [] },
});
const answerWith = (...results: object[]) => answerJson({ id: 'modr-1', model: 'x', results });
const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
const ask = (key: string, body: object, headers: Record<string, string> = {}) =>
  gateway.post('/v1/moderations', { key, headers, body });
const newKey = (creditUsd = 1) => gateway.makeKey({ mode: 'live', creditUsd });

function resultsOf(reply: Reply): readonly Moderated[] {
  assert.equal(reply.status, 200, reply.text);
  return reply.json<{ results: readonly Moderated[] }>().results;
}

test('a moderation without a model runs on OpenAI’s, needs no balance and is recorded', async () => {
  gateway.upstream.on(openaiPath, answerWith(result(true)));
  const { key, account } = await gateway.makeKey({ mode: 'live' });
  const { reply, asked } = await gateway.recordUpstream(() =>
    ask(key, { input: 'I will hit you', brand_new: 1 }),
  );
  assert.deepEqual(resultsOf(reply), [result(true)]);
  const { id, model } = reply.json();
  assert.deepEqual([/^modr_\w{26}$/.test(String(id)), model], [true, 'omni-moderation-latest']);
  assert.deepEqual(asked[0]!.body, { model: 'omni-moderation-latest', input: 'I will hit you' });
  assert.equal(reply.costMicros, 0);
  assert.equal(reply.headers['x-service-ignored'], 'brand_new');
  const [record] = await gateway.usage(key);
  assert.deepEqual([record!['model'], record!['cost_cents']], ['Omni Moderation', 0]);
  await gateway.assertLeft(account, 0);
});

test('a list has a result for each text, and the parts of a message have one', async () => {
  const { key } = await newKey();
  gateway.upstream.on(openaiPath, answerWith(result(false), result(true)));
  assert.deepEqual(
    resultsOf(await ask(key, { input: ['Hello', 'I will hit you'] })).map(({ flagged }) => flagged),
    [false, true],
  );
  gateway.upstream.on(openaiPath, answerWith(result(true)));
  const input = [{ type: 'text', text: 'Look' }, image];
  const { reply, asked } = await gateway.recordUpstream(() => ask(key, { input }));
  assert.equal(resultsOf(reply).length, 1);
  assert.deepEqual((asked[0]!.body as JsonObject)['input'], input);
});

test('a list has at most 1,000 texts', async () => {
  const { key } = await gateway.makeKey();
  const judge = (count: number) => ask(key, { input: Array.from({ length: count }, () => '') });
  assert.equal(resultsOf(await judge(1_000)).length, 1_000);
  const { status, error } = await judge(1_001);
  assert.deepEqual([status, error.param], [400, 'input']);
});

test('a category that was not judged stays null', async () => {
  const { categories, ...rest } = result(true);
  const judged = { ...rest, categories: { ...categories, illicit: null } };
  gateway.upstream.on(openaiPath, answerWith(judged));
  const { key } = await newKey();
  assert.deepEqual(resultsOf(await ask(key, { input: 'I will hit you' })), [judged]);
});

test('Mistral, which does not say whether a text is flagged, is read by its categories', async () => {
  const { flagged: _, category_applied_input_types: __, ...mistral } = result(true);
  gateway.upstream.on(mistralPath, answerWith(mistral));
  const { key } = await newKey();
  const reply = await ask(key, { model: 'mistral-moderation-latest', input: 'I will hit you' });
  assert.deepEqual(resultsOf(reply), [{ flagged: true, ...mistral }]);
});

test('a model with a price is charged by our own count', async () => {
  gateway.upstream.on(localPath, answerStatus(500));
  gateway.upstream.on(openaiPath, answerWith(result(false)));
  const { key, account } = await newKey();
  const reply = await ask(key, { model: 'house-guard', input: 'a'.repeat(400) });
  assert.equal(reply.headers['x-service-attempts'], '2');
  assert.equal(reply.costMicros, 100 * 100);
  assert.equal((await gateway.balance(account)).availableMicros, 1_000_000 - 10_000);
  const poor = await newKey(0.001);
  const refused = await ask(poor.key, { model: 'house-guard', input: 'a'.repeat(400) });
  assert.deepEqual([refused.status, refused.error.code], [402, 'insufficient_balance']);
  assert.match(refused.error.message, /Up to 10 input tokens would fit/);
});

describe('an answer that cannot be used is free, and the operator’s loss', () => {
  const failures: Readonly<Record<string, Script>> = {
    garbage: answerBytes(Buffer.from('<html>')),
    'a result too few': answerWith(),
    'a result too many': answerWith(result(true), result(true)),
    'a result that is none': answerWith({ flagged: true }),
    'a score that is none': answerWith({ ...result(true), category_scores: { a: 'x' } }),
    'a score without end': answerJson(
      '{"results":[{"flagged":true,"categories":{},"category_scores":{"a":1e999}}]}',
    ),
  };
  for (const [what, script] of Object.entries(failures)) {
    test(what, async () => {
      for (const path of [localPath, openaiPath]) gateway.upstream.on(path, script);
      const { key, account } = await newKey();
      await clock.advance(1);
      const reply = await ask(key, { model: 'house-guard', input: 'a'.repeat(400) });
      assert.equal(reply.status, 502, reply.text);
      await gateway.assertLeft(account, 1_000_000);
      assert.ok((await gateway.lossesOf(reply.requestId)).length > 0);
    });
  }
});

describe('a request is refused', () => {
  const refusals: readonly (readonly [what: string, body: object, message: RegExp])[] = [
    ['without an input', {}, /input must be a text, a list of texts/],
    ['with an empty list', { input: [] }, /must not be an empty list/],
    ['with a number', { input: ['a', 1] }, /input\[0\] must be a part of type text or image_url/],
    ['with two images', { input: [image, image] }, /at most 1 image; got 2/],
  ];
  for (const [what, body, message] of refusals) {
    test(what, async () => {
      const reply = await ask((await newKey()).key, body);
      assert.equal(reply.status, 400, reply.text);
      assert.match(reply.error.message, message);
    });
  }
});

test('in the sandbox, a directive flags a text, and others are not flagged', async () => {
  const { key } = await gateway.makeKey({});
  const input = ['Hello', 'Hello\nsandbox: flag=hate\nsandbox: flag=violence'];
  const [one, other] = resultsOf(await ask(key, { input }));
  assert.deepEqual([one!.flagged, other!.flagged], [false, true]);
  assert.deepEqual(
    Object.keys(other!.categories).filter((name) => other!.categories[name]),
    ['hate', 'violence'],
  );
  assert.equal((await ask(key, { input: 'sandbox: status=529' })).status, 503);
  const wrong = await ask(key, { input: 'sandbox: flag=rude' });
  assert.deepEqual([wrong.status, /needs one of harassment/.test(wrong.text)], [400, true]);
});

const recordings = join(import.meta.dirname, '../../../shared/recordings/endpoints/moderations');

test('every recorded moderation is read as it is', (t) => {
  if (!existsSync(recordings)) {
    assert(!process.env['CI'], `${recordings} is missing`);
    t.diagnostic('skipped: ../shared/recordings is not here');
    return;
  }
  const files = readdirSync(recordings).filter((file) => /(?<!\.request)\.json$/.test(file));
  assert.equal(files.length, 3);
  for (const file of files) {
    const answer = JSON.parse(readFileSync(join(recordings, file), 'utf8')) as JsonObject;
    assert.deepEqual(readModerations(answer), answer['results'], file);
  }
});
