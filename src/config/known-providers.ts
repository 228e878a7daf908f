// Providers with a default name, address and key variable; setting the variable is enough to enable
// one. Addresses and variables come from the providers' own documentation and SDKs, collected
// 2026-11-20.
import { awsHost } from '../lib/aws-host.ts';
import type { HostWishes } from '../terms/host-wishes.ts';
import type { ProviderKindName } from '../terms/provider-kind.ts';

export type KnownProvider = {
  readonly kind: ProviderKindName;
  /**
   * With `/v1` for the two openai kinds and bfl, without a version for the others. A cloud's depends on
   * the region. null: the operator must set it.
   */
  readonly baseUrl: string | null | ((region: string | null) => string | null);
  /**
   * The environment variable that its own SDK reads. null: it needs no key, so only the file
   * enables it.
   */
  readonly keyVariable: string | null;
  /**
   * The environment variable of its address. Setting it enables a provider that needs no key.
   */
  readonly addressVariable?: string;
  /** The environment variables that a cloud's own SDK reads for its place. */
  readonly placeVariables?: { readonly region?: string; readonly project?: string };
  /**
   * The path of its list of models, from the base URL. null: it has none. Left out: that of its kind.
   */
  readonly modelsPath?: string | null;
  /**
   * Fields of messages that its Chat refuses with an error, even if they are null. `cache_control`: of
   * their parts and of tools, too. Left out: none.
   */
  readonly refusedHistory?: readonly string[];
  /** What its Chat wants otherwise than OpenAI's. Left out: nothing. */
  readonly wishes?: HostWishes;
};

/** Two fields of every answer of OpenAI and of the gateway, and Anthropic's marks for its cache. */
const vendorsOwn = ['refusal', 'annotations', 'cache_control'];

const reasoning = ['reasoning_content', 'reasoning', 'reasoning_details'];

/**
 * The fields that every model at NVIDIA takes. `response_format` is sent too: to leave it out would
 * change the answer silently.
 */
const nvidiaFields =
  'model messages stream stream_options max_tokens temperature top_p stop seed tools tool_choice response_format'.split(
    ' ',
  );

/** npm `@mistralai/mistralai` 2.7. It counts tokens in every stream without being asked. */
const mistralFields =
  'model messages stream max_tokens temperature top_p stop random_seed metadata response_format tools tool_choice presence_penalty frequency_penalty n prediction parallel_tool_calls reasoning_effort prompt_mode prompt_cache_key service_tier safe_prompt'.split(
    ' ',
  );

const thinkingDisabled = { thinking: { type: 'disabled' } };

/** npm `cohere-ai` 8.1. providers/cohere writes the last three in Cohere's own words. */
const cohereFields =
  'model messages stream max_tokens stop_sequences temperature p k seed frequency_penalty presence_penalty tools tool_choice response_format reasoning_effort'.split(
    ' ',
  );

