// A request for pictures, as the model's family takes it. Pure.
import type { ImageModelEntry, SizeRule } from '../../../src/dashboard-contract/models.ts';
import { usdText } from '../../parts/money-text.ts';
import type { Json } from './chat-formats.ts';

/** '': the model's default. */
export type ImageChoices = {
  readonly size: string;
  readonly quality: string;
  readonly aspectRatio: string;
  readonly resolution: string;
  readonly outputFormat: string;
  readonly count: number;
};

/** `url`: a data URL. */
export type InputImage = { readonly name: string; readonly url: string };

export const noChoices: ImageChoices = { size: '', quality: '', aspectRatio: '', resolution: '', outputFormat: '', count: 1 };

type Wish = { readonly prompt: string; readonly choices: ImageChoices; readonly inputs: readonly InputImage[] };

export function writeImageBody(model: ImageModelEntry, { prompt, choices, inputs }: Wish): Json {
  const { size, quality, aspectRatio, resolution, outputFormat, count } = choices;
  const isSized = model.parameters.kind === 'size';
  return {
    model: model.id,
    prompt,
    ...(inputs.length > 0 && { images: inputs.map(({ url }) => url) }),
    ...(isSized && size !== '' && { size }),
    ...(isSized && quality !== '' && { quality }),
    ...(!isSized && aspectRatio !== '' && { aspect_ratio: aspectRatio }),
    ...(!isSized && resolution !== '' && { resolution }),
    ...(outputFormat !== '' && { output_format: outputFormat }),
    ...(count > 1 && { n: count }),
  };
}

const usual = ['1024x1024', '1536x1024', '1024x1536', '1920x1088', '2048x2048', '3840x2160'];

/** Those that the model draws. */
export function usualSizes({ multiple_of: step, side_min: min, side_max: max, pixels_max: pixelsMax }: SizeRule): string[] {
  return usual.filter((text) => {
    const [width, height] = text.split('x').map(Number) as [number, number];
    const fits = (side: number) => side % step === 0 && side >= min && side <= max;
    return fits(width) && fits(height) && width * height <= pixelsMax;
  });
}

/** `$0.011 to $0.167`; '' where it has none. */
export function priceRange({ price }: Pick<ImageModelEntry, 'price'>): string {
  const micros = Object.values(price?.output_micros ?? {});
  if (micros.length === 0) return '';
  const [least, most] = [Math.min(...micros), Math.max(...micros)].map((each) => usdText(Math.ceil(each)));
  return least === most ? least! : `${least} to ${most}`;
}
