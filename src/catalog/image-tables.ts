// The tables of docs/images.md, made from the catalogue: what each model and each family takes, and what an image costs.
import type { ImageModel, ImageParameters, ImageTier, SizeRule } from '../canonical/image-model.ts';
import { usdFromPicos, type Picos } from '../lib/money.ts';

const begin = '<!-- images: begin (made from catalog/images.json by src/catalog/write-docs.ts) -->';
const end = '<!-- images: end -->';

/** The text with its tables made anew; everything outside the two marks is kept. */
export function replaceImageTables(text: string, models: readonly ImageModel[]): string {
  const [start, stop] = [text.indexOf(begin), text.indexOf(end)];
  if (start === -1 || stop < start) throw new Error(`docs/images.md has lost its marks: ${begin} and ${end}`);
  return `${text.slice(0, start)}${begin}\n${modelTable(models)}\n${familyTable(models)}${text.slice(stop)}`;
}

function modelTable(models: readonly ImageModel[]): string {
  const rows = models.map(({ id, mode, family, inputImages: { min, max }, price }) => [
    `\`${id}\``,
    `\`${mode}\``,
    family,
    max === 0 ? '–' : min === max ? String(max) : `${min} to ${max}`,
    price ? pricesInWords(price.output) : 'none',
    price?.perMegapixel ? 'megapixel' : 'image',
    price && max > 0 ? pricesInWords(price.input) : '–',
  ]);
  return table(['Model', 'Mode', 'Family', '`images`', 'USD', 'for each', 'USD for each image put in'], rows);
}

/** One price stands for all where they are the same. */
function pricesInWords(prices: Readonly<Partial<Record<ImageTier, Picos>>>): string {
  const entries = Object.entries(prices);
  const [first] = entries;
  if (first && entries.every(([, picos]) => picos === first[1])) return String(usdFromPicos(first[1]));
  return entries.map(([tier, picos]) => `${tier} ${usdFromPicos(picos)}`).join(', ');
}

function familyTable(models: readonly ImageModel[]): string {
  const families = new Map(models.map((model) => [model.family, model]));
  const rows = [...families].flatMap(([family, { parameters, countMax, promptCharactersMax }]) => [
    ...parameterRows(parameters).map(([name, values, byDefault]) => [family, `\`${name}\``, values, byDefault]),
    [family, '`n`', `1 to ${countMax}`, '1'],
    [family, '`prompt`', `1 to ${promptCharactersMax} characters`, 'required'],
  ]);
  return table(['Family', 'Parameter', 'Values', 'Default'], rows);
}

function parameterRows(parameters: ImageParameters): [name: string, values: string, byDefault: string][] {
  const { outputFormats } = parameters;
  const formats: [string, string, string][] =
    outputFormats.length === 0 ? [] : [['output_format', codes(outputFormats), "the upstream's"]];
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
