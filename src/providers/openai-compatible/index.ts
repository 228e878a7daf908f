// Any host that speaks Chat Completions: DeepSeek, xAI, Mistral, Groq, OpenRouter, vLLM, Ollama and
// many more.
import { bearer } from '../../lib/key-headers.ts';
import { readAccountFailure } from '../account-failure.ts';
import type { HttpProviderKind } from '../provider.ts';

export const openaiCompatible: HttpProviderKind = {
  kind: 'openai-compatible',
  path: () => '/chat/completions',
  // Self-hosted servers often need no key.
  headers: bearer,
  readFailure: readAccountFailure,
};
