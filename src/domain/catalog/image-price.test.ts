import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import type { ImagePrice } from '../../terms/image-model.ts';
import { picosFromUsd, roundUpToMicro } from '../../lib/money.ts';
import { unitPrice, type PricedImage } from './image-price.ts';
import { loadImageModels } from './load-image-catalog.ts';
import { loadConfig } from '../../config/load.ts';

const listPrice = { markup: 1, multiplierPpm: 1_000_000 } as const;
const square = { width: 1_024, height: 1_024 };
const models = new Map(
  loadImageModels(loadConfig({ env: {}, cwd: '/' })).map((model) => [model.id, model]),
);

const image = (changes: Partial<PricedImage> = {}): PricedImage => ({
  inputs: [],
  size: square,
  quality: 'medium',
  resolution: null,
  ...changes,
});
const shaped = (resolution: '1k' | '2k' | '4k', inputs: PricedImage['inputs'] = []) =>
  image({ size: null, quality: null, resolution, inputs });

describe('one image costs', () => {
  const cases: [id: string, asked: PricedImage, usd: number][] = [
    ['gpt-image-flare', image({ quality: 'low' }), 0.006],
    ['gpt-image-flare', image(), 0.013],
    ['gpt-image-flare', image({ quality: 'high' }), 0.053],
    ['gpt-image-sunburst', image({ size: { width: 1_024, height: 1_536 } }), 0.026],
    [
      'gpt-image-sunburst',
      image({ size: { width: 3_840, height: 2_160 }, quality: 'high' }),
      0.424,
    ],
    ['gpt-image-flare-edit', image({ inputs: [square] }), 0.023],
    [
      'gpt-image-flare-edit',
      image({ inputs: [square], size: { width: 1_536, height: 1_024 } }),
      0.036,
    ],
    [
      'gpt-image-sunburst-reference',
      image({ quality: 'low', inputs: Array<null>(16).fill(null) }),
      0.166,
    ],
    ['flux-2', image({ quality: 'low' }), 0.015],
    ['flux-2', image(), 0.03],
    ['flux-2', image({ quality: 'high', size: { width: 2_048, height: 2_048 } }), 0.16],
    ['flux-2', image({ size: { width: 1_536, height: 1_024 } }), 0.045],
    [
      'flux-2-edit',
      image({ size: { width: 2_048, height: 2_048 }, inputs: [{ width: 1_920, height: 1_080 }] }),
      0.105,
    ],
    [
      'flux-2-reference',
      image({ inputs: [square, { width: 1_025, height: 1_024 }, { width: 8_000, height: 6_000 }] }),
      0.135,
    ],
    ['flux-2-edit', image({ quality: 'high', inputs: [null] }), 0.19],
    ['flux-2-edit', image({ quality: 'low', inputs: [square] }), 0.017],
    ['flux-2-edit', image({ inputs: [square] }), 0.045],
    ['flux-2-edit', image({ quality: 'high', inputs: [square] }), 0.1],
    ['flux-2-reference', image({ inputs: [square, square, square] }), 0.075],
    ['nano-banana', shaped('1k'), 0.034],
    ['nano-banana', shaped('2k'), 0.05],
    ['nano-banana', shaped('4k'), 0.076],
    ['nano-banana-edit', shaped('1k', [square]), 0.035],
    ['nano-banana-reference', shaped('4k', Array<null>(14).fill(null)), 0.09],
  ];
  for (const [id, asked, usd] of cases) {
    const { size, quality, resolution, inputs } = asked;
    test(`$${usd} of ${id} at ${quality ?? resolution}${size ? `, ${size.width}x${size.height}` : ''}, from ${inputs.length}`, () => {
      assert.deepEqual(unitPrice(models.get(id)!, asked, listPrice), {
        listPicos: picosFromUsd(usd),
        upstreamPicos: picosFromUsd(usd),
      });
    });
  }
});

