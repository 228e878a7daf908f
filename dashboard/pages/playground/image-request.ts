// Builds a request for images, with the parameters of the model's family.
import type { ImageModelEntry, SizeRule } from '../../../src/management/contract/models.ts';
import { usdText } from '../../parts/money-text.ts';
import type { Json } from '../../api/chat-formats/types.ts';
import { dataUrlOf } from './chat/attachments.ts';

/** Empty fields use the model's default. */
export type ImageChoices = {
  readonly size: string;
  readonly quality: string;
  readonly aspectRatio: string;
  readonly resolution: string;
  readonly outputFormat: string;
  readonly count: number;
};

/** `url` is a data URL. */
export type InputImage = { readonly name: string; readonly url: string };

export const defaultChoices: ImageChoices = {
  size: '',
  quality: '',
  aspectRatio: '',
  resolution: '',
  outputFormat: '',
  count: 1,
};

type ImageInput = {
  readonly prompt: string;
  readonly choices: ImageChoices;
  readonly inputs: readonly InputImage[];
};

export function writeImageBody(
  model: ImageModelEntry,
  { prompt, choices, inputs }: ImageInput,
): Json {
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

const commonSizes = ['1024x1024', '1536x1024', '1024x1536', '1920x1088', '2048x2048', '3840x2160'];

/** Returns the common sizes that the model supports. */
export function supportedSizes({
  multiple_of: step,
  side_min: min,
  side_max: max,
  pixels_max: pixelsMax,
}: SizeRule): string[] {
  return commonSizes.filter((text) => {
    const [width, height] = text.split('x').map(Number) as [number, number];
    const fits = (side: number) => side % step === 0 && side >= min && side <= max;
    return fits(width) && fits(height) && width * height <= pixelsMax;
  });
}

/** Returns `$0.011 to $0.167`; empty when the model has no price. */
export function priceRange({ price }: Pick<ImageModelEntry, 'price'>): string {
  const micros = Object.values(price?.output_micros ?? {});
  if (micros.length === 0) return '';
  const [least, most] = [Math.min(...micros), Math.max(...micros)].map((each) =>
    usdText(Math.ceil(each)),
  );
  return least === most ? least! : `${least} to ${most}`;
}

/** All images must fit into one request body, where base64 makes them a third longer. */
const bytesMax = 8 * 1024 * 1024;

/** Reads the user's files as data URLs. Throws an error with a message for the user. */
export async function readInputImages(files: readonly File[]): Promise<readonly InputImage[]> {
  const large = files.find(({ size }) => size > bytesMax);
  if (large) throw new Error(`${large.name} is larger than 8 MB. Choose a smaller image.`);
  return Promise.all(files.map(async (file) => ({ name: file.name, url: await dataUrlOf(file) })));
}
