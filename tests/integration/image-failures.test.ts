// Image requests that fail wholly or in part: what is free, what is charged, and what is the
// operator's loss.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { upstreamKey } from '../support/gateway.ts';
import {
  generations,
  prompt,
  startImageGateway,
  urlsOf,
  type Body,
} from '../support/image-gateway.ts';
import {
  bflModerated,
  bflPending,
  bflReady,
  geminiDraws,
  geminiRefuses,
  imagePaths,
  openaiDraws,
  openaiModerates,
} from '../support/image-upstreams.ts';
import { answerEndlessly, png } from '../support/images/local-image-provider.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { answerJson, answerStatus, holdBack, thenReset, type Script } from '../support/upstream.ts';

/**
 * One model per test, so that route health in one does not affect the others. `lossMicros`: for images
 * that the first may have drawn anyway.
 */
const secondRoutes: readonly (readonly [
  model: string,
  what: string,
  script: Script,
  expected: readonly [status: number, route?: string, attempts?: string],
  lossMicros?: number,
])[] = [
  ['house-1', 'is unused while the first works', openaiDraws(), [200, 'local', '1']],
  ['house-2', 'serves when the first fails', answerStatus(500), [200, 'openai', '2']],
  ['house-3', 'serves when the first refuses our key', answerStatus(401), [200, 'openai', '2']],
  ['house-4', 'is not tried for a request that the first refused', openaiModerates, [400]],
  ['house-5', 'serves when the first breaks off', thenReset(null), [200, 'openai', '2'], 10_000],
];

function modelOfTwoRoutes(id: string): object {
  return {
    mode: 'text-to-image',
    family: 'gpt-image',
    routes: ['local', 'openai'].map((provider) => ({ provider, model: `${id}-upstream` })),
    prices: { output: { low: 0.01, medium: 0.02, high: 0.03 } },
  };
}

/** How long the gateway waits for a provider after the client has left. */
const readOnMs = 5_000;

const clock = new TestClock();
const models = Object.fromEntries(secondRoutes.map(([model]) => [model, modelOfTwoRoutes(model)]));
const { gateway, newKey, draw, play, assertCharged, assertFree, lossesOf } =
  await startImageGateway({ image_models: models }, { clock });
after(() => gateway.stop());

/** The losses that the account provoked, by day. */
async function causedBy(account: string): Promise<readonly number[]> {
  const days = gateway.database.read
    .selectFrom('loss_days')
    .select('provoked_micros')
    .where('ledger_id', '=', `${account}:live`);
  return (await days.execute()).map((day) => day.provoked_micros);
}

const essay = 'The history of foxes is long. '.repeat(100);
/** A text in place of an image. */
const geminiWrites = (text: string) =>
  answerJson({ candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }] });

