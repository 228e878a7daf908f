// The verdict on each field of a Responses request on the straight path, at any depth;
// formats/field-verdicts.ts explains the tables. The official types are those of `openai`,
// resources/responses/responses.d.ts.
import {
  knownTier,
  ofTool,
  pass,
  refuse,
  verdicts,
  type PartKinds,
  type VerdictTable,
} from '../field-verdicts.ts';

const stored = (thing: string) =>
  refuse(
    `names ${thing} kept at the provider, in an account that all callers share. Send the content itself: \`file_data\`, ` +
      '`file_url` or `image_url`.',
  );
const shortCacheOnly = refuse(
  'is not priced in the catalogue beyond `30m`, so it cannot be charged. Send `30m` or leave it out.',
  (value) => value === '30m',
);
const computerAction = pass('type button x y keys path scroll_x scroll_y text');
const part = pass(
  'type text detail file_data file_url filename image_url prompt_cache_breakpoint encrypted_content',
);
const tool = ofTool(
  'type allowed_callers name description defer_loading async strict parameters input_schema output_schema',
);

export const partKinds: PartKinds = {
  input:
    'message file_search_call computer_call computer_call_output web_search_call function_call function_call_output tool_search_call ' +
    'tool_search_output additional_tools configuration_update reasoning compaction image_generation_call code_interpreter_call ' +
    'local_shell_call local_shell_call_output shell_call shell_call_output apply_patch_call apply_patch_call_output mcp_list_tools ' +
    'mcp_approval_request mcp_approval_response mcp_call custom_tool_call_output custom_tool_call compaction_trigger item_reference ' +
    'program program_output agent_message context_compaction',
  content:
    'input_text input_image input_file input_audio output_text refusal reasoning_text summary_text text encrypted_content',
  output:
    'computer_screenshot input_text input_image input_file output_text refusal encrypted_content',
};

