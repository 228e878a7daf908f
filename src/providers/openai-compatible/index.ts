// Any host that speaks Chat Completions: DeepSeek, xAI, Mistral, Groq, OpenRouter, vLLM, Ollama and
// many more.
import { readAccountFailure } from '../account-failure.ts';
import type { HttpProviderKind } from '../provider.ts';

export const openaiCompatible: HttpProviderKind = {
  kind: 'openai-compatible',
  path: () => '/chat/completions',
  // Self-hosted servers often need no key.
  headers: (apiKey): Record<string, string> =>
    apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
  readFailure: readAccountFailure,
};