describe('failures', () => {
  test('a partial result is returned and charged', async (t) => {
    play(t, imagePaths.gemini, geminiDraws, answerStatus(500), geminiDraws);
    const owner = await newKey();
    const reply = await draw(owner.key, { model: 'nano-banana', n: 3 });
    assert.equal(urlsOf(reply).length, 2);
    await assertCharged(reply, { ...owner, images: 2, micros: 2 * 51_000 });
    play(t, imagePaths.generations, openaiDraws(1));
    const other = await newKey();
    await assertCharged(await draw(other.key, { n: 4 }), { ...other, images: 1, micros: 19_500 });
    const sandbox = await gateway.makeKey();
    const asked = { n: 3, size: '64x64', prompt: 'a fox\nsandbox: fail_image=2' };
    const drawn = await draw(sandbox.key, asked);
    await assertCharged(drawn, { ...sandbox, mode: 'test', images: 2, micros: 2 * 19_500 });
  });

  test("images that may have been drawn but did not arrive are the operator's loss", async (t) => {
    play(t, imagePaths.gemini, geminiDraws, thenReset(null), geminiDraws);
    const owner = await newKey();
    const reply = await draw(owner.key, { model: 'nano-banana', n: 3 });
    await assertCharged(reply, { ...owner, images: 2, micros: 2 * 51_000 });
    assert.deepEqual(await lossesOf(owner.account), [34_000]);
  });

  test("images that cannot be read are the operator's loss, unless the provider's count is charged", async (t) => {
    const [image, unread] = [png.toString('base64'), 'AAAA'];
    const data = [unread, image, unread, image].map((b64_json) => ({ b64_json }));
    play(t, imagePaths.generations, answerJson({ data }));
    const owner = await newKey();
    const reply = await draw(owner.key, { n: 3 });
    assert.equal(urlsOf(reply).length, 2);
    await assertCharged(reply, { ...owner, images: 2, micros: 2 * 19_500 });
    assert.deepEqual(await lossesOf(owner.account), [13_000]);
    const usage = { input_tokens: 10, output_tokens: 1_200 };
    play(t, imagePaths.generations, answerJson({ data, usage }));
    const other = await newKey();
    const counted = await draw(other.key, { n: 3 });
    await assertCharged(counted, { ...other, images: 2, micros: (10 * 5 + 1_200 * 30) * 1.5 });
    assert.deepEqual(await lossesOf(other.account), []);
  });

  test("images that cannot be stored are free and the operator's loss; base64 needs no storage", async (t) => {
    const storage = {
      kind: 's3',
      bucket: 'pictures',
      region: 'r',
      endpoint: 'http://127.0.0.1:1',
      access_key_id: 'a',
      secret_access_key: 's',
    };
    const unkept = await startImageGateway({ storage }, { clock });
    t.after(() => unkept.gateway.stop());
    const owner = await unkept.newKey();
    const reply = await unkept.draw(owner.key, { n: 2 });
    assert.deepEqual(
      [reply.status, reply.error.code, reply.costMicros],
      [503, 'upstream_unavailable', null],
      reply.text,
    );
    assert.match(reply.error.message, /The image storage is unavailable/);
    await unkept.assertFree(owner);
    assert.deepEqual(await unkept.lossesOf(owner.account), [26_000]);
    const kept = await unkept.newKey();
    const inline = await unkept.draw(kept.key, { response_format: 'b64_json' });
    await unkept.assertCharged(inline, { ...kept, images: 1, micros: 19_500 });
  });

  test('extra images are neither returned nor charged', async (t) => {
    play(t, imagePaths.generations, openaiDraws(5));
    const owner = await newKey();
    const reply = await draw(owner.key, { n: 2 });
    await assertCharged(reply, { ...owner, images: 2, micros: 2 * 19_500 });
  });

  /** `lost`: images that may have been drawn anyway. */
  const whole: [
    what: string,
    model: string,
    path: string,
    script: Script,
    status: number,
    lost?: number,
  ][] = [
    ['OpenAI moderates', 'gpt-image-flare', imagePaths.generations, openaiModerates, 400],
    ['BFL moderates', 'flux-2', imagePaths.bflState, bflModerated, 400],
    ['Gemini blocks', 'nano-banana', imagePaths.gemini, geminiRefuses, 400],
    ['a server fails', 'gpt-image-flare', imagePaths.generations, answerStatus(500), 502],
    ['a server is busy', 'flux-2', imagePaths.bfl(), answerStatus(429), 503],
    ['the key is refused', 'nano-banana', imagePaths.gemini, answerStatus(403), 502],
    ['a connection is cut', 'gpt-image-flare', imagePaths.generations, thenReset(null), 503, 2],
    ['its outcome is unknown', 'flux-2', imagePaths.bflState, answerStatus(503), 503, 2],
    [
      'the key is refused when it was drawn',
      'flux-2',
      imagePaths.bflState,
      answerStatus(401),
      502,
      2,
    ],
    ['nothing can be read', 'flux-2', imagePaths.bflImage, answerStatus(404), 502, 2],
  ];
  for (const [what, model, path, script, status, lost = 0] of whole) {
    test(`${what}: ${status}, and free`, async (t) => {
      play(t, path, script);
      const owner = await newKey();
      const reply = await draw(owner.key, { model, n: 2 });
      assert.equal(reply.status, status, reply.text);
      assert.equal(reply.costMicros ?? 0, 0);
      assert.ok(!reply.text.includes(upstreamKey) && !reply.text.includes(gateway.upstream.url));
      await assertFree(owner);
      const micros = model === 'flux-2' ? 30_000 : 13_000;
      assert.deepEqual(await lossesOf(owner.account), lost > 0 ? [lost * micros] : []);
    });
  }

  test('images too large to read are a loss provoked by the account', async (t) => {
    play(t, imagePaths.generations, answerEndlessly);
    const owner = await newKey();
    assert.equal((await draw(owner.key)).status, 502);
    await assertFree(owner);
    assert.deepEqual(await causedBy(owner.account), [13_000]);
  });

  test('a text written in place of an image is a loss provoked by the account; a refusal is none', async (t) => {
    const lossesAfter = async (text: string) => {
      play(t, imagePaths.gemini, geminiWrites(text));
      const owner = await newKey();
      const reply = await draw(owner.key, { model: 'nano-banana', n: 2 });
      assert.equal(reply.status, 400);
      await assertFree(owner);
      return { losses: await lossesOf(owner.account), provoked: await causedBy(owner.account) };
    };
    const refusal = await lossesAfter('I cannot draw that.');
    assert.deepEqual(refusal, { losses: [], provoked: [] });
    assert.deepEqual(await lossesAfter(essay), { losses: [68_000], provoked: [68_000] });
  });

  test('texts written in place of images are provoked losses also beside an image or a refusal', async (t) => {
    const cases: readonly (readonly [Script, status: number])[] = [
      [geminiDraws, 200],
      [geminiWrites('I cannot draw that.'), 400],
    ];
    for (const [first, status] of cases) {
      play(t, imagePaths.gemini, first, geminiWrites(essay), geminiWrites(essay));
      const owner = await newKey();
      const reply = await draw(owner.key, { model: 'nano-banana', n: 3 });
      assert.equal(reply.status, status, reply.text);
      assert.deepEqual(await causedBy(owner.account), [68_000]);
    }
  });

  test('a burst of texts in place of images costs the operator at most the budget and one request', async (t) => {
    play(t, imagePaths.gemini, geminiWrites(essay));
    const owner = await newKey();
    // Each costs the operator $0.068; the budget is $1.
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => draw(owner.key, { model: 'nano-banana', n: 2 })),
    );
    const [provoked] = await causedBy(owner.account);
    assert.equal(provoked, 15 * 68_000);
    const charged = replies.filter(({ text }) => text.includes('It was charged ($0.068)'));
    // One that arrives when the budget is used up is refused.
    const refused = replies.filter(({ text }) => text.includes('loss_budget_exceeded'));
    assert.equal(charged.length + refused.length, 5);
    await gateway.assertLeft(owner.account, 5_000_000 - charged.length * 68_000);
  });

  test('an image that xAI’s rules forbid, which it bills, is a loss that the account caused', async (t) => {
    for (const [status, error] of [
      [403, 'Content violates usage guidelines. Team: x'],
      [400, 'Generated image rejected by content moderation.'],
    ] as const) {
      play(t, imagePaths.generations, answerStatus(status, { body: { error } }));
      const owner = await newKey();
      const reply = await draw(owner.key, { model: 'gpt-image-flare' });
      assert.equal(reply.status, 400, reply.text);
      await assertFree(owner);
      const [provoked] = await causedBy(owner.account);
      assert.ok(provoked! > 0);
      assert.deepEqual(await lossesOf(owner.account), [provoked]);
    }
  });

  test('an account pays for what it spoils beyond the budget, not for what breaks off beside it', async (t) => {
    const seen = new Set<string>();
    // Of each request, one call is spoiled and the other breaks off.
    play(t, imagePaths.gemini, (response, request) => {
      const body = JSON.stringify(request.body);
      const script = seen.has(body) ? thenReset(null) : geminiWrites(essay);
      seen.add(body);
      return script(response, request);
    });
    const owner = await newKey();
    const replies = await Promise.all(
      Array.from({ length: 32 }, (_, index) =>
        draw(owner.key, { model: 'nano-banana', n: 2, prompt: `fox ${index}` }),
      ),
    );
    const [provoked] = await causedBy(owner.account);
    assert.equal(provoked, 30 * 34_000);
    const charged = replies.filter(({ text: said }) => said.includes('It was charged ($0.034)'));
    assert.equal(charged.length, 2);
    await gateway.assertLeft(owner.account, 5_000_000 - 2 * 34_000);
    const losses = await lossesOf(owner.account);
    const lost = losses.reduce((sum, loss) => sum + loss, 0);
    assert.equal(lost, 62 * 34_000, 'the rest is a loss');
  });

  test('BFL is polled until the image is ready', async (t) => {
    play(t, imagePaths.bflState, bflPending, bflReady(gateway.upstream));
    const owner = await newKey();
    const reply = await draw(owner.key, { model: 'flux-2' });
    await assertCharged(reply, { ...owner, images: 1, micros: 45_000 });
  });
});