test('a model or tier without a price gives null', () => {
  assert.equal(unitPrice({ price: null }, image(), listPrice), null);
  assert.equal(unitPrice({ price: priceOf({ output: { low: 1n } }) }, image(), listPrice), null);
  assert.equal(unitPrice({ price: priceOf({}) }, image({ quality: null }), listPrice), null);
});

describe('for every price, request and factor', () => {
  const picos = fc.bigInt({ min: 0n, max: 10n ** 13n });
  const side = fc.integer({ min: 1, max: 4_000 });
  const arbitrary = fc
    .record({
      output: picos,
      further: picos,
      input: picos,
      perMegapixel: fc.boolean(),
      inputPerMegapixel: fc.boolean(),
      isListPrice: fc.boolean(),
      size: fc.record({ width: side, height: side }),
      inputs: fc.array(fc.record({ width: side, height: side }), { maxLength: 16 }),
      markupMillionths: fc.integer({ min: 0, max: 5_000_000 }),
      multiplierPpm: fc.integer({ min: 0, max: 3_000_000 }),
      count: fc.integer({ min: 1, max: 10 }),
    })
    .map(({ output, further, input, markupMillionths, multiplierPpm, ...rest }) => ({
      ...rest,
      markupMillionths,
      factor: { markup: markupMillionths / 1_000_000, multiplierPpm },
      price: priceOf({
        ...rest,
        output: { medium: output },
        furtherMegapixel: { medium: further },
        input: { medium: input },
      }),
    }));
  /** Counts whole megapixels instead of dividing. */
  const countMegapixels = ({ width, height }: { width: number; height: number }) => {
    let megapixels = 0n;
    for (let pixels = width * height; pixels > 0; pixels -= 1_024 * 1_024) megapixels++;
    return megapixels;
  };

  test('the price is exact, rounded up by less than a picodollar', () => {
    fc.assert(
      fc.property(arbitrary, ({ price, size, inputs, factor, markupMillionths }) => {
        const unit = unitPrice({ price }, image({ size, inputs }), factor)!;
        let upstream = price.output.medium!;
        if (price.perMegapixel)
          upstream += price.furtherMegapixel.medium! * (countMegapixels(size) - 1n);
        for (const input of inputs) {
          const megapixels = countMegapixels(input);
          upstream +=
            price.input.medium! *
            (price.inputPerMegapixel ? (megapixels > 4n ? 4n : megapixels) : 1n);
        }
        assert.equal(unit.upstreamPicos, upstream);
        const exact =
          upstream *
          BigInt(price.isListPrice ? 1_000_000 : markupMillionths) *
          BigInt(factor.multiplierPpm);
        const excess = unit.listPicos * 10n ** 12n - exact;
        assert.ok(excess >= 0n && excess < 10n ** 12n, String(excess));
      }),
    );
  });

  test('more pixels, inputs or images never cost less, unknown sizes cost the most, and there is one rounding', () => {
    fc.assert(
      fc.property(arbitrary, ({ price, size, inputs, factor, count }) => {
        const at = (changes: Partial<PricedImage>) =>
          unitPrice({ price }, image({ size, inputs, ...changes }), factor)!.listPicos;
        const unit = at({});
        assert.ok(at({ size: { ...size, width: size.width + 16 } }) >= unit);
        assert.ok(at({ inputs: [...inputs, square] }) >= unit);
        assert.ok(at({ inputs: inputs.map(() => null) }) >= unit);
        const charge = BigInt(roundUpToMicro(unit * BigInt(count))) * 1_000_000n;
        assert.ok(charge >= unit * BigInt(count) && charge - unit * BigInt(count) < 1_000_000n);
      }),
    );
  });
});

function priceOf(changes: Partial<ImagePrice>): ImagePrice {
  const { output = {}, furtherMegapixel = output } = changes;
  const rest = {
    isListPrice: false,
    perMegapixel: true,
    input: {},
    inputPerMegapixel: false,
    tokens: null,
  };
  return { ...rest, ...changes, output, furtherMegapixel };
}
