// Every route of a model gets its turn: while one was not asked, it comes before a retry, and each is
// asked once, whatever `retries.max_attempts` and the retry budget say. The same for images.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { startGateway, upstreamKey, type TestGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { png } from '../support/images/local-image-provider.ts';
import fc from '../support/property.ts';
import { TestClock } from '../support/test-clock.ts';
import { endpointOf, modelLimits, servedBy } from '../support/two-routes.ts';
import {
  answerJson,
  answerStatus,
  startUpstream,
  thenReset,
  type LocalUpstream,
  type Script,
} from '../support/upstream.ts';

const places = [0, 1, 2, 3, 4, 5];
const counts = [2, 3, 4, 5, 6];

/** Failures that another route may not have. */
const failures: Readonly<Record<string, Script>> = {
  'status 408': answerStatus(408),
  'status 429': answerStatus(429),
  'status 429 with a long `Retry-After`': answerStatus(429, { retryAfter: '3600' }),
  'status 500': answerStatus(500),
  'status 503': answerStatus(503),
  'a refused key': answerStatus(401),
  'an unpaid bill': answerStatus(402),
  'a redirect': answerStatus(307),
  'a broken connection': thenReset(null),
  'a page instead of JSON': answerJson('<html>', { headers: { 'content-type': 'text/html' } }),
};

const chat = answerContent('chat', { text: 'hello', tokens: { input: 10, output: 3 } });
const drawn = answerJson({ data: [{ b64_json: png.toString('base64') }] });

const routeTo = (provider: string) => ({ provider, model: 'm' });
const modelTo = (providers: readonly string[]) => ({
  ...modelLimits,
  routes: providers.map(routeTo),
});
const imagesTo = (providers: readonly string[]) => ({
  mode: 'text-to-image',
  family: 'gpt-image',
  routes: providers.map(routeTo),
  prices: { output: { low: 0.01, medium: 0.02, high: 0.03 } },
});
const firsts = (count: number) => places.slice(0, count).map((place) => `p${place}`);
/** Only the provider at `place` listens. */
const silentBut = (place: number, count: number) =>
  firsts(count).map((name, index) => (index === place ? name : `silent${index}`));

/** `each` is called for every number of routes and every place of the only one that works. */
async function forEachPlace(each: (count: number, place: number) => Promise<void>): Promise<void> {
  for (const count of counts) for (const place of places.slice(0, count)) await each(count, place);
}

async function startSix(
  clock: TestClock,
  upstreams: readonly LocalUpstream[],
  { max_attempts, retriesMin }: { readonly max_attempts: number; readonly retriesMin: number },
) {
  const models: Record<string, object> = {};
  const images: Record<string, object> = {};
  await forEachPlace(async (count, place) => {
    models[`chat-${count}`] = modelTo(firsts(count));
    images[`draw-${count}`] = imagesTo(firsts(count));
    models[`chat-${count}-${place}`] = modelTo(silentBut(place, count));
    images[`draw-${count}-${place}`] = imagesTo(silentBut(place, count));
  });
  const provider = (base_url: string) => ({
    kind: 'openai-compatible',
    base_url,
    api_key: upstreamKey,
  });
  return startGateway(
    {
      providers: Object.fromEntries(
        places.flatMap((place) => [
          [`p${place}`, provider(`${upstreams[place]!.url}/v1`)],
          [`silent${place}`, provider('http://127.0.0.1:1/v1')],
        ]),
      ),
      models: { ...models, mixed: modelTo(['silent0', 'p1', 'p2']) },
      image_models: images,
      retries: { max_attempts },
    },
    { clock, tuning: { retriesMin, backoffMs: 1, failuresMax: 1_000, ejectionMsMax: 1 } },
  );
}

