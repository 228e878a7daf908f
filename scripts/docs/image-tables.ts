// Generates the tables of docs/images.md from the catalogue: parameters of each model and family,
// and prices.
import type {
  ImageModel,
  ImageParameters,
  ImageTokenPrices,
  PicosByTier,
  SizeRule,
} from '../../src/terms/image-model.ts';
import { usdFromPicos, usdPerMillionFromPicos } from '../../src/lib/money.ts';

/** Returns both tables in Markdown. */
export function imageTables(models: readonly ImageModel[]): string {
  return `${modelTable(models)}\n${familyTable(models)}`;
}

function modelTable(models: readonly ImageModel[]): string {
  const rows = models.map(({ id, mode, family, inputImages: { min, max }, price }) => [
    `\`${id}\``,
    `\`${mode}\``,
    family,
    max === 0 ? '–' : min === max ? String(max) : `${min} to ${max}`,
    price ? pricesInWords(price.output) : 'none',
    price?.perMegapixel ? pricesInWords(price.furtherMegapixel) : '–',
    price && max > 0
      ? `${pricesInWords(price.input)}${price.inputPerMegapixel ? ' a megapixel' : ''}`
      : '–',
    price?.tokens ? tokensInWords(price.tokens) : '–',
  ]);
  const head = [
    'USD an image',
    'each further megapixel',
    'each input image',
    'by tokens, USD a million',
  ];
  return table(['Model', 'Mode', 'Family', '`images`', ...head], rows);
}

function tokensInWords({ text, cachedText, image, cachedImage, output }: ImageTokenPrices): string {
  const [textUsd, cachedTextUsd, imageUsd, cachedImageUsd, outputUsd] = [
    text,
    cachedText,
    image,
    cachedImage,
    output,
  ].map(usdPerMillionFromPicos);
  return `text ${textUsd}, cached ${cachedTextUsd}; image ${imageUsd}, cached ${cachedImageUsd}; output ${outputUsd}`;
}

/** Equal prices are written once. */
function pricesInWords(prices: PicosByTier): string {
  const entries = Object.entries(prices);
  const [first] = entries;
  if (first && entries.every(([, picos]) => picos === first[1]))
    return String(usdFromPicos(first[1]));
  return entries.map(([tier, picos]) => `${tier} ${usdFromPicos(picos)}`).join(', ');
}

function familyTable(models: readonly ImageModel[]): string {
  const families = new Map(models.map((model) => [model.family, model]));
  const rows = [...families].flatMap(([family, { parameters, countMax, promptCharactersMax }]) => [
    ...parameterRows(parameters).map(([name, values, byDefault]) => [
      family,
      `\`${name}\``,
      values,
      byDefault,
    ]),
    [family, '`n`', `1 to ${countMax}`, '1'],
    [family, '`prompt`', `1 to ${promptCharactersMax} characters`, 'required'],
  ]);
  return table(['Family', 'Parameter', 'Values', 'Default'], rows);
}

function parameterRows(
  parameters: ImageParameters,
): [name: string, values: string, byDefault: string][] {
  const { outputFormats } = parameters;
  const formats: [string, string, string][] =
    outputFormats.length === 0 ? [] : [['output_format', codes(outputFormats), "the provider's"]];
  if (parameters.kind === 'shape') {
    const { aspectRatio, resolution } = parameters;
    return [
      ['aspect_ratio', codes(aspectRatio.allowed), `\`${aspectRatio.default}\``],
      ['resolution', codes(resolution.allowed), `\`${resolution.default}\``],
      ...formats,
    ];
  }
  const { size, quality } = parameters;
  return [
    ['size', sizesInWords(size), `\`${size.default.width}x${size.default.height}\``],
    ['quality', codes(quality.allowed), `\`${quality.default}\``],
    ...formats,
  ];
}

function sizesInWords({ multipleOf, sideMin, sideMax, pixelsMax, aspectMax }: SizeRule): string {
  return (
    `\`<width>x<height>\`, each a multiple of ${multipleOf} from ${sideMin} to ${sideMax}, ` +
    `in all at most ${pixelsMax} pixels, from 1:${aspectMax} to ${aspectMax}:1`
  );
}

function codes(values: readonly string[]): string {
  return values.map((value) => `\`${value}\``).join(', ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`);
  return lines.join('');
}
