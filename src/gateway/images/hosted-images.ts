// Draws an image for a model that has called a function for it.
import type { DrawingPart } from '../../canonical/own-tools.ts';
import type { ImageUnitPrice } from '../../domain/catalog/image-price.ts';
import type { ImageRequest } from '../../domain/images/request-types.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ImageBytes } from '../../lib/image.ts';
import type { Logger } from '../../lib/log.ts';
import type { Picos } from '../../lib/money.ts';
import type { StopSignals } from '../calling/call-route.ts';
import type { Caller } from '../request.ts';
import { promptCharactersMax, type AskedImages } from '../routing/own-images.ts';
import type { Hosts } from '../routing/routing.ts';
import { findImageRoutes, makeImages } from './image-maker.ts';
import { costOfMade } from './made-cost.ts';

type Program = {
  readonly hosts: Hosts;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
};

type ToDraw = {
  readonly images: AskedImages;
  readonly prompt: string;
  readonly caller: Caller;
  readonly signals: StopSignals;
};

type Drawn = {
  readonly drawn: DrawingPart['drawn'];
  /** null: nothing came. */
  readonly price: ImageUnitPrice | null;
  /** What the operator loses, by no fault of the account and by its fault. */
  readonly lostPicos: Picos;
  readonly spoiledPicos: Picos;
};

/** Never throws because of a provider. */
export async function drawHosted(
  program: Program,
  { images, prompt, caller, signals }: ToDraw,
): Promise<Drawn> {
  const { model, factor } = images;
  const { key, record, requestId } = caller;
  const text = prompt.slice(0, promptCharactersMax).toWellFormed();
  const request = { ...images.request, prompt: text };
  const routes = findImageRoutes(program.hosts, { model, mode: key.mode });
  const toMake = { routes, mode: model.mode, request, inputs: [], record, signals };
  const made = await makeImages(program, { ...toMake, isBeside: true });
  const making = { log: program.log, requestId, model, request, factor };
  const cost = costOfMade(making, { ...request, inputs: [] }, made);
  const { table, counted, ...losses } = cost;
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