describe('every route is asked once', () => {
  const clock = new TestClock();
  let upstreams: LocalUpstream[];
  let gateway: TestGateway;
  let key: string;
  let seen: number[] = [];

  before(async () => {
    upstreams = await Promise.all(places.map(() => startUpstream()));
    // No retry is allowed at all.
    gateway = await startSix(clock, upstreams, { max_attempts: 1, retriesMin: 0 });
    ({ key } = await gateway.makeKey({ mode: 'live', creditUsd: 100 }));
  });
  after(async () => {
    await gateway.stop();
    await Promise.all(upstreams.map((upstream) => upstream.close()));
  });
  beforeEach(() => void calls());

  function calls(): readonly number[] {
    const now = (upstreams ?? []).map(({ requests }) => requests.length);
    const since = now.map((count, place) => count - (seen?.[place] ?? 0));
    seen = now;
    return since;
  }

  const sales = {
    chat: {
      path: '/v1/chat/completions',
      works: chat,
      ask: (model: string): Promise<Reply> => {
        const { path, body } = endpointOf('chat');
        return gateway.post(path, { key, body: body({ model: `chat-${model}` }) });
      },
    },
    images: {
      path: '/v1/images/generations',
      works: drawn,
      ask: (model: string): Promise<Reply> =>
        gateway.post('/v1/images/generations', {
          key,
          body: { model: `draw-${model}`, prompt: 'a fox', response_format: 'b64_json' },
        }),
    },
  } as const;

  async function assertTurns(
    sale: keyof typeof sales,
    scripts: readonly Script[],
    place: number,
  ): Promise<void> {
    const { path, ask } = sales[sale];
    for (const [index, script] of scripts.entries()) upstreams[index]!.on(path, script);
    const reply = await clock.skipWaits(ask(`${scripts.length}`));
    const where = `${sale}: ${place} of ${scripts.length}`;
    assert.deepEqual(servedBy(reply), [`p${place}`, `${place + 1}`], `${where} ${reply.text}`);
    const expected = places.map((index) => Number(index <= place));
    assert.deepEqual(calls(), expected, where);
    // A refused key is skipped for a millisecond only.
    await clock.advance(1);
  }

  for (const sale of ['chat', 'images'] as const) {
    const { works } = sales[sale];
    for (const [name, failure] of Object.entries(failures)) {
      test(`${sale}: after ${name}, from two routes to six`, async () => {
        await forEachPlace(async (count, place) => {
          const scripts = firsts(count).map((_, index) => (index === place ? works : failure));
          await assertTurns(sale, scripts, place);
        });
      });
    }

    test(`${sale}: after any mixture of failures`, async () => {
      const one = fc.constantFrom(...Object.values(failures));
      const failing = fc.array(one, { minLength: 1, maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(failing, async (failed) => {
          await assertTurns(sale, [...failed, works], failed.length);
        }),
        { numRuns: 40 },
      );
    });

    test(`${sale}: where nobody listens, from two routes to six`, async () => {
      const { path, ask } = sales[sale];
      await forEachPlace(async (count, place) => {
        upstreams[place]!.on(path, works);
        const reply = await clock.skipWaits(ask(`${count}-${place}`));
        assert.deepEqual(servedBy(reply), [`p${place}`, `${place + 1}`], reply.text);
      });
    });
  }
});

describe('retries', () => {
  const clock = new TestClock();
  let upstreams: LocalUpstream[];
  let gateway: TestGateway;
  let key: string;

  before(async () => {
    upstreams = await Promise.all(places.map(() => startUpstream()));
    gateway = await startSix(clock, upstreams, { max_attempts: 4, retriesMin: 10 });
    ({ key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 }));
  });
  after(async () => {
    await gateway.stop();
    await Promise.all(upstreams.map((upstream) => upstream.close()));
  });

  async function ask(model: string, ...scripts: readonly (readonly [Script, ...Script[]])[]) {
    const { path, body, upstreamPath } = endpointOf('chat');
    const earlier = upstreams.map(({ requests }) => requests.length);
    for (const [place, script] of scripts.entries()) upstreams[place]!.on(upstreamPath, ...script);
    const reply = await clock.skipWaits(gateway.post(path, { key, body: body({ model }) }));
    await clock.advance(1);
    const calls = upstreams.map(({ requests }, place) => requests.length - earlier[place]!);
    const served = servedBy(reply);
    /** Who served at which attempt, and how often each was called. */
    const went = `${served.join(' ')}: ${calls.slice(0, scripts.length).join(' ')}`;
    return { reply, served, went, calls: calls.slice(0, scripts.length) };
  }
  const busy = answerStatus(503);

  test('the first three requests of a model work though nobody listens at its first route and its second is down', async () => {
    for (let sent = 0; sent < 3; sent++) {
      const { went } = await ask('mixed', [busy], [busy], [chat]);
      assert.equal(went, 'p2 3: 0 1 1');
    }
  });

  test('after a billed answer that cannot be passed on no other route is asked, whatever failed before', async () => {
    const nameless = { id: 'call_1', type: 'function', function: { arguments: '{}' } };
    const spoilt = answerJson({
      choices: [{ message: { tool_calls: [nameless] }, finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    });
    const { reply, calls } = await ask('chat-3', [busy], [spoilt], [chat]);
    assert.deepEqual([reply.status, reply.costMicros, calls], [503, null, [1, 1, 0]]);
  });

  test('when all routes failed, those whose failure may pass are called again', async () => {
    const [again, refused] = [answerStatus(429), answerStatus(401)];
    assert.deepEqual((await ask('chat-3', [busy, chat], [refused], [again])).served, ['p0', '4']);
    const second = await ask('chat-3', [refused], [busy, chat], [refused]);
    assert.equal(second.went, 'p1 4: 1 2 1');
  });

  test('all calls together are at most `max_attempts`, or one for each route', async () => {
    assert.deepEqual((await ask('chat-2', [busy], [busy])).calls, [2, 2]);
    assert.deepEqual((await ask('chat-3', [busy], [busy], [busy])).calls, [2, 1, 1]);
    const six = await ask('chat-6', [busy], [busy], [busy], [busy], [busy], [busy]);
    assert.deepEqual(six.calls, [1, 1, 1, 1, 1, 1]);
  });

  test('a `Retry-After` within the cap is waited for first, and the other routes still get their turn', async () => {
    const soon = answerStatus(429, { retryAfter: '1' });
    const back = await ask('chat-3', [soon, chat], [chat], [chat]);
    assert.equal(back.went, 'p0 2: 2 0 0');
    const never = await ask('chat-6', [soon], [soon], [soon], [soon], [soon], [chat]);
    assert.equal(never.went, 'p5 8: 2 2 1 1 1 1');
  });
});
