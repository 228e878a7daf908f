// Fields of a Chat request that OpenAI's types lack and other hosts document: vLLM, SGLang,
// llama.cpp, Ollama, LM Studio, OpenRouter, DeepSeek, Qwen, Moonshot, MiniMax, Mistral, xAI, Groq,
// Together, Fireworks, Z.ai, Google. (SGLang's protocol.py was read 2026-11-23, excerpts of the
// others; the rest is from memory of their pages.) Listed are fields that change neither the price
// nor the amount of output beyond the limit. Left out, among others:
// - other names of the output limit and of `n` (`n_predict`, `num_generations`), and objects that
//   hold them (`options`, `extra_body`);
// - `ignore_eos`, `min_tokens` and `allowed_token_ids`, which can generate output that no client
//   sees;
// - fields that resize images (`max_pixels`, `mm_processor_kwargs`) or add input (`documents`,
//   `input_ids`);
// - fields that name code, hosts, templates or other callers' work (`custom_logit_processor`,
//   `bootstrap_host`, `chat_template`, `rid`);
// - fields with a price of their own (`enable_code_interpreter`, `safety_model`, `return_images`).
import {
  joinTables,
  pass,
  verdicts,
  type PartKinds,
  type Verdict,
  type VerdictTable,
} from '../field-verdicts.ts';
import { partKinds, verdictTable } from './field-verdicts.ts';

/**
 * Other names of the output limit, which clients of several hosts send. A host that obeyed one would
 * generate more than the hold covers.
 */
const otherLimits = ['max_new_tokens', 'num_predict', 'max_gen_len', 'max_length'];

type Tables = Readonly<Record<string, Readonly<Record<string, Verdict>>>>;

/**
 * Fields that clients send to any host: most come from another host's answer and return with the
 * next turn.
 */
const history: Tables = {
  // OpenAI's SDK adds the last two when it parses an answer.
  anywhere: verdicts(
    { rule: 'own' },
    'reasoning_details provider_specific_fields parsed parsed_arguments',
  ),
  request: verdicts({ rule: 'drop' }, otherLimits.join(' ')),
  messages: pass(
    'reasoning_content reasoning reasoning_details thinking_blocks annotations images extra_content provider_specific_fields ' +
      'prefix partial cache_control parsed audio_content',
  ),
  thinking_blocks: pass('type thinking signature data cache_control'),
  tool_calls: pass('index extra_content provider_specific_fields'),
  images: pass('index'),
  extra_content: pass('google'),
  google: pass('thought thought_signature'),
  annotations: pass('type url_citation start_index end_index title url'),
  url_citation: pass('type url title content start_index end_index'),
  content: pass('cache_control'),
  tools: pass('cache_control'),
  function: pass('cache_control parsed_arguments provider_specific_fields'),
  cache_control: pass('type'),
};

const templateFields = pass(
  'enable_thinking thinking thinking_budget reasoning_effort preserve_thinking clear_thinking',
);

const host: Tables = {
  anywhere: verdicts({ rule: 'own' }, 'guided_json json structural_tag structures'),
  request: {
    ...pass(`
      top_k top_a min_p typical_p tfs_z repetition_penalty repeat_penalty repeat_last_n
      length_penalty do_sample random_seed mirostat mirostat_tau mirostat_eta mirostat_target
      mirostat_lr dynatemp_range dynatemp_exponent samplers dry_multiplier dry_base
      dry_allowed_length dry_penalty_last_n dry_sequence_breakers xtc_probability xtc_threshold
      stop_token_ids stop_regex bad_words include_stop_str_in_output no_stop_trim
      skip_special_tokens spaces_between_special_tokens continue_final_message
      add_generation_prompt
    `),
    // These only shorten the input, or say what happens to input that is too long.
    ...pass(
      'truncate_prompt_tokens prompt_truncate_len context_length_exceeded_behavior transforms',
    ),
    ...pass(`
      guided_json guided_regex guided_choice guided_grammar guided_whitespace_pattern
      structured_outputs regex ebnf grammar safe_prompt prompt_mode thinking enable_thinking
      thinking_budget thinking_token_budget preserve_thinking clear_thinking disable_reasoning
      chat_template_kwargs chat_template_args reasoning include_reasoning reasoning_format
      reasoning_history reasoning_split separate_reasoning stream_reasoning usage return_token_ids
      return_tokens_as_token_ids timings_per_token perf_metrics_in_response parse_tool_calls
      tool_stream citation_options disable_tool_validation mask_sensitive_info cache_prompt
      cache_control
    `),
  },
  chat_template_kwargs: templateFields,
  chat_template_args: templateFields,
  thinking: pass('type budget_tokens clear_thinking keep thinking text signature closed'),
  reasoning: pass('type effort max_tokens exclude enabled summary text'),
  summary: pass('type text signature'),
  /** OpenRouter's annotation of a document that it has read. */
  file: pass('hash name content'),
  usage: pass('include'),
  structured_outputs: pass(
    'json json_object regex choice grammar structural_tag whitespace_pattern disable_any_whitespace',
  ),
  response_format: pass('schema grammar pattern regex structures triggers'),
  video_url: pass('type video_url url fps'),
  audio_url: pass('type audio_url url'),
  video: pass('type video fps'),
  input_video: pass('type input_video data url video_url'),
  document_url: pass('type document_url document_name url'),
  file_url: pass('type file_url url'),
  reference: pass('type reference_ids'),
};

/** For OpenAI's own API. */
export const openAiTable: VerdictTable = joinTables(verdictTable, history);
/** For all other hosts, and for translation, which sends on only the fields that it reads. */
export const hostTable: VerdictTable = joinTables(openAiTable, host);

export const openAiPartKinds: PartKinds = { ...partKinds, images: 'image_url' };
export const hostPartKinds: PartKinds = {
  ...openAiPartKinds,
  content: `${partKinds['content']} video_url audio_url video input_video document_url file_url thinking reasoning reference`,
};
