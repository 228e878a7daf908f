import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imagePriceUnit } from './model-text.ts';

test('a price that holds for the first megapixel only says so', () => {
  const price = { input_image_micros: {}, input_per_megapixel: false, tokens: null };
  const unitOf = (perMegapixel: boolean, further: object) =>
    imagePriceUnit({
      ...price,
      per_megapixel: perMegapixel,
      output_micros: { low: 15_000 },
      further_megapixel_micros: further,
    });
  assert.equal(unitOf(false, {}), 'per image');
  assert.equal(unitOf(true, { low: 15_000 }), 'per megapixel');
  assert.equal(unitOf(true, { low: 2_000 }), 'for the first megapixel');
});