export const verdictTable: VerdictTable = {
  request: {
    ...verdicts({ rule: 'set' }, 'model stream store max_output_tokens include'),
    /**
     * Codex sends `client_metadata`, about its own installation, and `access_programs`, which name
     * permissions of the operator's account.
     */
    ...verdicts({ rule: 'drop' }, 'previous_response_id client_metadata access_programs'),
    /** False for a warm-up, which no provider sees. */
    ...verdicts({ rule: 'drop' }, 'generate'),
    ...ofTool('tools max_tool_calls'),
    ...pass(
      'input instructions text tool_choice reasoning context_management image stream_options truncation parallel_tool_calls',
    ),
    ...pass('temperature top_p top_logprobs metadata user safety_identifier'),
    ...pass('prompt_cache_key prompt_cache_options prompt_cache_retention'),
    background: refuse(
      'keeps the response at the provider; this endpoint keeps nothing between requests. Use `stream` for long answers.',
    ),
    background_options: refuse(
      'sets how a response runs in the background, which is not offered here. Leave it out, and use `stream` for long answers.',
    ),
    conversation: refuse(
      'names a conversation kept at the provider; send the whole conversation in `input`.',
    ),
    moderation: refuse('runs another model, which has no price in the catalogue. Leave it out.'),
    prompt: refuse(
      'names a prompt stored at the provider; send its text in `instructions` and `input`.',
    ),
    service_tier: knownTier,
  },
  anywhere: {
    ...verdicts(
      { rule: 'own' },
      'parameters schema arguments output_schema input_schema metadata attributes env',
    ),
    /** OpenAI's SDK adds these when it parses an answer; clients return them. */
    ...verdicts({ rule: 'own' }, 'parsed parsed_arguments'),
    /** Codex describes its turns here. */
    ...verdicts({ rule: 'own' }, 'internal_chat_message_metadata_passthrough'),
    file_id: stored('a file'),
    file_ids: stored('files'),
    container_id: stored('a container'),
    vector_store_id: stored('a vector store'),
    vector_store_ids: stored('vector stores'),
    skill_id: stored('a skill'),
    connector_id: stored("a connection of the operator's"),
    tunnel_id: stored("a connection of the operator's"),
  },
  input: {
    ...pass(`
      id type role content status phase output call_id name namespace caller async tools execution
      operation summary encrypted_content reasoning text code fingerprint result max_output_length
      environment action actions pending_safety_checks acknowledged_safety_checks queries results
      outputs input arguments parsed_arguments server_label error approval_request_id approve reason
      quality size background output_format revised_prompt svg_usage
    `),
    // In the types, items of answers name their creator; those of requests do not.
    ...pass('created_by internal_chat_message_metadata_passthrough'),
    // Fields of the messages between Codex's agents.
    ...pass('author recipient encrypted_function_args'),
  },
  message: verdicts({ rule: 'set' }, 'id'),
  function_call: verdicts({ rule: 'set' }, 'id'),
  /** Removed: only references to reasoning are accepted at all. */
  item_reference: verdicts({ rule: 'set' }, 'id type'),
  custom_tool_call: verdicts({ rule: 'set' }, 'id'),
  function_call_output: verdicts({ rule: 'set' }, 'id'),
  custom_tool_call_output: verdicts({ rule: 'set' }, 'id'),
  tool_search_call: verdicts({ rule: 'set' }, 'id'),
  reasoning: {
    ...verdicts({ rule: 'set' }, 'id'),
    ...pass('effort context generate_summary summary'),
    mode: refuse(
      'is not priced in the catalogue beyond `standard`. Leave it out.',
      (value) => value === 'standard',
    ),
  },
  file_search_call: {
    type: refuse(
      'comes from a file search at the provider, which is not offered here. Leave it out.',
    ),
  },
  input_audio: pass('type input_audio data format'),
  content: { ...part, ...pass('annotations logprobs refusal parsed') },
  output: { ...part, ...pass('outcome stdout stderr created_by') },
  annotations: {
    ...pass('type index filename start_index end_index title url'),
    /** Annotations of an MCP server's tool; the types leave them open. */
    ...pass('read_only readOnlyHint destructiveHint idempotentHint openWorldHint'),
  },
  logprobs: pass('token bytes logprob top_logprobs'),
  top_logprobs: pass('token bytes logprob'),
  results: pass('filename score text attributes'),
  summary: pass('type text'),
  pending_safety_checks: pass('id code message'),
  acknowledged_safety_checks: pass('id code message'),
  action: {
    ...computerAction,
    ...pass(
      'query queries sources url pattern command timeout_ms user working_directory commands max_output_length env',
    ),
  },
  actions: computerAction,
  path: pass('x y'),
  sources: pass('type url'),
  caller: pass('type caller_id'),
  outcome: pass('type exit_code'),
  operation: pass('type diff path'),
  outputs: pass('type logs url'),
  error: pass('type code message param content moderation_details'),
  moderation_details: pass('categories moderation_stage'),
  svg_usage: pass('input_tokens model output_tokens reasoning_tokens total_tokens'),
  text: pass('format verbosity'),
  format: pass('type name description schema strict definition syntax'),
  prompt_cache_breakpoint: { ...pass('mode'), ttl: shortCacheOnly },
  prompt_cache_options: {
    ...pass('mode'),
    ttl: shortCacheOnly,
    prewarm: refuse(
      'asks for work without an answer, which is not priced in the catalogue. Leave it out.',
    ),
    comparison_response_id: stored('a response'),
  },
  context_management: pass('type compact_threshold'),
  stream_options: pass('include_obfuscation'),
  image: pass('context_compression'),
  /** Codex sends `namespace`. */
  tool_choice: pass('type mode tools server_label name namespace'),
  // The fields of a tool. `toolPlaces` decides which kinds of tools may be used.
  tools: {
    ...tool,
    ...ofTool(`
      annotations environment execution external_web_access filters format ranking_options size
      svg display_height display_width max_num_results search_context_size search_content_types
      tools allowed_tools authorization headers require_approval server_description server_label
      server_url container action background complexity frame_count frame_duration_ms
      input_fidelity model quality input_image_mask moderation output_compression output_format
      partial_images user_location
    `),
  },
  environment: ofTool('type memory_limit network_policy skills'),
  container: ofTool('type memory_limit network_policy'),
  network_policy: ofTool('type allowed_domains domain_secrets'),
  domain_secrets: ofTool('domain name value'),
  skills: ofTool('type name description path source version'),
  source: ofTool('type data media_type'),
  filters: ofTool('type key value filters allowed_domains'),
  ranking_options: ofTool('hybrid_search ranker score_threshold'),
  hybrid_search: ofTool('embedding_weight text_weight'),
  user_location: ofTool('type city country region timezone'),
  allowed_tools: ofTool('read_only tool_names'),
  require_approval: ofTool('always never'),
  always: ofTool('read_only tool_names'),
  never: ofTool('read_only tool_names'),
  input_image_mask: ofTool('image_url'),
  svg: ofTool('model reasoning'),
};
