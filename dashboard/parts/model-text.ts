// Display names and prices of models.
import type {
  ImageModelEntry,
  ImagePrices,
  OtherModel,
} from '../../src/management/contract/models.ts';
import { usdText } from './money-text.ts';

export const imageModeNames: Readonly<Record<ImageModelEntry['mode'], string>> = {
  'text-to-image': 'Text to image',
  edit: 'Edit one image',
  reference: 'From reference images',
};

export const otherTypeNames: Readonly<Record<OtherModel['type'], string>> = {
  embedding: 'Embeddings',
  moderation: 'Moderation',
  rerank: 'Reranking',
  speech: 'Speech',
  transcription: 'Transcription',
};

type Lasting = Pick<OtherModel, 'retires_at'>;

/** Sorts models whose end is announced last. */
export function lastingFirst(one: Lasting, other: Lasting): number {
  return Number(one.retires_at !== null) - Number(other.retires_at !== null);
}

const voices: Readonly<Record<string, string>> = {
  deepgram: 'asteria-en',
  google: 'Kore',
  mistral: 'en_paul_neutral',
};

/** A voice of the vendor; others have OpenAI's, or say which they have. */
export function voiceOf(vendor: string): string {
  return voices[vendor] ?? 'alloy';
}

/** `$15.00 / M characters`, or `$0.002 / search unit`. */
export function unitPriceText(type: string, unitMicros: number): string {
  if (type === 'transcription') return `${usdText(Math.ceil(unitMicros * 60))} / minute`;
  return type === 'speech'
    ? `${usdText(Math.ceil(unitMicros * 1_000_000))} / M characters`
    : `${usdText(Math.ceil(unitMicros))} / search unit`;
}

/** `low`, `1K` */
export function tierName(tier: string): string {
  return /^\d+k$/.test(tier) ? tier.toUpperCase() : tier;
}

/** Returns what a listed price pays for: later megapixels may have a price of their own. */
export function imagePriceUnit({
  per_megapixel: perMegapixel,
  output_micros: first,
  further_megapixel_micros: further,
}: ImagePrices): string {
  if (!perMegapixel) return 'per image';
  const isOnePrice = Object.entries(first).every(
    ([tier, micros]) => further[tier as keyof typeof further] === micros,
  );
  return isOnePrice ? 'per megapixel' : 'for the first megapixel';
}

/** Rounds fractions of a microdollar up, for display only. */
export function imageUsd(micros: number): string {
  return usdText(Math.ceil(micros));
}

/** Returns `Anthropic` for `anthropic`; unknown vendors stay as they are. */
export function vendorName(vendor: string): string {
  return vendorNames[vendor] ?? vendor;
}

const vendorNames: Readonly<Record<string, string>> = {
  alibaba: 'Alibaba',
  amazon: 'Amazon',
  anthropic: 'Anthropic',
  'black-forest-labs': 'Black Forest Labs',
  cohere: 'Cohere',
  deepgram: 'Deepgram',
  deepseek: 'DeepSeek',
  elevenlabs: 'ElevenLabs',
  google: 'Google',
  meta: 'Meta',
  inception: 'Inception',
  minimax: 'MiniMax',
  mistral: 'Mistral',
  moonshotai: 'Moonshot AI',
  openai: 'OpenAI',
  perplexity: 'Perplexity',
  voyage: 'Voyage AI',
  xai: 'xAI',
  xiaomi: 'Xiaomi',
  zai: 'Z.ai',
};
