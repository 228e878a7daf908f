// The verdict on each field of a Chat request on the straight path, at any depth;
// formats/field-verdicts.ts explains the tables. The official types are those of `openai`,
// resources/chat/completions/completions.d.ts. Fields that other hosts document are in
// host-fields.ts.
import {
  knownTier,
  ofTool,
  pass,
  refuse,
  verdicts,
  type PartKinds,
  type Refusal,
  type VerdictTable,
} from '../field-verdicts.ts';

const stored = 'names state kept at the provider; send its content instead';
const extraCharge = refuse('is billed separately, which is not offered here; leave it out');
const otherModel = refuse(
  'chooses a model or a host, which is not possible here; use only `model`',
);
const noNewAnswers = refuse(
  'must be 1: answers that are not returned cannot be charged; use `n` for several answers',
  (value) => value === 1,
);
const shortCacheOnly = refuse(
  'must be `30m` or `5m`: longer cache writes are not offered here; leave it out',
  (value) => ['30m', '5m'].includes(String(value)),
);

/** Fields of other hosts that tenants must not use. */
const otherHosts: Readonly<Record<string, Refusal>> = {
  // vLLM: these compute more than is counted, push back other tenants, or name the operator's files
  // and code.
  best_of: noNewAnswers,
  use_beam_search: refuse('computes more than is counted; leave it out'),
  priority: refuse('would put this request ahead of others; leave it out', (value) => value === 0),
  logits_processors: refuse("names code on the provider's machine; leave it out"),
  kv_transfer_params: refuse(stored),
  cache_salt: refuse('is set by the gateway; leave it out'),
  // OpenRouter
  models: otherModel,
  route: otherModel,
  provider: otherModel,
  preset: refuse(stored),
  plugins: extraCharge,
  // xAI
  search_parameters: extraCharge,
  deferred: refuse('keeps the answer at the provider, which is not possible here; leave it out'),
  previous_response_id: refuse(
    'names an answer kept at the provider; send the whole conversation in `messages`',
  ),
  // Alibaba, Groq, Azure, Mistral
  enable_search: extraCharge,
  compound_custom: extraCharge,
  search_settings: extraCharge,
  data_sources: refuse(stored),
  agent_id: refuse(stored),
};

export const partKinds: PartKinds = { content: 'text image_url input_audio file refusal' };

export const verdictTable: VerdictTable = {
  request: {
    ...verdicts(
      { rule: 'set' },
      'model max_tokens max_completion_tokens stream stream_options store',
    ),
    ...verdicts({ rule: 'drop' }, 'metadata'),
    ...ofTool('tools web_search_options'),
    // Rejected prediction tokens are counted, and limited, as output.
    ...pass(`
      messages prediction response_format tool_choice function_call functions frequency_penalty
      presence_penalty logit_bias logprobs top_logprobs n parallel_tool_calls seed stop
      temperature top_p reasoning_effort verbosity safety_identifier user prompt_cache_key
      prompt_cache_retention prompt_cache_options
    `),
    service_tier: knownTier,
    audio: refuse('asks for audio output, which is not offered here; leave it out'),
    modalities: refuse('must be ["text"]: only text output is offered here', isTextOnly),
    moderation: refuse('runs another model, which has no price here; leave it out'),
    ...otherHosts,
  },
  anywhere: {
    /** Schemas and arguments. */
    ...verdicts({ rule: 'own' }, 'parameters schema arguments metadata logit_bias'),
    ...verdicts(
      refuse(stored),
      'file_ids vector_store_id vector_store_ids container_id connector_id assistant_id',
    ),
    ...verdicts(refuse(stored), 'cached_content cachedContent'),
    file_id: refuse('names a file kept at the provider; send its content as file_data instead'),
  },
  messages: {
    ...pass('role content name refusal tool_calls tool_call_id function_call'),
    audio: refuse('names an answer kept at the provider; send its transcript as content instead'),
  },
  text: pass('type text prompt_cache_breakpoint'),
  refusal: pass('type refusal'),
  image_url: pass('type image_url prompt_cache_breakpoint url detail'),
  file: pass('type file prompt_cache_breakpoint file_data filename'),
  input_audio: pass('type input_audio prompt_cache_breakpoint data format'),
  audio: { ...pass('format voice') },
  content: pass('type content text'),
  prompt_cache_breakpoint: { ...pass('mode'), ttl: shortCacheOnly },
  prompt_cache_options: { ...pass('mode'), ttl: shortCacheOnly },
  /** Anthropic's cache mark, for Claude behind other hosts. */
  cache_control: { ttl: shortCacheOnly },
  tool_calls: pass('id type function custom'),
  function_call: pass('name arguments'),
  functions: pass('name description parameters'),
  tools: pass('type function custom'),
  tool_choice: pass('type function custom allowed_tools'),
  allowed_tools: pass('mode tools'),
  function: pass('type function name description parameters arguments strict'),
  custom: pass('type custom name description input format'),
  grammar: pass('type grammar definition syntax'),
  response_format: pass('type json_schema'),
  json_schema: pass('type json_schema name description schema strict'),
  stream_options: { ...pass('include_obfuscation'), ...verdicts({ rule: 'set' }, 'include_usage') },
  web_search_options: ofTool('search_context_size user_location'),
  user_location: ofTool('type approximate'),
  approximate: ofTool('type approximate city country region timezone'),
};

function isTextOnly(value: unknown): boolean {
  return Array.isArray(value) && value.every((modality) => modality === 'text');
}