export const knownProviders: Readonly<Record<string, KnownProvider>> = {
  openai: { kind: 'openai', baseUrl: 'https://api.openai.com/v1', keyVariable: 'OPENAI_API_KEY' },
  anthropic: {
    kind: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    keyVariable: 'ANTHROPIC_API_KEY',
  },
  google: {
    kind: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com',
    keyVariable: 'GEMINI_API_KEY',
  },
  bfl: { kind: 'bfl', baseUrl: 'https://api.bfl.ai/v1', keyVariable: 'BFL_API_KEY' },
  xai: {
    ...compatible('https://api.x.ai/v1', 'XAI_API_KEY'),
    refusedHistory: ['name'],
    wishes: {
      refusedOfTools: ['strict'],
      // github.com/QuantumNous/new-api/pull/2753 (read 2026-11-30)
      forbiddenFeeMicros: 50_000,
      batches: 'xai',
      speech: 'xai',
      transcription: 'xai',
    },
  },
  deepseek: {
    ...compatible('https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY'),
    // Its gaps are filled by some models, one text at a time (api-docs.deepseek.com, read 2026-11-29).
    wishes: {
      refused: ['seed', 'top_k'],
      // api-docs.deepseek.com/guides/thinking_mode, github.com/deepseek-ai/DeepSeek-V3/issues/1376
      // (read 2026-11-30)
      notThinking: thinkingDisabled,
      forcesWithoutThinking: true,
      // github.com/QwenLM/qwen-code/pull/2320 (read 2026-11-30)
      stringContents: 'all',
      // api-docs.deepseek.com/guides/chat_prefix_completion (read 2026-11-30)
      prefill: { mark: 'prefix', path: '/beta/chat/completions' },
      completions: {
        path: '/beta/completions',
        isAtOrigin: true,
        tokensMax: 4_096,
        onlyIfNeeded: true,
      },
    },
  },
  mistral: {
    ...compatible('https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
    refusedHistory: [...reasoning, ...vendorsOwn, 'name'],
    wishes: {
      only: mistralFields,
      renamed: { seed: 'random_seed' },
      toolChoices: { required: 'any' },
      // github.com/vercel/ai/pull/3256 (read 2026-11-30)
      prefill: { mark: 'prefix', echoes: true },
      embeddings: {
        itemsMax: 32,
        sizeField: 'output_dimension',
        encodingField: null,
        takesUser: false,
      },
      batches: 'mistral',
      speech: 'mistral',
      transcription: {
        only: ['language', 'temperature'],
        lacksFormats: true,
        lacksTranslations: true,
        lacksStreams: true,
      },
    },
  },
  groq: {
    ...compatible('https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
    refusedHistory: ['reasoning_details', 'name', 'function_call', ...vendorsOwn],
    wishes: {
      refused: ['logprobs', 'top_logprobs', 'logit_bias', 'cache_control'],
      reasoningIn: 'reasoning',
      // npm `groq-sdk` 1.6. Qwen 3.8 has levels.
      withoutEfforts: /^qwen\/qwen3(?:-32b|\.6-27b)$/,
      batches: 'openai',
      speech: { formats: ['wav'] },
      transcription: {
        only: ['language', 'prompt', 'temperature', 'timestamp_granularities'],
        measuresSegmentsOnly: true,
        secondsMin: 10,
      },
    },
  },
  cerebras: {
    ...compatible('https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY'),
    refusedHistory: ['reasoning_details', 'cache_control'],
    wishes: {
      refused: ['frequency_penalty', 'presence_penalty', 'logit_bias', 'cache_control'],
      renamed: { max_tokens: 'max_completion_tokens' },
      reasoningIn: 'reasoning',
    },
  },
  moonshotai: {
    ...compatible('https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY'),
    // Since Kimi K2.5 it takes only its own values (platform.kimi.ai/docs/api/models-overview, and
    // github.com/HKUDS/nanobot/pull/4967, read 2026-11-26).
    wishes: {
      refused: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'seed', 'top_k'],
      // platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model, github.com/can1357/oh-my-pi/pull/1078,
      // github.com/UKGovernmentBEIS/inspect_ai/pull/5152 (read 2026-11-30)
      notThinking: thinkingDisabled,
      forcesWithoutThinking: true,
      toolChoices: { named: 'required' },
      // platform.kimi.ai/docs/api/partial (read 2026-11-30)
      prefill: { mark: 'partial' },
    },
  },
  zai: {
    ...compatible('https://api.z.ai/api/paas/v4', 'ZAI_API_KEY'),
    modelsPath: null,
    refusedHistory: ['name'],
    wishes: {
      refused: ['presence_penalty', 'frequency_penalty'],
      // github.com/theopenco/llmgateway/pull/3049 (read 2026-11-30)
      notThinking: thinkingDisabled,
      refusedOfTools: ['strict'],
      toolChoices: { required: null, named: null, none: null },
    },
  },
  minimax: {
    ...compatible('https://api.minimax.io/v1', 'MINIMAX_API_KEY'),
    wishes: {
      renamed: { max_tokens: 'max_completion_tokens' },
      ranges: { temperature: [0.01, 1] },
      // github.com/CherryHQ/cherry-studio/pull/15991 (read 2026-11-30)
      notThinking: thinkingDisabled,
      reasoningIn: 'content',
    },
  },
  alibaba: {
    ...compatible('https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'DASHSCOPE_API_KEY'),
    wishes: {
      refused: ['frequency_penalty'],
      // github.com/BerriAI/litellm/pull/40959 (read 2026-11-30)
      notThinking: { enable_thinking: false },
      embeddings: { itemsMax: 10, encodingField: null, takesUser: false },
      rerank: { path: '/compatible-api/v1/reranks', isAtOrigin: true },
      completions: { onlyIfNeeded: true },
    },
  },
  meta: compatible('https://api.llama.com/compat/v1', 'LLAMA_API_KEY'),
  cohere: {
    kind: 'cohere',
    baseUrl: 'https://api.cohere.com',
    keyVariable: 'COHERE_API_KEY',
    refusedHistory: ['name', 'function_call', 'reasoning', 'reasoning_details', ...vendorsOwn],
    wishes: {
      only: cohereFields,
      renamed: { stop: 'stop_sequences', top_p: 'p', top_k: 'k' },
      ranges: {
        top_p: [0.01, 0.99],
        top_k: [0, 500],
        frequency_penalty: [0, 1],
        presence_penalty: [0, 1],
      },
      refusedOfTools: ['strict'],
      toolChoices: { required: 'REQUIRED', none: 'NONE' },
      stringContents: 'results',
    },
  },
  xiaomi: compatible('https://api.xiaomimimo.com/v1', 'XIAOMI_API_KEY'),
  inception: compatible('https://api.inceptionlabs.ai/v1', 'INCEPTION_API_KEY'),
  openrouter: {
    ...compatible('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
    wishes: {
      completions: {},
      // For some models, base64 is an empty list (github.com/plastic-labs/honcho/issues/932, read
      // 2026-11-30).
      embeddings: { encodingField: null },
      // openrouter.ai/docs/client-sdks/typescript (read 2026-11-30)
      transcription: {
        only: ['language', 'temperature', 'timestamp_granularities'],
        lacksTranslations: true,
        lacksStreams: true,
      },
    },
  },
  together: {
    ...compatible('https://api.together.xyz/v1', 'TOGETHER_API_KEY'),
    wishes: { completions: {} },
  },
  fireworks: {
    ...compatible('https://api.fireworks.ai/inference/v1', 'FIREWORKS_API_KEY'),
    wishes: { toolChoices: { required: 'any' }, completions: {} },
  },
  deepinfra: {
    ...compatible('https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY'),
    wishes: { toolChoices: { required: null, named: null }, stringContents: 'results' },
  },
  // It counts tokens in every chunk without being asked.
  perplexity: {
    ...compatible('https://api.perplexity.ai', 'PERPLEXITY_API_KEY'),
    modelsPath: '/v1/models',
    refusedHistory: [...reasoning, ...vendorsOwn],
    wishes: {
      refused: [
        'stream_options',
        'stop',
        'seed',
        'top_k',
        'user',
        'store',
        'logit_bias',
        'cache_control',
      ],
      lacksTools: true,
      // github.com/perplexityai/api-discussion/issues/265 (read 2026-11-30)
      alternates: true,
      embeddings: {
        path: '/v1/embeddings',
        encodingField: null,
        isInt8: true,
        takesUser: false,
      },
    },
  },
  // Both have embeddings and reranking only.
  voyage: {
    ...compatible('https://api.voyageai.com/v1', 'VOYAGE_API_KEY'),
    modelsPath: null,
    wishes: {
      embeddings: {
        itemsMax: 1_000,
        tokensMax: 100_000,
        sizeField: 'output_dimension',
        // It knows base64 only, and answers in floats without it.
        encodingField: null,
        purposes: {
          field: 'input_type',
          words: { query: 'query', document: 'document', classification: null, clustering: null },
        },
        takesUser: false,
      },
      rerank: { topField: 'top_k' },
    },
  },
  jina: {
    ...compatible('https://api.jina.ai/v1', 'JINA_API_KEY'),
    modelsPath: null,
    wishes: {
      embeddings: {
        encodingField: 'embedding_type',
        purposes: {
          field: 'task',
          words: {
            query: 'retrieval.query',
            document: 'retrieval.passage',
            classification: 'classification',
            clustering: 'separation',
          },
        },
        takesUser: false,
      },
      // Unasked, it sends the documents back.
      rerank: { fixed: { return_documents: false } },
    },
  },
  // The next two have speech and transcription only.
  elevenlabs: {
    ...compatible('https://api.elevenlabs.io/v1', 'ELEVENLABS_API_KEY'),
    modelsPath: null,
    wishes: { speech: 'elevenlabs', transcription: 'elevenlabs' },
  },
  deepgram: {
    ...compatible('https://api.deepgram.com/v1', 'DEEPGRAM_API_KEY'),
    modelsPath: null,
    wishes: { speech: 'deepgram', transcription: 'deepgram' },
  },
  // Each of its models refuses fields that it does not know.
  nvidia: {
    ...compatible('https://integrate.api.nvidia.com/v1', 'NVIDIA_API_KEY'),
    refusedHistory: [...reasoning, ...vendorsOwn],
    wishes: {
      only: nvidiaFields,
      embeddings: {
        // docs.nvidia.com/nim/nemo-retriever/text-embedding, and github.com/diegosouzapw/OmniRoute/pull/4341
        // (read 2026-11-30)
        purposes: {
          field: 'input_type',
          words: {
            query: 'query',
            document: 'passage',
            classification: 'passage',
            clustering: 'passage',
          },
          usual: 'document',
        },
      },
    },
  },
  huggingface: compatible('https://router.huggingface.co/v1', 'HF_TOKEN'),
  novita: compatible('https://api.novita.ai/v3/openai', 'NOVITA_API_KEY'),
  azure: {
    kind: 'azure',
    baseUrl: null,
    keyVariable: 'AZURE_OPENAI_API_KEY',
    addressVariable: 'AZURE_OPENAI_ENDPOINT',
  },
  bedrock: {
    kind: 'bedrock',
    baseUrl: (region) => region && `https://${awsHost('bedrock-runtime', region)}`,
    keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
    placeVariables: { region: 'AWS_REGION' },
  },
  vertex: {
    kind: 'vertex',
    baseUrl: vertexAddress,
    keyVariable: 'GOOGLE_VERTEX_API_KEY',
    placeVariables: { region: 'GOOGLE_CLOUD_LOCATION', project: 'GOOGLE_CLOUD_PROJECT' },
  },
  ollama: local('http://127.0.0.1:11434/v1', 'OLLAMA_BASE_URL'),
  vllm: local('http://127.0.0.1:8000/v1', 'VLLM_BASE_URL'),
  sglang: local('http://127.0.0.1:30000/v1', 'SGLANG_BASE_URL'),
  llamacpp: local('http://127.0.0.1:8080/v1', 'LLAMACPP_BASE_URL'),
  lmstudio: {
    ...local('http://127.0.0.1:1234/v1', 'LMSTUDIO_BASE_URL'),
    // github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670 (read 2026-11-30)
    // and 189 (read 2026-11-30)
    wishes: { completions: {}, toolChoices: { named: 'required' }, lacksJsonMode: true },
  },
  brave: {
    kind: 'brave',
    baseUrl: 'https://api.search.brave.com/res/v1',
    keyVariable: 'BRAVE_API_KEY',
  },
  tavily: { kind: 'tavily', baseUrl: 'https://api.tavily.com', keyVariable: 'TAVILY_API_KEY' },
  serper: { kind: 'serper', baseUrl: 'https://google.serper.dev', keyVariable: 'SERPER_API_KEY' },
  exa: { kind: 'exa', baseUrl: 'https://api.exa.ai', keyVariable: 'EXA_API_KEY' },
  searxng: { kind: 'searxng', baseUrl: null, keyVariable: null, addressVariable: 'SEARXNG_URL' },
};

/** The gateway's own provider, used by test keys. */
export const reservedProviderName = 'sandbox';

/** Returns undefined for any other name, such as `constructor`. */
export function knownProviderOf(name: string): KnownProvider | undefined {
  return Object.hasOwn(knownProviders, name) ? knownProviders[name] : undefined;
}

/**
 * Returns the known provider of that name and kind. Otherwise returns the one with the same host, or
 * else the one that its kind is named for.
 */
export function findKnownProvider(
  name: string,
  { kind, base_url }: { readonly kind: ProviderKindName; readonly base_url: string },
): KnownProvider | undefined {
  const own = knownProviderOf(name);
  if (own?.kind === kind) return own;
  const host = URL.parse(base_url)?.host;
  const ofHost = Object.values(knownProviders).find(
    ({ baseUrl: usual }) => typeof usual === 'string' && URL.parse(usual)?.host === host,
  );
  return ofHost ?? knownProviders[kind];
}

/**
 * Returns the kind of a configured or known provider; undefined when the file must state it and
 * does not.
 */
export function kindOfProvider(
  providers: Readonly<Record<string, { readonly kind?: ProviderKindName | undefined }>>,
  name: string,
): ProviderKindName | undefined {
  return providers[name]?.kind ?? knownProviderOf(name)?.kind;
}

/** Returns the names of a provider and of its further credentials, which are entries of their own. */
export function credentialsOf(
  providers: Readonly<Record<string, { readonly credential_of?: string | null | undefined }>>,
  name: string,
): string[] {
  const further = Object.keys(providers).filter((one) => providers[one]!.credential_of === name);
  return [name, ...further];
}

/** https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations (read 2026-11-27) */
function vertexAddress(region: string | null): string {
  if (region === null || region === 'global') return 'https://aiplatform.googleapis.com';
  return region === 'us' || region === 'eu'
    ? `https://aiplatform.${region}.rep.googleapis.com`
    : `https://${region}-aiplatform.googleapis.com`;
}

/** Servers of the operator's own. All of them continue prompts. */
function local(baseUrl: string, addressVariable: string): KnownProvider {
  return { ...compatible(baseUrl, null), addressVariable, wishes: { completions: {} } };
}

function compatible(baseUrl: string, keyVariable: string | null): KnownProvider {
  return { kind: 'openai-compatible', baseUrl, keyVariable };
}
