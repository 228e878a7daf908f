// Tokens of an image in a prompt, by the model vendor's formula. The image's size is read from the
// first bytes of its base64; no pixels are decoded.
import { imageTypeOf, readImage } from './image.ts';

/** `upper`: hardly ever exceeded, with any tokenizer; holds use it. `likely`: our own count. */
export type TokenEstimate = { readonly upper: number; readonly likely: number };

/** The vendor whose formula applies. `sandbox`: a fixed number. `unknown`: the highest of all. */
export type ImageVendor = 'anthropic' | 'openai' | 'google' | 'sandbox' | 'unknown';

/** Pixels. */
type Size = { readonly width: number; readonly height: number };

/** The sandbox's price of an image, and our count for an image of unknown size. */
export const plainImageTokens = 1_600;

/**
 * Anthropic: a token is 28 × 28 pixels, capped per image.
 * https://platform.claude.com/docs/en/build-with-claude/vision
 */
const anthropicPixels = 28;
const anthropicTokensMax = 4_800;
/**
 * OpenAI: a patch is 32 × 32 pixels. https://platform.openai.com/docs/guides/images-vision (model
 * sizing behavior), 2026-11
 */
const openaiPixels = 32;
const openaiTokensPerPatch = 1.2;
/**
 * Larger images are scaled down first: to this with `detail: original`, and into 512 × 512 pixels
 * with `low`.
 */
const openaiPatchesMax = 10_000;
const openaiLowPatchesMax = 256;
/**
 * Google: about 1 100 tokens for an image of any size, and twice as many on demand.
 * https://ai.google.dev/gemini-api/docs/media-resolution, 2026-11
 */
const googleTokens: TokenEstimate = { upper: 1_120, likely: 1_100 };
const googleUltraTokens: TokenEstimate = { upper: 2_240, likely: 2_200 };

/**
 * `size` is null when unknown, for example for an image by URL. `detail` is OpenAI's field, or the
 * level of Gemini's `mediaResolution`.
 */
export function estimateImageTokens(
  size: Size | null,
  vendor: ImageVendor,
  detail?: unknown,
): TokenEstimate {
  switch (vendor) {
    case 'anthropic':
      return exactly(
        size && Math.min(patches(size, anthropicPixels), anthropicTokensMax),
        anthropicTokensMax,
      );
    case 'openai': {
      const patchesMax = detail === 'low' ? openaiLowPatchesMax : openaiPatchesMax;
      const tokens = (count: number) =>
        Math.ceil(Math.min(count, patchesMax) * openaiTokensPerPatch);
      return exactly(size && tokens(patches(size, openaiPixels)), tokens(patchesMax));
    }
    case 'google':
      return /ultra_?high$/i.test(String(detail)) ? googleUltraTokens : googleTokens;
    case 'sandbox':
      return { upper: plainImageTokens, likely: plainImageTokens };
    case 'unknown': {
      const all = (['anthropic', 'openai', 'google'] as const).map(
        (known) => estimateImageTokens(size, known, detail).upper,
      );
      return exactly(null, Math.max(...all));
    }
  }
}

function exactly(tokens: number | null, tokensMax: number): TokenEstimate {
  return tokens === null
    ? { upper: tokensMax, likely: Math.min(plainImageTokens, tokensMax) }
    : { upper: tokens, likely: tokens };
}

function patches({ width, height }: Size, side: number): number {
  return Math.ceil(width / side) * Math.ceil(height / side);
}

/**
 * Base64 characters that contain the size of a PNG, WebP or GIF. A JPEG may have a preview and a
 * colour profile before it.
 */
const headCharacters = 88;
const jpegHeadCharacters = 128 * 1024;
const dataUrlHeadCharacters = 200;

/**
 * Returns the size of a base64 image, plain or in a data URL; null when the first bytes do not hold
 * a valid size.
 */
export function readImageSize(text: string): Size | null {
  const start = text.startsWith('data:')
    ? text.slice(0, dataUrlHeadCharacters).indexOf(',') + 1
    : 0;
  const decode = (characters: number) =>
    Buffer.from(text.slice(start, start + characters), 'base64');
  const head = decode(headCharacters);
  const type = imageTypeOf(head);
  if (type === null) return null;
  const read = readImage(type === 'image/jpeg' ? decode(jpegHeadCharacters) : head);
  return read.kind === 'image' ? read.image : null;
}
