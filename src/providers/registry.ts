// The code of each kind of provider. terms/provider-kind.ts lists the kinds and what they offer;
// the compiler names a kind that is missing here.
import type { ChatKindName, ImageKindName, SearchKindName } from '../terms/provider-kind.ts';
import { anthropic } from './anthropic/index.ts';
import { azure } from './azure/index.ts';
import { bedrock } from './bedrock/index.ts';
import { bflImages } from './bfl/images.ts';
import { brave } from './brave/index.ts';
import { cohere } from './cohere/index.ts';
import { exa } from './exa/index.ts';
import { googleImages } from './google/images.ts';
import { google } from './google/index.ts';
import { openaiCompatible } from './openai-compatible/index.ts';
import { azureImages, compatibleImages, openaiImages } from './openai/images.ts';
import { openai } from './openai/index.ts';
import type { ImageProviderKind } from './image-provider.ts';
import type { HttpProviderKind } from './provider.ts';
import type { SearchProviderKind } from './search-provider.ts';
import { searxng } from './searxng/index.ts';
import { serper } from './serper/index.ts';
import { tavily } from './tavily/index.ts';
import { vertex } from './vertex/index.ts';

export const chatProviderKinds: Readonly<Record<ChatKindName, HttpProviderKind>> = {
  openai,
  'openai-compatible': openaiCompatible,
  anthropic,
  google,
  azure,
  bedrock,
  cohere,
  vertex,
};

export const searchProviderKinds: Readonly<Record<SearchKindName, SearchProviderKind>> = {
  brave,
  tavily,
  serper,
  exa,
  searxng,
};

export const imageProviderKinds: Readonly<Record<ImageKindName, ImageProviderKind>> = {
  openai: openaiImages,
  'openai-compatible': compatibleImages,
  google: googleImages,
  azure: azureImages,
  bfl: bflImages,
};
