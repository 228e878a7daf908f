// What images that were made cost: by the provider's own count, or else by the price table.
import {
  unitPrice,
  type ImageUnitPrice,
  type PricedImage,
} from '../../domain/catalog/image-price.ts';
import { countedPrice, type CountedPrice } from '../../domain/catalog/image-token-price.ts';
import {
  ownKeyMark,
  scaleByFactor,
  type OwnKeyTerms,
  type PriceFactor,
} from '../../domain/catalog/price.ts';
import type { ImageRequest } from '../../domain/images/request-types.ts';
import type { ImageBytes } from '../../lib/image.ts';
import type { Logger } from '../../lib/log.ts';
import type { Picos } from '../../lib/money.ts';
import { freePrice } from '../../terms/price-terms.ts';
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
  readonly ownKey: OwnKeyTerms;
};

/** The result of all calls for a request's images. */
type Made = {
  readonly provider: string;
  /** With the account's own key, so the operator pays nothing. */
  readonly isOwnKey: boolean;
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
  readonly price: MadePrice;
  /** What the provider may bill for images that never arrived or cannot be read. */
  readonly lostPicos: Picos;
  /** The same, for those that the account could spoil. */
  readonly spoiledPicos: Picos;
};

/** By the provider's count of all images; without one, the table's price of each. */
export type MadePrice = ImageUnitPrice & {
  readonly request?: ImageUnitPrice;
  readonly version?: string;
};

export function costOfMade(making: Making, made: Made, log: Pick<Logger, 'warn'>): MadeCost {
  const { lost, spoiled, unread, isOwnKey } = made;
  const { model, factor, ownKey } = making;
  const table = unitPrice(model, pricedImage(making), factor)!;
  const lossOf = (images: number) => table.upstreamPicos * BigInt(images);
  const counted = countedBy(making, made, log);
  // The provider's count includes what came and cannot be read.
  const unreadPicos = counted ? counted.beyondPicos : lossOf(unread);
  const price = counted ? { ...freePrice, request: counted } : table;
  return {
    price: isOwnKey ? withOwnKey(price, ownKey) : price,
    lostPicos: lossOf(lost - spoiled) + (isOwnKey ? 0n : unreadPicos),
    spoiledPicos: lossOf(spoiled),
  };
}

/** The account pays the provider, and us a part of the price and a fee. */
function withOwnKey(price: MadePrice, { pricePpm, feePicos }: OwnKeyTerms): MadePrice {
  const share = { markup: 1, multiplierPpm: pricePpm };
  const partOf = (picos = 0n) => scaleByFactor(picos, share, { isListPrice: true });
  const upstreamPicos = 0n;
  return {
    listPicos: partOf(price.listPicos),
    upstreamPicos,
    request: { listPicos: partOf(price.request?.listPicos) + feePicos, upstreamPicos },
    version: `0${ownKeyMark}`,
  };
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
