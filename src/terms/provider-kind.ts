// Every kind of provider and what it offers. The configuration and the catalogue check routes
// against it, and providers/registry.ts must implement each kind that offers something.
import type { UpstreamFormatName } from './format-name.ts';

type Offer = {
  /**
   * The wire formats of its chat models, best first; a cloud speaks a part of them with each model.
   * Empty: it runs no chat models.
   */
  readonly formats: readonly UpstreamFormatName[];
  /**
   * The parameters of its images: `size` is pixels and quality, `shape` is aspect ratio and
   * resolution. null: it makes no images.
   */
  readonly images: 'size' | 'shape' | null;
  /** True when it searches the web. Searches go to these kinds in the order of this list. */
  readonly searches: boolean;
};

const searchOnly = { formats: [], images: null, searches: true } as const satisfies Offer;

const providerOffers = {
  openai: { formats: ['responses', 'chat'], images: 'size', searches: false },
  'openai-compatible': { formats: ['chat'], images: 'size', searches: false },
  anthropic: { formats: ['messages'], images: null, searches: false },
  google: { formats: ['gemini'], images: 'shape', searches: false },
  azure: { formats: ['responses', 'chat', 'messages'], images: 'size', searches: false },
  bedrock: { formats: ['converse', 'messages'], images: null, searches: false },
  cohere: { formats: ['chat'], images: null, searches: false },
  vertex: { formats: ['gemini', 'messages', 'chat'], images: null, searches: false },
  brave: searchOnly,
  tavily: searchOnly,
  serper: searchOnly,
  exa: searchOnly,
  searxng: searchOnly,
  bfl: { formats: [], images: 'size', searches: false },
} as const satisfies Readonly<Record<string, Offer>>;

type Offers = typeof providerOffers;
export type ProviderKindName = keyof Offers;

type Offering<Part> = {
  [Name in ProviderKindName]: Offers[Name] extends Part ? Name : never;
}[ProviderKindName];
export type ChatKindName = Exclude<ProviderKindName, Offering<{ readonly formats: readonly [] }>>;
export type ImageKindName = Exclude<ProviderKindName, Offering<{ readonly images: null }>>;
export type SearchKindName = Offering<{ readonly searches: true }>;

/** Instead of a key, this word means the machine's own credential, which clouds give it. */
export const machineKey = 'ambient';

export const providerKindNames = Object.keys(providerOffers) as readonly ProviderKindName[];
export const searchKindNames = providerKindNames.filter(isSearchKind);

export function isChatKind(kind: ProviderKindName): kind is ChatKindName {
  return formatsOfKind(kind).length > 0;
}

export function isImageKind(kind: ProviderKindName): kind is ImageKindName {
  return imageParametersOfKind(kind) !== null;
}

export function isSearchKind(kind: ProviderKindName): kind is SearchKindName {
  return providerOffers[kind].searches;
}

export function formatsOfKind(kind: ProviderKindName): readonly UpstreamFormatName[] {
  return providerOffers[kind].formats;
}

export function imageParametersOfKind(kind: ProviderKindName): Offer['images'] {
  return providerOffers[kind].images;
}
