import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import type { ImageUsage } from '../../terms/image-model.ts';
import { loadConfig } from '../../config/load.ts';
import { picosFromUsd } from '../../lib/money.ts';
import type { PricedImage } from './image-price.ts';
import { countedPrice, maximumPrice } from './image-token-price.ts';
import { loadImageModels } from './load-image-catalog.ts';

const listPrice = { markup: 1, multiplierPpm: 1_000_000 } as const;
const models = new Map(
  loadImageModels(loadConfig({ env: {}, cwd: '/' })).map((model) => [model.id, model]),
);
const [flare, edit, reference] = [
  'gpt-image-flare',
  'gpt-image-flare-edit',
  'gpt-image-sunburst-reference',
].map((id) => models.get(id)!);
const square = { width: 1_024, height: 1_024 };
const fromText: PricedImage = { inputs: [], size: square, quality: 'medium', resolution: null };
const fromOne: PricedImage = { ...fromText, inputs: [square] };
const prompt = { upper: 60, likely: 20 };

const none = { inputTokens: 0, cachedTextTokens: 0, cachedImageTokens: 0, outputTokens: 0 };
const usage = (changes: Partial<ImageUsage>): ImageUsage => ({
  ...none,
  imageTokens: null,
  ...changes,
});

function usdOf(
  model: typeof flare,
  image: PricedImage,
  reported: Partial<ImageUsage>,
  { asked, delivered }: { asked: number; delivered: number } = { asked: 1, delivered: 1 },
): number {
  const run = { usage: usage(reported), prompt, asked, delivered, factor: listPrice };
  const counted = countedPrice(model!, image, run)!;
  assert.equal(counted.listPicos, counted.upstreamPicos);
  return Number(counted.listPicos) / 1e12;
}

describe("the charge by the provider's count", () => {
  test('prompt, input images and output images each have their own price', () => {
    const written = usdOf(flare, fromText, { inputTokens: 50, outputTokens: 400 });
    assert.equal(written, (50 * 5 + 400 * 30) / 1e6);
    const reported = { inputTokens: 1_050, imageTokens: 1_000, outputTokens: 400 };
    assert.equal(usdOf(edit, fromOne, reported), (50 * 5 + 1_000 * 8 + 400 * 30) / 1e6);
  });

  test('cached tokens have the cache price', () => {
    const reported = {
      inputTokens: 1_050,
      imageTokens: 1_000,
      cachedTextTokens: 30,
      cachedImageTokens: 600,
      outputTokens: 400,
    };
    const micros = 20 * 5 + 30 * 1.25 + 400 * 8 + 600 * 2 + 400 * 30;
    assert.equal(usdOf(edit, fromOne, reported), micros / 1e6);
    const wild = { inputTokens: 10, cachedTextTokens: 99, outputTokens: 1 };
    assert.equal(usdOf(flare, fromText, wild), (10 * 1.25 + 30) / 1e6);
  });

  test('undivided input beyond the likely prompt counts as images', () => {
    const undivided = usdOf(edit, fromOne, { inputTokens: 1_020, outputTokens: 1 });
    assert.equal(undivided, (20 * 5 + 1_000 * 8 + 30) / 1e6);
    assert.equal(usdOf(flare, fromText, { inputTokens: 60, outputTokens: 1 }), (60 * 5 + 30) / 1e6);
  });

  test('uncounted input or output has the table price, for each delivered image', () => {
    const two = { asked: 3, delivered: 2 };
    const input = { inputTokens: 1_000, imageTokens: 980 };
    assert.equal(usdOf(edit, fromOne, input, two), (20 * 5 + 980 * 8) / 1e6 + 0.026);
    const output = usdOf(edit, fromOne, { outputTokens: 400 }, two);
    assert.equal(output, 0.02 + (400 * 30) / 1e6);
  });

  test('output is capped at twice the table price, and input at what prompt and images can be', () => {
    const wild = { inputTokens: 90_000_000, imageTokens: 80_000_000, outputTokens: 90_000_000 };
    const unread = { ...fromOne, inputs: [null, null] };
    const most = maximumPrice(reference!, unread, { prompt, factor: listPrice })!;
    const reported = { usage: usage(wild), prompt, asked: 2, delivered: 2, factor: listPrice };
    const counted = countedPrice(reference!, { ...fromOne, inputs: [square, square] }, reported)!;
    assert.equal(counted.listPicos, 2n * 2n * picosFromUsd(0.013) + most.request.listPicos);
    assert.equal(counted.beyondPicos, 10n * counted.listPicos);
  });

  test('a model without token prices is not charged by tokens', () => {
    const flux = models.get('flux-2')!;
    const counts = usage({ inputTokens: 5, outputTokens: 5 });
    const run = { usage: counts, prompt, asked: 1, delivered: 1, factor: listPrice };
    assert.equal(countedPrice(flux, fromText, run), null);
    const most = maximumPrice(flux, fromText, { prompt, factor: listPrice })!;
    assert.equal(most.request.listPicos, 0n);
  });
});

test('no count costs more than the hold or less than zero, for any factor', () => {
  const tokens = fc.oneof(fc.nat(20_000), fc.nat(100_000_000));
  const counts = fc.record({
    inputTokens: tokens,
    imageTokens: fc.option(tokens),
    cachedTextTokens: tokens,
    cachedImageTokens: tokens,
    outputTokens: tokens,
  });
  const request = fc.record({
    inputs: fc.integer({ min: 0, max: 16 }),
    size: fc.record({
      width: fc.integer({ min: 64, max: 3_840 }),
      height: fc.integer({ min: 64, max: 2_160 }),
    }),
    quality: fc.constantFrom('low' as const, 'medium' as const, 'high' as const),
    upper: fc.nat(100_000),
    likely: fc.nat(100_000),
    asked: fc.integer({ min: 1, max: 10 }),
    missing: fc.nat(9),
  });
  const factors = fc.record({
    markup: fc.integer({ min: 0, max: 5_000 }).map((mills) => mills / 1_000),
    multiplierPpm: fc.nat(3_000_000),
  });
  fc.assert(
    fc.property(
      counts,
      request,
      factors,
      (reported, { inputs, size, quality, upper, likely, asked, missing }, factor) => {
        const delivered = Math.max(asked - missing, 1);
        const tokensOfPrompt = { upper: Math.max(upper, likely), likely };
        const image = { size, quality, resolution: null, inputs: Array<null>(inputs).fill(null) };
        const most = maximumPrice(reference!, image, { prompt: tokensOfPrompt, factor })!;
        const given = { ...image, inputs: image.inputs.map(() => square) };
        const run = { usage: reported, prompt: tokensOfPrompt, asked, delivered, factor };
        const counted = countedPrice(reference!, given, run)!;
        assert.ok(counted.listPicos <= most.listPicos * BigInt(asked) + most.request.listPicos);
        assert.ok(
          counted.upstreamPicos <= most.upstreamPicos * BigInt(asked) + most.request.upstreamPicos,
        );
        assert.ok(counted.upstreamPicos > 0n || reported.outputTokens === 0);
        const whole =
          reported.inputTokens > 0 && reported.outputTokens > 0 && counted.beyondPicos === 0n;
        if (whole)
          assert.ok(
            counted.upstreamPicos >= BigInt(reported.outputTokens) * 30_000_000n,
            'every counted token is charged',
          );
      },
    ),
  );
});
