// What images that were made cost: by the provider's own count, or else by the price table.
import {
  unitPrice,
  type ImageUnitPrice,
  type PricedImage,
} from '../../domain/catalog/image-price.ts';
import { countedPrice, type CountedPrice } from '../../domain/catalog/image-token-price.ts';
import type { PriceFactor } from '../../domain/catalog/price.ts';
import type { ImageRequest } from '../../domain/images/request-types.ts';
import type { ImageBytes } from '../../lib/image.ts';
import type { Logger } from '../../lib/log.ts';
import type { Picos } from '../../lib/money.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import type { ImageModel, ImageUsage } from '../../terms/image-model.ts';
import type { Caller } from '../request.ts';

/** The request for images. Its model must have a price. */
export type Making = {
  readonly caller: Caller;
  readonly model: ImageModel;
  readonly request: ImageRequest;
  readonly inputs: readonly ImageBytes[];
  /** It is priced as one more input. */
  readonly mask: ImageBytes | null;
  readonly factor: PriceFactor;
};

/** The result of all calls for a request's images. */
type Made = {
  readonly provider: string;
  /** Images that may have been made and never arrived. */
  readonly lost: number;
  /** The part of `lost` that the account may have caused. */
  readonly spoiled: number;
  readonly images: readonly ImageBytes[];
  /** How many came with them that are no images. */
  readonly unread: number;
  /** The provider's count for all of them; null: none. */
  readonly usage: ImageUsage | null;
};

export type MadeCost = {
  /** The price of one image by the table. */
  readonly table: ImageUnitPrice;
  /** The price of all by the provider's count; null: it counts none, or the model has no such price. */
  readonly counted: CountedPrice | null;
  /** What the provider may bill for images that never arrived or cannot be read. */
  readonly lostPicos: Picos;
  /** The same, for those that the account could spoil. */
  readonly spoiledPicos: Picos;
};

export function costOfMade(making: Making, made: Made, log: Pick<Logger, 'warn'>): MadeCost {
  const { lost, spoiled, unread } = made;
  const { model, factor } = making;
  const table = unitPrice(model, pricedImage(making), factor)!;
  const lossOf = (images: number) => table.upstreamPicos * BigInt(images);
  const counted = countedBy(making, made, log);
  // The provider's count includes what came and cannot be read.
  const lostPicos = lossOf(lost - spoiled + (counted ? 0 : unread)) + (counted?.beyondPicos ?? 0n);
  return { table, counted, lostPicos, spoiledPicos: lossOf(spoiled) };
}

function countedBy(
  making: Making,
  { usage, images, provider }: Made,
  log: Pick<Logger, 'warn'>,
): CountedPrice | null {
  const { caller, model, request, factor } = making;
  const counted =
    usage &&
    countedPrice(model, pricedImage(making), {
      usage,
      prompt: estimateInputTokens(request.prompt),
      asked: request.count,
      delivered: images.length,
      factor,
    });
  if (counted && counted.beyondPicos > 0n)
    log.warn(
      { request_id: caller.requestId, provider, usage },
      'the provider reported more tokens than these images can have: the excess is a loss',
    );
  return counted;
}

function pricedImage({ request, inputs, mask }: Making): PricedImage {
  return { ...request, inputs: mask ? [...inputs, mask] : inputs };
}
