// Draws an image for a model that has called a function for it.
import { ApiError } from '../../canonical/errors.ts';
import type { DrawingPart } from '../../canonical/own-tools.ts';
import type { ImageRequest } from '../../domain/images/request-types.ts';
import type { ImageBytes } from '../../lib/image.ts';
import type { StopSignals } from '../calling/call-route.ts';
import type { Caller } from '../request.ts';
import { promptCharactersMax, type Drawer } from '../routing/own-images.ts';
import type { ImageFiles } from './image-files.ts';
import type { MadePrice } from './made-cost.ts';
import { findImageRoutes, makeImages, type ImagesMade, type Maker } from './image-maker.ts';

type ToDraw = {
  readonly drawer: Drawer;
  readonly prompt: string;
  /** The images to change, as addresses and data URLs. None: it draws from text. */
  readonly inputs: readonly string[];
  /** Shows an image while it is drawn. */
  readonly show?: ((base64: string) => void) | undefined;
  readonly caller: Caller;
  readonly signals: StopSignals;
};

type Drawn = Pick<ImagesMade, 'lostPicos' | 'spoiledPicos'> & {
  readonly drawn: DrawingPart['drawn'];
  /** null: nothing came. */
  readonly price: MadePrice | null;
};

/** Never throws because of a provider, or an image to change that cannot be read. */
export async function drawHosted(
  program: Maker & { readonly images: Pick<ImageFiles, 'enter' | 'readInputs'> },
  { drawer, prompt, inputs, show, caller, signals }: ToDraw,
): Promise<Drawn> {
  const { model, factor, ownKey } = drawer;
  // All routes together show no more than was asked for.
  let left = drawer.request.partials ?? 0;
  const showNext = (base64: string) => {
    if (left-- > 0) show?.(base64);
  };
  const text = prompt.slice(0, promptCharactersMax).toWellFormed();
  const request = { ...drawer.request, prompt: text };
  const memory = program.images.enter(caller.key.accountId);
  const reading = { memory, signal: signals.waiting };
  try {
    const texts = inputs.length > 0 && request.mask !== null ? [...inputs, request.mask] : inputs;
    const read = await program.images.readInputs(texts, {
      ...reading,
      max: texts.length,
      field: 'images',
    });
    const images = { inputs: read.slice(0, inputs.length), mask: read[inputs.length] ?? null };
    const routes = findImageRoutes(program.hosts, { model, key: caller.key });
    const drawing = { routes, caller, model, request, ...images, factor, ownKey, signals } as const;
    return result(
      await makeImages(program, { ...drawing, isBeside: true, show: showNext }),
      request,
      inputs.length,
    );
  } catch (error) {
    if (!(error instanceof ApiError) && !signals.waiting.aborted) throw error;
    return { drawn: 'unreadable', price: null, lostPicos: 0n, spoiledPicos: 0n };
  } finally {
    memory.leave();
  }
}

function result(made: ImagesMade, request: ImageRequest, inputs: number): Drawn {
  const { price, lostPicos, spoiledPicos } = made;
  const losses = { lostPicos, spoiledPicos };
  if (made.kind === 'failed') {
    const isRefused = made.failure.status === 400;
    return { drawn: isRefused ? 'refused' : 'unavailable', price: null, ...losses };
  }
  const drawn = describe(made.images[0]!, request, inputs > 0 ? 'edit' : 'generate');
  return { drawn, price, ...losses };
}

function describe(
  { bytes, mediaType }: ImageBytes,
  { size, quality, resolution }: ImageRequest,
  action: 'generate' | 'edit',
): DrawingPart['drawn'] {
  return {
    source: { kind: 'base64', mediaType, data: bytes.toString('base64') },
    size: size && `${size.width}x${size.height}`,
    quality: quality ?? resolution,
    action,
  };
}
