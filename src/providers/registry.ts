// The provider kinds by name: a new one is a folder and a line here.
import { anthropic } from './anthropic/index.ts';
import { google } from './google/index.ts';
import { openaiCompatible } from './openai-compatible/index.ts';
import { openai } from './openai/index.ts';
import type { HttpProviderKind } from './provider.ts';

export { sandbox } from './sandbox/index.ts';

export const providerKinds = {
  openai,
  'openai-compatible': openaiCompatible,
  anthropic,
  google,
} as const satisfies Record<string, HttpProviderKind>;
