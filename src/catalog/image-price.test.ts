import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../tests/support/property.ts';
import type { ImagePrice } from '../canonical/image-model.ts';
import { picosFromUsd, roundUpToMicro } from '../lib/money.ts';
import { megapixelsOf, unitPrice, type PricedImage } from './image-price.ts';
import { loadImageModels } from './load-image-catalog.ts';
import { loadConfig } from '../config/load.ts';

const listPrice = { markup: 1, multiplierPpm: 1_000_000 } as const;
const square = { width: 1_024, height: 1_024 };
const models = new Map(loadImageModels(loadConfig({ env: {}, cwd: '/' })).map((model) => [model.id, model]));

const image = (changes: Partial<PricedImage> = {}): PricedImage => ({
  images: [],
  size: square,
  quality: 'medium',
  resolution: null,
  ...changes,
});
const shaped = (resolution: '1k' | '2k' | '4k', images: readonly string[] = []) =>
  image({ size: null, quality: null, resolution, images });

describe('one image costs', () => {
  const cases: [id: string, asked: PricedImage, usd: number][] = [
    ['gpt-image-flare', image({ quality: 'low' }), 0.006],
    ['gpt-image-flare', image(), 0.013],
    ['gpt-image-flare', image({ quality: 'high' }), 0.053],
    ['gpt-image-sunburst', image({ size: { width: 1_024, height: 1_536 } }), 0.026],
    ['gpt-image-sunburst', image({ size: { width: 3_840, height: 2_160 }, quality: 'high' }), 0.424],
    ['gpt-image-flare-edit', image({ images: ['a'] }), 0.023],
    ['gpt-image-flare-edit', image({ images: ['a'], size: { width: 1_536, height: 1_024 } }), 0.036],
    ['gpt-image-sunburst-reference', image({ quality: 'low', images: Array(16).fill('a') }), 0.166],
    ['flux-2', image({ quality: 'low' }), 0.015],
    ['flux-2', image(), 0.03],
    ['flux-2', image({ quality: 'high', size: { width: 2_048, height: 2_048 } }), 0.28],
    ['flux-2-edit', image({ quality: 'low', images: ['a'] }), 0.017],
    ['flux-2-edit', image({ images: ['a'] }), 0.045],
    ['flux-2-edit', image({ quality: 'high', images: ['a'] }), 0.1],
    ['flux-2-reference', image({ images: ['a', 'b', 'c'] }), 0.075],
    ['nano-banana', shaped('1k'), 0.034],
    ['nano-banana', shaped('2k'), 0.05],
    ['nano-banana', shaped('4k'), 0.076],
    ['nano-banana-edit', shaped('1k', ['a']), 0.035],
    ['nano-banana-reference', shaped('4k', Array<string>(14).fill('a')), 0.09],
  ];
  for (const [id, asked, usd] of cases) {
    const { size, quality, resolution, images } = asked;
    test(`$${usd} of ${id} at ${quality ?? resolution}${size ? `, ${size.width}x${size.height}` : ''}, from ${images.length}`, () => {
      assert.deepEqual(unitPrice(models.get(id)!, asked, listPrice), {
        listPicos: picosFromUsd(usd),
        upstreamPicos: picosFromUsd(usd),
      });
    });
  }
});

test('a part of a megapixel counts as a whole one', () => {
  assert.deepEqual(
    (
      [
        [64, 64],
        [1_024, 1_024],
        [1_040, 1_024],
        [2_048, 1_024],
        [3_840, 2_160],
      ] as const
    ).map(([width, height]) => megapixelsOf({ width, height })),
    [1, 1, 2, 2, 8],
  );
});

test('a stated price has no markup, but the multiplier of the account', () => {
  const price = priceOf({ isListPrice: true, output: { medium: picosFromUsd(0.01) } });
  const factor = { markup: 1.5, multiplierPpm: 900_000 };
  assert.equal(unitPrice({ price }, image(), factor)!.listPicos, picosFromUsd(0.009));
  assert.equal(unitPrice({ price: { ...price, isListPrice: false } }, image(), factor)!.listPicos, picosFromUsd(0.0135));
  assert.equal(unitPrice({ price }, image(), factor)!.upstreamPicos, picosFromUsd(0.01));
});

test('without a price, or without one for what is asked, there is none', () => {
  assert.equal(unitPrice({ price: null }, image(), listPrice), null);
  assert.equal(unitPrice({ price: priceOf({ output: { low: 1n } }) }, image(), listPrice), null);
  assert.equal(unitPrice({ price: priceOf({}) }, image({ quality: null }), listPrice), null);
});

describe('for every price, request and factor', () => {
  const picos = fc.bigInt({ min: 0n, max: 10n ** 13n });
  const side = fc.integer({ min: 1, max: 4_000 });
  const arbitrary = fc.record({
    output: picos,
    input: picos,
    perMegapixel: fc.boolean(),
    isListPrice: fc.boolean(),
    width: side,
    height: side,
    inputs: fc.integer({ min: 0, max: 16 }),
    markupMillionths: fc.integer({ min: 0, max: 5_000_000 }),
    multiplierPpm: fc.integer({ min: 0, max: 3_000_000 }),
    count: fc.integer({ min: 1, max: 10 }),
  });

  test('the price is the exact one, rounded up by less than a picodollar', () => {
    fc.assert(
      fc.property(
        arbitrary,
        ({ output, input, perMegapixel, isListPrice, width, height, inputs, markupMillionths, multiplierPpm }) => {
          const price = priceOf({ perMegapixel, isListPrice, output: { medium: output }, input: { medium: input } });
          const asked = image({ size: { width, height }, images: Array<string>(inputs).fill('a') });
          const unit = unitPrice({ price }, asked, { markup: markupMillionths / 1_000_000, multiplierPpm })!;
          // By counting whole megapixels instead of dividing.
          let megapixels = 0n;
          for (let pixels = width * height; pixels > 0; pixels -= 1_024 * 1_024) megapixels++;
          const upstream = output * (perMegapixel ? megapixels : 1n) + input * BigInt(inputs);
          assert.equal(unit.upstreamPicos, upstream);
          const exact = upstream * BigInt(isListPrice ? 1_000_000 : markupMillionths) * BigInt(multiplierPpm);
          const excess = unit.listPicos * 10n ** 12n - exact;
          assert.ok(excess >= 0n && excess < 10n ** 12n, String(excess));
        },
      ),
    );
  });

  test('more pixels, inputs or images never cost less, and one rounding is all there is', () => {
    fc.assert(
      fc.property(
        arbitrary,
        ({ output, input, perMegapixel, isListPrice, width, height, inputs, markupMillionths, multiplierPpm, count }) => {
          const price = priceOf({ perMegapixel, isListPrice, output: { medium: output }, input: { medium: input } });
          const factor = { markup: markupMillionths / 1_000_000, multiplierPpm };
          const at = (asked: PricedImage) => unitPrice({ price }, asked, factor)!.listPicos;
          const images = Array<string>(inputs).fill('a');
          const unit = at(image({ size: { width, height }, images }));
          assert.ok(at(image({ size: { width: width + 16, height }, images })) >= unit);
          assert.ok(at(image({ size: { width, height }, images: [...images, 'a'] })) >= unit);
          const charge = BigInt(roundUpToMicro(unit * BigInt(count))) * 1_000_000n;
          assert.ok(charge >= unit * BigInt(count) && charge - unit * BigInt(count) < 1_000_000n);
        },
      ),
    );
  });
});

function priceOf(changes: Partial<ImagePrice>): ImagePrice {
  return { isListPrice: false, perMegapixel: true, output: {}, input: {}, ...changes };
}
