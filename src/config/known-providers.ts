// The providers that have a usual name, address and key variable: their variable alone switches them on.
// Addresses and variables as their own documentation and SDKs have them, collected 2026-11-20.

/** What each kind speaks, so that a route cannot ask for what its provider does not understand. */
export const formatsOfKind = {
  openai: ['responses', 'chat'],
  'openai-compatible': ['chat'],
  anthropic: ['messages'],
  google: ['gemini'],
} as const;

export type ProviderKindName = keyof typeof formatsOfKind;

export type KnownProvider = {
  readonly kind: ProviderKindName;
  /** With `/v1` for the two openai kinds, without a version for anthropic and google. */
  readonly baseUrl: string;
  /** The environment variable its own SDK reads; null: it runs without a key, so only the file switches it on. */
  readonly keyVariable: string | null;
};

export const knownProviders: Readonly<Record<string, KnownProvider>> = {
  openai: { kind: 'openai', baseUrl: 'https://api.openai.com/v1', keyVariable: 'OPENAI_API_KEY' },
  anthropic: { kind: 'anthropic', baseUrl: 'https://api.anthropic.com', keyVariable: 'ANTHROPIC_API_KEY' },
  google: { kind: 'google', baseUrl: 'https://generativelanguage.googleapis.com', keyVariable: 'GEMINI_API_KEY' },
  xai: compatible('https://api.x.ai/v1', 'XAI_API_KEY'),
  deepseek: compatible('https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY'),
  mistral: compatible('https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  groq: compatible('https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  moonshotai: compatible('https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY'),
  zai: compatible('https://api.z.ai/api/paas/v4', 'ZAI_API_KEY'),
  minimax: compatible('https://api.minimax.io/v1', 'MINIMAX_API_KEY'),
  alibaba: compatible('https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'DASHSCOPE_API_KEY'),
  meta: compatible('https://api.llama.com/compat/v1', 'LLAMA_API_KEY'),
  cohere: compatible('https://api.cohere.ai/compatibility/v1', 'COHERE_API_KEY'),
  openrouter: compatible('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  together: compatible('https://api.together.xyz/v1', 'TOGETHER_API_KEY'),
  fireworks: compatible('https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'),
  ollama: compatible('http://127.0.0.1:11434/v1', null),
  vllm: compatible('http://127.0.0.1:8000/v1', null),
};

/** The gateway's own, behind test keys. */
export const reservedProviderName = 'sandbox';

export function isProviderName(name: string): boolean {
  return Object.hasOwn(knownProviders, name);
}

function compatible(baseUrl: string, keyVariable: string | null): KnownProvider {
  return { kind: 'openai-compatible', baseUrl, keyVariable };
}
