// What images that were made cost: by the provider's own count, or else by the price table.
import {
  unitPrice,
  type ImageUnitPrice,
  type PricedImage,
} from '../../domain/catalog/image-price.ts';
import { countedPrice, type CountedPrice } from '../../domain/catalog/image-token-price.ts';
import type { PriceFactor } from '../../domain/catalog/price.ts';
import type { ImageRequest } from '../../domain/images/request-types.ts';
import type { Logger } from '../../lib/log.ts';
import type { Picos } from '../../lib/money.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import type { ImageModel } from '../../terms/image-model.ts';
import type { ImagesMade } from './image-maker.ts';

type Making = {
  readonly log: Pick<Logger, 'warn'>;
  readonly requestId: string;
  readonly model: ImageModel;
  readonly request: ImageRequest;
  readonly factor: PriceFactor;
};

type MadeCost = {
  /** The price of one image by the table. */
  readonly table: ImageUnitPrice;
  /** The price of all by the provider's count; null: it counts none, or the model has no such price. */
  readonly counted: CountedPrice | null;
  /** What the provider may bill for images that never arrived or cannot be read. */
  readonly lostPicos: Picos;
  /** The same, for those that the account could spoil. */
  readonly spoiledPicos: Picos;
};

/** The model must have a price. */
export function costOfMade(making: Making, image: PricedImage, made: ImagesMade): MadeCost {
  const table = unitPrice(making.model, image, making.factor)!;
  const lossOf = (images: number) => table.upstreamPicos * BigInt(images);
  const spoiledPicos = lossOf(made.spoiled);
  const lost = made.lost - made.spoiled;
  if (made.kind === 'failed')
    return { table, counted: null, lostPicos: lossOf(lost), spoiledPicos };
  const counted = countedBy(making, image, made);
  // The provider's count includes what came and cannot be read.
  const lostPicos = lossOf(lost + (counted ? 0 : made.unread)) + (counted?.beyondPicos ?? 0n);
  return { table, counted, lostPicos, spoiledPicos };
}

function countedBy(
  { log, requestId, model, request, factor }: Making,
  image: PricedImage,
  { usage, images, provider }: Extract<ImagesMade, { kind: 'made' }>,
): CountedPrice | null {
  const counted =
    usage &&
    countedPrice(model, image, {
      usage,
      prompt: estimateInputTokens(request.prompt),
      asked: request.count,
      delivered: images.length,
      factor,
    });
  if (counted && counted.beyondPicos > 0n)
    log.warn(
      { request_id: requestId, provider, usage },
      'the provider reported more tokens than these images can have: the excess is a loss',
    );
  return counted;
}
