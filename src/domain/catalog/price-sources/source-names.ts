// Names of our providers in other price lists. A provider that is missing here, or null, is not in
// that list.

type ListNames = {
  /**
   * LiteLLM: `litellm_provider` of the entries, and the prefix of model ids in their keys. `other`: of
   * entries that are no chat models.
   */
  readonly litellm: {
    readonly provider: string;
    readonly other?: string;
    readonly prefix: string;
  } | null;
  /** genai-prices: the provider's `id`. */
  readonly genaiPrices: string | null;
};

const sourceNames: Readonly<Record<string, ListNames>> = {
  openai: { litellm: { provider: 'openai', prefix: '' }, genaiPrices: 'openai' },
  anthropic: { litellm: { provider: 'anthropic', prefix: '' }, genaiPrices: 'anthropic' },
  google: { litellm: prefixed('gemini'), genaiPrices: 'google' },
  xai: { litellm: prefixed('xai'), genaiPrices: 'x-ai' },
  deepseek: { litellm: prefixed('deepseek'), genaiPrices: 'deepseek' },
  mistral: { litellm: prefixed('mistral'), genaiPrices: 'mistral' },
  groq: { litellm: prefixed('groq'), genaiPrices: 'groq' },
  moonshotai: { litellm: prefixed('moonshot'), genaiPrices: 'moonshotai' },
  zai: { litellm: prefixed('zai'), genaiPrices: 'zai' },
  minimax: { litellm: prefixed('minimax'), genaiPrices: 'minimax' },
  alibaba: { litellm: prefixed('dashscope'), genaiPrices: null },
  cohere: {
    litellm: { provider: 'cohere_chat', other: 'cohere', prefix: '' },
    genaiPrices: 'cohere',
  },
  voyage: { litellm: prefixed('voyage'), genaiPrices: 'voyageai' },
  elevenlabs: { litellm: prefixed('elevenlabs'), genaiPrices: 'elevenlabs' },
  deepgram: { litellm: prefixed('deepgram'), genaiPrices: null },
  xiaomi: { litellm: prefixed('xiaomi_mimo'), genaiPrices: null },
  inception: { litellm: prefixed('inception'), genaiPrices: null },
  meta: { litellm: prefixed('meta_llama'), genaiPrices: null },
};

function prefixed(provider: string): { provider: string; prefix: string } {
  return { provider, prefix: `${provider}/` };
}

/** Returns the names of a provider; undefined when no list has it. */
export function namesOf(provider: string): ListNames | undefined {
  return Object.hasOwn(sourceNames, provider) ? sourceNames[provider] : undefined;
}
