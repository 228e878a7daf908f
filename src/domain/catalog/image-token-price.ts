// Prices images by the provider's token count: prompt, input images, output images. The count is
// untrusted, so each part has a maximum, and the hold covers the maximum.
import type { ImageModel, ImageTokenPrices, ImageUsage } from '../../terms/image-model.ts';
import type { Picos } from '../../lib/money.ts';
import { freePrice } from '../../terms/price-terms.ts';
import { unitPrice, type ImageUnitPrice, type PricedImage } from './image-price.ts';
import { scaleByFactor, type PriceFactor } from './price.ts';

/** Prompt tokens: the upper bound and the likely number. */
export type PromptTokens = { readonly upper: number; readonly likely: number };

/** The amount to hold: per image, plus `request` once. */
type MaximumPrice = ImageUnitPrice & { readonly request: ImageUnitPrice };

/**
 * An input image has at most 6 240 tokens of detail, 65, and 129 for each of up to six tiles, as
 * OpenAI documents for its first such model; later ones are not documented.
 * https://platform.openai.com/docs/guides/images-vision, from memory, 2026-11-23.
 */
const inputImageTokensMax = 6_240 + 65 + 6 * 129;

/**
 * The price table is for one size; other sizes cost somewhat more or less. No image is charged more
 * than this many times its table price.
 */
const tableFactorMax = 2n;

/**
 * A count worth more than this many times the charge is not plausible; the loss is capped there.
 */
const lossFactorMax = 10n;

/**
 * Output tokens of an image that is shown while another is drawn.
 * https://platform.openai.com/docs/guides/image-generation, from memory, 2026-11-30.
 */
const partialTokens = 100;

/** Tokens that the provider may add around a prompt. */
const promptOverhead = 100;

/**
 * Returns the highest possible price of a request; null when the model has no price and must not
 * run.
 */
export function maximumPrice(
  model: Pick<ImageModel, 'price'>,
  image: PricedImage,
  { prompt, factor }: { readonly prompt: PromptTokens; readonly factor: PriceFactor },
): MaximumPrice | null {
  const table = unitPrice(model, image, factor);
  const { price } = model;
  if (table === null || price === null) return null;
  const { tokens } = price;
  if (tokens === null) return { ...table, request: freePrice };
  const requestPicos =
    picosOf(prompt.upper + promptOverhead, tokens.text) +
    picosOf(image.inputs.length * inputImageTokensMax, tokens.image) +
    picosOf((image.partials ?? 0) * partialTokens, tokens.output);
  const scaled = (upstreamPicos: Picos) => ({
    listPicos: scaleByFactor(upstreamPicos, factor, price),
    upstreamPicos,
  });
  return { ...scaled(tableFactorMax * table.upstreamPicos), request: scaled(requestPicos) };
}

type CountedImages = {
  readonly usage: ImageUsage;
  readonly prompt: PromptTokens;
  /** The number of images requested, and how many were delivered. */
  readonly asked: number;
  readonly delivered: number;
};

/**
 * `beyondPicos`: the provider's count above the maximum, which it will bill: the operator's loss.
 */
export type CountedPrice = ImageUnitPrice & { readonly beyondPicos: Picos };

/**
 * Returns the price of all images of a call by the provider's count. Input and output are priced
 * separately: for a part without a count, the price table applies. Returns null when the model is
 * not priced by tokens.
 */
export function countedPrice(
  model: Pick<ImageModel, 'price'>,
  image: PricedImage,
  { usage, prompt, asked, delivered, factor }: CountedImages & { readonly factor: PriceFactor },
): CountedPrice | null {
  const { price } = model;
  const whole = unitPrice(model, image, factor);
  const drawn = unitPrice(model, { ...image, inputs: [] }, factor);
  if (!price?.tokens || whole === null || drawn === null) return null;
  const { tokens } = price;
  const inputs = splitInput(usage, { prompt, inputs: image.inputs.length });
  const inputPicos =
    usage.inputTokens === 0
      ? (whole.upstreamPicos - drawn.upstreamPicos) * BigInt(delivered)
      : picosOfInput(inputs, tokens);
  const outputMax =
    tableFactorMax * drawn.upstreamPicos * BigInt(asked) +
    picosOf((image.partials ?? 0) * partialTokens, tokens.output);
  const reportedOutput = picosOf(usage.outputTokens, tokens.output);
  const outputPicos =
    usage.outputTokens === 0
      ? drawn.upstreamPicos * BigInt(delivered)
      : smaller(reportedOutput, outputMax);
  const upstreamPicos = inputPicos + outputPicos;
  const beyondOutput = reportedOutput > outputMax ? reportedOutput - outputMax : 0n;
  const beyondInput =
    picosOf(inputs.beyondText, tokens.text) + picosOf(inputs.beyondImage, tokens.image);
  return {
    listPicos: scaleByFactor(upstreamPicos, factor, price),
    upstreamPicos,
    beyondPicos: smaller(beyondInput + beyondOutput, lossFactorMax * upstreamPicos),
  };
}

type Split = {
  readonly text: number;
  readonly cachedText: number;
  readonly image: number;
  readonly cachedImage: number;
};

/** Splits the input tokens into disjoint buckets, each capped at its maximum. */
function splitInput(
  { inputTokens, imageTokens, cachedTextTokens, cachedImageTokens }: ImageUsage,
  { prompt, inputs }: { readonly prompt: PromptTokens; readonly inputs: number },
): Split & { readonly beyondText: number; readonly beyondImage: number } {
  const unassigned = inputs > 0 ? Math.max(inputTokens - prompt.likely, 0) : 0;
  const imageCount = Math.min(imageTokens ?? unassigned, inputTokens);
  const textCount = inputTokens - imageCount;
  const imageCapped = Math.min(imageCount, inputs * inputImageTokensMax);
  const textCapped = Math.min(textCount, prompt.upper + promptOverhead);
  const cachedText = Math.min(cachedTextTokens, textCapped);
  const cachedImage = Math.min(cachedImageTokens, imageCapped);
  const beyond = { beyondText: textCount - textCapped, beyondImage: imageCount - imageCapped };
  return {
    text: textCapped - cachedText,
    cachedText,
    image: imageCapped - cachedImage,
    cachedImage,
    ...beyond,
  };
}

function picosOfInput(
  { text, cachedText, image, cachedImage }: Split,
  prices: ImageTokenPrices,
): Picos {
  return (
    picosOf(text, prices.text) +
    picosOf(cachedText, prices.cachedText) +
    picosOf(image, prices.image) +
    picosOf(cachedImage, prices.cachedImage)
  );
}

function picosOf(tokens: number, price: number): Picos {
  return BigInt(tokens) * BigInt(price);
}

function smaller(one: Picos, other: Picos): Picos {
  return one < other ? one : other;
}
