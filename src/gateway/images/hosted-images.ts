// Draws an image for a model that has called a function for it.
import type { DrawingPart } from '../../canonical/own-tools.ts';
import type { ImageUnitPrice } from '../../domain/catalog/image-price.ts';
import type { ImageRequest } from '../../domain/images/request-types.ts';
import type { ImageBytes } from '../../lib/image.ts';
import type { StopSignals } from '../calling/call-route.ts';
import type { Caller } from '../request.ts';
import { promptCharactersMax, type AskedImages } from '../routing/own-images.ts';
import { findImageRoutes, makeImages, type ImagesMade, type Maker } from './image-maker.ts';

type ToDraw = {
  readonly images: AskedImages;
  readonly prompt: string;
  readonly caller: Caller;
  readonly signals: StopSignals;
};

type Drawn = Pick<ImagesMade, 'lostPicos' | 'spoiledPicos'> & {
  readonly drawn: DrawingPart['drawn'];
  /** null: nothing came. */
  readonly price: ImageUnitPrice | null;
};

/** Never throws because of a provider. */
export async function drawHosted(
  program: Maker,
  { images, prompt, caller, signals }: ToDraw,
): Promise<Drawn> {
  const { model, factor } = images;
  const text = prompt.slice(0, promptCharactersMax).toWellFormed();
  const request = { ...images.request, prompt: text };
  const routes = findImageRoutes(program.hosts, { model, mode: caller.key.mode });
  const drawing = { routes, caller, model, request, inputs: [], factor, signals } as const;
  const made = await makeImages(program, { ...drawing, isBeside: true });
  const { table, counted, lostPicos, spoiledPicos } = made;
  const losses = { lostPicos, spoiledPicos };
  if (made.kind === 'failed') {
    const isRefused = made.failure.status === 400;
    return { drawn: isRefused ? 'refused' : 'unavailable', price: null, ...losses };
  }
  return { drawn: describe(made.images[0]!, request), price: counted ?? table, ...losses };
}

function describe(
  { bytes, mediaType }: ImageBytes,
  { size, quality, resolution }: ImageRequest,
): DrawingPart['drawn'] {
  return {
    source: { kind: 'base64', mediaType, data: bytes.toString('base64') },
    size: size && `${size.width}x${size.height}`,
    quality: quality ?? resolution,
  };
}