describe('a second route', () => {
  for (const [model, what, script, expected, lossMicros] of secondRoutes) {
    test(what, async () => {
      gateway.upstream.on('/local/v1/images/generations', script);
      const owner = await newKey();
      const reply = await draw(owner.key, { model, quality: 'low' });
      const { 'x-service-route': route, 'x-service-attempts': attempts } = reply.headers;
      const got = [reply.status, route, attempts].filter((part) => part !== undefined);
      assert.deepEqual(got, expected, reply.text);
      // The operator's cost, without the markup.
      await (reply.status === 200
        ? assertCharged(reply, { ...owner, images: 1, micros: 10_000 })
        : assertFree(owner));
      assert.deepEqual(await lossesOf(owner.account), lossMicros === undefined ? [] : [lossMicros]);
      if (reply.status !== 200) return;
      // The cache key belongs to the model's first route, not to a fallback.
      const cached = { 'x-service-cache': 'true' };
      for (const isSecond of [false, true]) {
        const again = await draw(owner.key, { model, quality: 'low' }, cached);
        const isHit = isSecond && what === 'is unused while the first works';
        assert.deepEqual(
          [again.status, again.headers['x-service-cache']],
          [200, isHit ? 'hit' : undefined],
        );
      }
    });
  }
});

describe('a client that leaves', () => {
  /**
   * `calls`: the provider's calls before the client leaves. Returns when the gateway has noticed.
   */
  async function leave(
    key: string,
    {
      headers = {},
      body = {},
      calls = 1,
    }: { headers?: Record<string, string>; body?: Body; calls?: number } = {},
  ) {
    const last = gateway.upstream.requests.length + calls - 1;
    const { request } = gateway.open(generations, {
      key,
      headers,
      body: { model: 'gpt-image-flare', prompt, ...body },
    });
    const asked = await gateway.upstream.request(last);
    // So that no earlier wait ends at the same moment.
    await clock.advance(1);
    request.destroy();
    if (!('idempotency-key' in headers)) await until(() => clock.dueIn(readOnMs) > 0);
    return asked;
  }
  const isSettled = async (account: string) => {
    await until(async () => (await gateway.balance(account)).heldMicros === 0);
  };

  test('pays for the images that are made, however long that takes', async (t) => {
    const drawing = holdBack(openaiDraws());
    play(t, imagePaths.generations, drawing.script);
    const { key, account } = await newKey();
    const asked = await leave(key);
    await clock.advance(10 * readOnMs);
    drawing.release();
    assert.equal(await asked.ended, 'answered');
    await isSettled(account);
    assert.equal((await gateway.balance(account)).availableMicros, 5_000_000 - 19_500);
    assert.deepEqual(await lossesOf(account), []);
  });

  test('gets them with its Idempotency-Key when it comes back', async (t) => {
    const drawing = holdBack(openaiDraws());
    play(t, imagePaths.generations, drawing.script);
    const { key, account } = await newKey();
    const headers = { 'idempotency-key': 'fox-4' };
    await leave(key, { headers });
    const retry = draw(key, {}, headers);
    drawing.release();
    const again = await retry;
    assert.deepEqual([urlsOf(again).length, again.costMicros], [1, 0]);
    assert.equal((await gateway.balance(account)).availableMicros, 5_000_000 - 19_500);
  });

  test("pays nothing for images that do not arrive, which are the operator's loss", async (t) => {
    const drawing = holdBack(thenReset(null));
    play(t, imagePaths.generations, drawing.script);
    const owner = await newKey();
    await leave(owner.key);
    await clock.advance(readOnMs);
    drawing.release();
    await isSettled(owner.account);
    await assertFree(owner);
    assert.deepEqual(await lossesOf(owner.account), [13_000]);
  });

  test("pays for the part that arrived; the rest is the operator's loss", async (t) => {
    const drawing = holdBack(thenReset(null));
    play(t, imagePaths.gemini, geminiDraws, geminiDraws, drawing.script);
    const { key, account } = await newKey();
    const body = { model: 'nano-banana', n: 3 };
    await leave(key, { body, calls: 3 });
    await clock.advance(readOnMs);
    drawing.release();
    await isSettled(account);
    assert.equal((await gateway.balance(account)).availableMicros, 5_000_000 - 2 * 51_000);
    assert.deepEqual(await lossesOf(account), [34_000]);
  });
});
