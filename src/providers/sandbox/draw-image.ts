// Draws the sandbox's pictures: real image files of exactly the requested size, with the prompt
// written on them. The input of an edit fills the picture under the text; references are tiles on
// it. The same job gives the same bytes. The image library is loaded with the first picture and has
// its own threads. A limited number of pictures are drawn at once; the others wait and hold only
// their inputs.
import { createHash } from 'node:crypto';
import type { Sharp } from 'sharp';
import type { ImageFormat, ImageMode, PixelSize } from '../../terms/image-model.ts';
import type { ImageBytes } from '../../lib/image.ts';
import { inTurn } from './drawing-slots.ts';
import { refuse } from './failures.ts';
import type { Room } from './text-layer.ts';

export type Drawing = PixelSize & {
  readonly prompt: string;
  readonly mode: ImageMode;
  readonly inputs: readonly ImageBytes[];
  readonly format: ImageFormat;
  /** Distinguishes the pictures of one request; the first is 0. */
  readonly variation: number;
  readonly signal: AbortSignal;
};

/** The limit for an input: some file types are decoded whole, at four bytes a pixel. */
const inputPixelsMax = 50_000_000;

/**
 * Rejects with the signal's reason when it aborts before the drawing starts, and with UpstreamBroken
 * for an input that cannot be decoded.
 */
export function drawImage(drawing: Drawing): Promise<ImageBytes> {
  return inTurn(() => draw(drawing), drawing.signal);
}

async function draw(drawing: Drawing): Promise<ImageBytes> {
  const isEdit = drawing.mode === 'edit';
  const layers = isEdit ? [] : await tileLayers(drawing);
  const base = isEdit ? await inputBase(drawing) : await background(drawing);
  return encode(base.composite([...layers, ...(await textLayers(drawing))]), drawing);
}

async function loadSharp() {
  const { default: sharp } = await import('sharp');
  // One thread a picture, because the slots already limit how many are drawn. No cache, which would
  // keep clients' decoded images in memory.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}

/** Its colour follows from the prompt and the variation. */
async function background({ width, height, prompt, variation }: Drawing): Promise<Sharp> {
  const sharp = await loadSharp();
  const [r, g, b] = createHash('sha256').update(`${variation} ${prompt}`).digest();
  return sharp({ create: { width, height, channels: 3, background: { r, g, b } } });
}

async function inputBase({ width, height, inputs }: Drawing): Promise<Sharp> {
  const sharp = await loadSharp();
  const pixels = await decode(inputs[0]!, 0, { width, height });
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

/** Decodes to RGB of exactly that size, cropped. Transparent areas become white. */
async function decode(
  { bytes, width, height }: ImageBytes,
  index: number,
  size: PixelSize,
): Promise<Buffer> {
  const sharp = await loadSharp();
  if (width * height > inputPixelsMax)
    refuseInput(
      index,
      `is over ${inputPixelsMax / 1e6} million pixels, the most that the sandbox takes`,
    );
  try {
    return await sharp(bytes, { limitInputPixels: inputPixelsMax, failOn: 'error', pages: 1 })
      .autoOrient()
      .resize(size.width, size.height, { fit: 'cover' })
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .removeAlpha()
      .raw()
      .toBuffer();
  } catch (cause) {
    refuseInput(index, 'cannot be decoded: the file is damaged', { cause });
  }
}

function refuseInput(index: number, problem: string, options?: ErrorOptions): never {
  refuse(`\`images[${index}]\` ${problem}. Send another image.`, options);
}

type Layer = {
  readonly input: Buffer;
  readonly raw: { width: number; height: number; channels: 3 | 4 };
  readonly left: number;
  readonly top: number;
};

/** The share of the height for text below inputs. */
const textShare = 0.36;

/** The inputs as tiles in rows above the text. */
async function tileLayers({ width, height, inputs }: Drawing): Promise<Layer[]> {
  if (inputs.length === 0) return [];
  const margin = marginOf({ width, height });
  const room = { width: width - margin, height: Math.floor(height * (1 - textShare)) - margin };
  const { columns, rows } = gridOf(inputs.length, room);
  const tile = {
    width: Math.floor(room.width / columns) - margin,
    height: Math.floor(room.height / rows) - margin,
  };
  if (tile.width < 1 || tile.height < 1) return [];
  const layers: Layer[] = [];
  // One at a time, because each is decoded in memory.
  for (const [index, input] of inputs.entries()) {
    const pixels = await decode(input, index, tile);
    const left = margin + (index % columns) * (tile.width + margin);
    const top = margin + Math.floor(index / columns) * (tile.height + margin);
    layers.push({ input: pixels, raw: { ...tile, channels: 3 }, left, top });
  }
  return layers;
}

/** Returns the grid with about square tiles. */
function gridOf(count: number, room: Room): { readonly columns: number; readonly rows: number } {
  const wide = Math.round(Math.sqrt((count * room.width) / room.height));
  const columns = Math.min(count, Math.max(1, wide));
  return { columns, rows: Math.ceil(count / columns) };
}

/** The prompt, and a label in the corner, so that nobody takes the picture for a real model's. */
async function textLayers({ width, height, prompt, inputs }: Drawing): Promise<Layer[]> {
  const margin = marginOf({ width, height });
  const caption = { width: Math.floor(width / 3), height: Math.floor(height / 16) };
  const below = margin + caption.height;
  const share = inputs.length > 0 ? textShare : 1;
  const room = { width: width - 2 * margin, height: Math.floor(height * share) - margin - below };
  const bottom = height - below;
  const position = (layer: PixelSize) => ({
    left: Math.floor((width - layer.width) / 2),
    top: bottom - Math.floor((room.height + layer.height) / 2),
  });
  const corner = (layer: PixelSize) => ({ left: width - layer.width, top: height - layer.height });
  const layers = [
    await textLayer(prompt, room, position),
    await textLayer(`sandbox ${width}x${height}`, caption, corner),
  ];
  return layers.filter((layer) => layer !== null);
}

async function textLayer(
  text: string,
  room: Room,
  position: (layer: PixelSize) => { left: number; top: number },
): Promise<Layer | null> {
  // Its tables of letters are large.
  const { writeTextLayer } = await import('./text-layer.ts');
  const written = writeTextLayer(text, room);
  if (!written) return null;
  const sharp = await loadSharp();
  const size = { width: written.width * written.scale, height: written.height * written.scale };
  const input = await sharp(written.pixels, {
    raw: { width: written.width, height: written.height, channels: 4 },
  })
    .resize(size.width, size.height, { kernel: 'nearest' })
    .raw()
    .toBuffer();
  return { input, raw: { ...size, channels: 4 }, ...position(size) };
}

function marginOf({ width, height }: PixelSize): number {
  return Math.floor(Math.min(width, height) / 32);
}

async function encode(picture: Sharp, { width, height, format }: Drawing): Promise<ImageBytes> {
  const options = {
    png: { compressionLevel: 6, adaptiveFiltering: true },
    jpeg: { quality: 90 },
    webp: { quality: 90 },
  };
  const bytes = await picture.removeAlpha().toFormat(format, options[format]).toBuffer();
  return { bytes, mediaType: `image/${format}`, width, height };
}
