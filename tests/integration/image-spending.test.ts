// Limits on image spending, and the cost of repeated requests: balances, caps, Idempotency-Keys,
// the cache.
import assert from 'node:assert/strict';
import type { Micros } from '../../src/lib/money.ts';
import { estimateInputTokens } from '../../src/lib/tokens.ts';
import { after, before, describe, test } from '../support/both-stores.ts';
import {
  prompt,
  startImageGateway,
  type ImageGateway,
  urlsOf,
  type Body,
} from '../support/image-gateway.ts';
import { imagePaths, openaiDraws } from '../support/image-upstreams.ts';

let gateway: ImageGateway['gateway'];
let newKey: ImageGateway['newKey'];
let draw: ImageGateway['draw'];
let play: ImageGateway['play'];
let recordsOf: ImageGateway['recordsOf'];
let assertCharged: ImageGateway['assertCharged'];

before(async () => {
  ({ gateway, newKey, draw, play, recordsOf, assertCharged } = await startImageGateway());
});
after(() => gateway.stop());

/**
 * The provider's highest possible count: twice the table's for each image, and the prompt with what
 * may be added around it.
 */
const mostOf = (count: number) =>
  count * 2 * 19_500 + ((estimateInputTokens(prompt).upper + 100) * 5 * 3) / 2;

describe('limits on spending', () => {
  test('the hold covers all images while they are made, and ends after that', async (t) => {
    const owner = await newKey();
    const release = Promise.withResolvers<void>();
    play(t, imagePaths.generations, async (response, request) => {
      await release.promise;
      await openaiDraws(1)(response, request);
    });
    const asked = gateway.upstream.requests.length;
    const running = draw(owner.key, { n: 4 });
    await gateway.upstream.request(asked);
    const { heldMicros, availableMicros } = await gateway.balance(owner.account);
    assert.deepEqual([heldMicros, availableMicros], [mostOf(4), 5_000_000 - mostOf(4)]);
    // If its process is killed, it has probably cost the table's price, not twice as much.
    const hold = gateway.database.read
      .selectFrom('holds')
      .selectAll()
      .where('ledger_id', '=', `${owner.account}:live`);
    assert.equal((await hold.executeTakeFirstOrThrow()).cost_at_once_micros, 4 * 13_000);
    release.resolve();
    await assertCharged(await running, { ...owner, images: 1, micros: 19_500 });
  });

  test('a 402 says how many images fit, and that many do', async () => {
    const owner = await newKey({ creditUsd: 0.1 });
    const refused = await draw(owner.key, { n: 4 });
    assert.deepEqual([refused.status, refused.error.code], [402, 'insufficient_balance']);
    const {
      affordable_images: affordable,
      required_micros: required,
      left_micros: left,
    } = refused.error.details!;
    assert.deepEqual([affordable, required, left], [2, mostOf(4), 100_000]);
    assert.match(refused.error.message, /Up to 2 images would fit: send `n` of at most that/);
    assert.equal((await draw(owner.key, { n: 2 })).costMicros, 39_000);
    assert.equal((await draw(owner.key)).costMicros, 19_500);
    assert.equal((await draw(owner.key)).costMicros, 19_500);
    const last = await draw(owner.key);
    assert.deepEqual([last.status, last.error.details!['affordable_images']], [402, 0]);
  });

  test("a key's spent cap is a 429", async () => {
    for (const cap of ['dailyCapMicros', 'monthlyCapMicros'] as const) {
      const { key } = await newKey({ [cap]: 80_000 as Micros });
      const refused = await draw(key, { n: 3 });
      const code =
        cap === 'dailyCapMicros' ? 'key_daily_limit_reached' : 'key_monthly_limit_reached';
      assert.deepEqual(
        [refused.status, refused.error.code, refused.error.details!['affordable_images']],
        [429, code, 2],
      );
      assert.equal((await draw(key, { n: 2 })).status, 200);
    }
  });
});

describe('the same request again', () => {
  test('under an Idempotency-Key: the same urls, free; another body is a conflict', async () => {
    const owner = await newKey();
    const headers = { 'idempotency-key': 'fox-1' };
    const first = await draw(owner.key, { n: 2 }, headers);
    const asked = gateway.upstream.requests.length;
    const again = await draw(owner.key, { n: 2 }, headers);
    assert.deepEqual(urlsOf(again), urlsOf(first));
    assert.deepEqual(
      [again.costMicros, again.headers['x-service-cache']],
      [0, 'idempotent-replay'],
    );
    const other = await draw(owner.key, { n: 1 }, headers);
    assert.deepEqual([other.status, other.error.code], [422, 'idempotency_conflict']);
    assert.equal(gateway.upstream.requests.length, asked);
    await assertCharged(first, { ...owner, images: 2, micros: 39_000 });
  });

  const cases: [what: string, first: Body, header: string | undefined, hit: boolean][] = [
    ['is drawn again', {}, undefined, false],
    ['with the header is from the cache', {}, 'true', true],
    ['with the header false is drawn again', {}, 'false', false],
    [
      'with a temperature of 0, which images do not have, is drawn again',
      { temperature: 0 },
      undefined,
      false,
    ],
  ];
  for (const [what, body, header, hit] of cases) {
    test(what, async () => {
      const { key } = await newKey();
      const headers: Record<string, string> =
        header === undefined ? {} : { 'x-service-cache': header };
      const [first, again] = [await draw(key, body, headers), await draw(key, body, headers)];
      assert.deepEqual(
        [again.headers['x-service-cache'], again.costMicros],
        hit ? ['hit', 0] : [undefined, 19_500],
      );
      assert.equal(urlsOf(first)[0] === urlsOf(again)[0], hit);
      assert.equal((await recordsOf(key)).length, hit ? 1 : 2);
    });
  }

  test('an answer leaves the cache before its links end', async () => {
    const { key, account } = await newKey();
    const [url] = urlsOf(await draw(key, {}, { 'x-service-cache': 'true' }));
    const linkEndsMs = Number(new URL(url!).searchParams.get('expires')) * 1_000;
    const rows = gateway.database.read
      .selectFrom('cached_responses')
      .select('expires_at_ms')
      .where('account_id', '=', account);
    const leftMs = linkEndsMs - (await rows.executeTakeFirstOrThrow()).expires_at_ms;
    assert.ok(leftMs > 3_500_000 && leftMs <= 3_601_000, `${leftMs} ms`);
  });

  test('an answer with fewer images than requested is not cached', async (t) => {
    play(t, imagePaths.generations, openaiDraws(1), openaiDraws());
    const { key } = await newKey();
    const headers = { 'x-service-cache': 'true' };
    assert.equal(urlsOf(await draw(key, { n: 2 }, headers)).length, 1);
    assert.equal(urlsOf(await draw(key, { n: 2 }, headers)).length, 2);
  });
});
