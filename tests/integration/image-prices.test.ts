// Charges for images whose provider bills other units: tokens (OpenAI) or input megapixels (Black
// Forest Labs).
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ModelCatalogue } from '../../src/management/contract/models.ts';
import type { RequestDetail } from '../../src/management/contract/requests.ts';
import { changeTerms } from '../../src/domain/accounts/manage-accounts.ts';
import { estimateInputTokens } from '../../src/lib/tokens.ts';
import { signIn } from '../support/dashboard.ts';
import { prompt, startImageGateway } from '../support/image-gateway.ts';
import { imagePaths, openaiDraws } from '../support/image-upstreams.ts';
import { png } from '../support/images/local-image-provider.ts';

const { gateway, newKey, draw, play, assertCharged, lossesOf } = await startImageGateway();
after(() => gateway.stop());

const markup = 1.5;
const { upper: promptTokensUpper } = estimateInputTokens(prompt);

/** The part of a PNG that is read: its header gives the size. */
function inputOf(width: number, height: number): string {
  const bytes = Buffer.from(png);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return `data:image/png;base64,${bytes.toString('base64')}`;
}

describe('gpt-image', () => {
  test("a generation is charged by the provider's count of prompt and output", async (t) => {
    play(
      t,
      imagePaths.generations,
      openaiDraws(2, { input_tokens: 12, output_tokens: 700, total_tokens: 712 }),
    );
    const owner = await newKey();
    await assertCharged(await draw(owner.key, { n: 2 }), {
      ...owner,
      images: 2,
      micros: (12 * 5 + 700 * 30) * markup,
    });
  });

  test('an edit is charged for its input image, with cached tokens at their price', async (t) => {
    const details = {
      text_tokens: 20,
      image_tokens: 3_000,
      cached_tokens_details: { text_tokens: 8, image_tokens: 1_000 },
    };
    play(
      t,
      imagePaths.edits,
      openaiDraws(1, { input_tokens: 3_020, input_tokens_details: details, output_tokens: 500 }),
    );
    const owner = await newKey();
    const reply = await draw(owner.key, {
      model: 'gpt-image-flare-edit',
      images: [inputOf(1_024, 1_024)],
    });
    const micros = (12 * 5 + 8 * 1.25 + 2_000 * 8 + 1_000 * 2 + 500 * 30) * markup;
    await assertCharged(reply, { ...owner, images: 1, micros });
  });

  test('the hold is the highest possible cost, and no count charges more', async (t) => {
    const release = Promise.withResolvers<void>();
    const wild = openaiDraws(2, { input_tokens: 90_000_000, output_tokens: 90_000_000 });
    play(t, imagePaths.generations, async (response, request) => {
      await release.promise;
      await wild(response, request);
    });
    const owner = await newKey();
    const asked = gateway.upstream.requests.length;
    const running = draw(owner.key, { n: 2 });
    await gateway.upstream.request(asked);
    const held = Math.ceil(((promptTokensUpper + 100) * 5 + 2 * 2 * 13_000) * markup);
    assert.equal((await gateway.balance(owner.account)).heldMicros, held);
    release.resolve();
    await assertCharged(await running, { ...owner, images: 2, micros: held });
  });

  test("a plausible count beyond the hold is the operator's loss", async (t) => {
    const details = { text_tokens: 20, image_tokens: 8_000 };
    const counts: [usage: object, lossMicros: number][] = [
      [{ input_tokens: 20, output_tokens: 1_000 }, 1_000 * 30 - 2 * 13_000],
      [
        { input_tokens: 8_020, input_tokens_details: details, output_tokens: 500 },
        (8_000 - 7_079) * 8,
      ],
      [
        { input_tokens: 20, input_tokens_details: { image_tokens: 0 }, output_tokens: 90_000_000 },
        10 * (20 * 5 + 2 * 13_000),
      ],
    ];
    for (const [usage, lossMicros] of counts) {
      play(t, imagePaths.edits, openaiDraws(1, usage));
      const owner = await newKey();
      assert.equal(
        (await draw(owner.key, { model: 'gpt-image-flare-edit', images: [inputOf(64, 64)] }))
          .status,
        200,
      );
      assert.deepEqual(await lossesOf(owner.account), [lossMicros]);
    }
  });

  test('the dashboard shows exact prices, with fractions of a microdollar', async (t) => {
    const details = { text_tokens: 3, cached_tokens: 1 };
    const usage = { input_tokens: 3, input_tokens_details: details, output_tokens: 100 };
    play(t, imagePaths.generations, openaiDraws(1, usage));
    const member = await signIn(gateway);
    const { account } = member;
    await changeTerms(gateway.database.write, account, { priceMultiplierPpm: 777_777 });
    const owner = await newKey({ account });
    const exact = (2 * 5 + 1 * 1.25 + 100 * 30) * markup * 0.777777;
    const reply = await draw(owner.key);
    await assertCharged(reply, { ...owner, images: 1, micros: Math.ceil(exact) });
    const { charge } = (
      await member.get(`/accounts/${account}/requests/${reply.requestId}`)
    ).json<RequestDetail>();
    assert.equal(charge!.price!.request_micros.toFixed(5), exact.toFixed(5));
    const { images } = (await member.get(`/accounts/${account}/models`)).json<ModelCatalogue>();
    const { price } = images.find(({ id }) => id === 'gpt-image-flare')!;
    assert.equal(price!.tokens!.cached_text_micros, 1_250_000 * markup * 0.777777);
  });

  test("uncounted images have the table's price", async (t) => {
    const owner = await newKey();
    for (const usage of [{}, { input_tokens: -1, output_tokens: 'x' }, 'none', null]) {
      play(t, imagePaths.generations, openaiDraws(1, usage));
      assert.equal((await draw(owner.key)).costMicros, 19_500);
    }
  });
});

describe('FLUX', () => {
  // Of any size, in src/domain/catalog/image-price.test.ts.
  test('charges each input by the pixels that it has', async () => {
    const owner = await newKey();
    const images = [inputOf(6_000, 4_000), inputOf(1_025, 1_024)];
    await assertCharged(await draw(owner.key, { model: 'flux-2-reference', images }), {
      ...owner,
      images: 1,
      micros: Math.round((0.03 + 6 * 0.015) * 1e6 * markup),
    });
  });

  test('holds four megapixels for an input not read yet', async () => {
    const { key } = await newKey({ creditUsd: 0.13 });
    const refused = await draw(key, { model: 'flux-2-edit', images: [inputOf(64, 64)] });
    assert.deepEqual([refused.status, refused.error.details!['required_micros']], [402, 135_000]);
  });
});
