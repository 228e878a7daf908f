// The provider kinds by name. A new one is a folder and a line here.
import { anthropic } from './anthropic/index.ts';
import { bflImages } from './bfl/images.ts';
import { brave } from './brave/index.ts';
import { exa } from './exa/index.ts';
import { googleImages } from './google/images.ts';
import { google } from './google/index.ts';
import { openaiCompatible } from './openai-compatible/index.ts';
import { compatibleImages, openaiImages } from './openai/images.ts';
import { openai } from './openai/index.ts';
import type { ImageProviderKind } from './image-provider.ts';
import type { HttpProviderKind } from './provider.ts';
import type { SearchProviderKind } from './search-provider.ts';
import { searxng } from './searxng/index.ts';
import { serper } from './serper/index.ts';
import { tavily } from './tavily/index.ts';

export { playCount, playExchange, sandboxImages, searchSandbox } from './sandbox/index.ts';

export const providerKinds = {
  openai,
  'openai-compatible': openaiCompatible,
  anthropic,
  google,
} as const satisfies Record<string, HttpProviderKind>;

/** Web search providers, in the default order of calls. */
export const searchProviderKinds = {
  brave,
  tavily,
  serper,
  exa,
  searxng,
} as const satisfies Record<string, SearchProviderKind>;

/** Image providers, by the same names. */
export const imageProviderKinds = {
  openai: openaiImages,
  'openai-compatible': compatibleImages,
  google: googleImages,
  bfl: bflImages,
} as const satisfies Record<string, ImageProviderKind>;
