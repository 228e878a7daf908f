// The verdict on each field of a Messages request on the straight path, at any depth;
// formats/field-verdicts.ts explains the tables. The official types are those of
// `@anthropic-ai/sdk`, resources/messages/messages.d.ts and resources/beta/messages/messages.d.ts.
import {
  ofTool,
  pass,
  reasons,
  refuse,
  unavailable,
  verdicts,
  type PartKinds,
  type VerdictTable,
} from '../field-verdicts.ts';

const stored = unavailable(`${reasons.stored}, which this gateway does not offer`);
const otherPrice = 'it changes the price of the tokens, and this gateway has no price for it';

const tool = ofTool(`
  type name description input_schema input_examples cache_control allowed_callers defer_loading
  strict tools configs eager_input_streaming display_height_px display_width_px display_number
  enable_zoom max_characters allowed_domains blocked_domains max_uses user_location citations
  max_content_tokens url_sources use_cache response_inclusion model caching max_tokens
  mcp_server_name default_config
`);
const toolReferences = ofTool('type tools');
const setting = ofTool('enabled defer_loading');

/** The parts of a browser or computer toolset that can be switched on and off. */
const toolsetParts = (
  'close_tab double_click file_upload find form_input get_page_text hold_key hover javascript_exec key left_click left_click_drag ' +
  'left_mouse_down left_mouse_up list_tabs middle_click mouse_move navigate new_tab read_console read_network read_page right_click ' +
  'screenshot scroll scroll_to switch_tab triple_click type wait zoom cursor_position'
).split(' ');

export const partKinds: PartKinds = {
  system: 'text',
  content:
    'text image document search_result thinking redacted_thinking tool_use tool_result tool_reference browser_state server_tool_use ' +
    'web_search_tool_result web_search_result web_search_tool_result_error web_fetch_tool_result web_fetch_result ' +
    'web_fetch_tool_result_error code_execution_tool_result code_execution_output code_execution_result ' +
    'encrypted_code_execution_result code_execution_tool_result_error bash_code_execution_tool_result bash_code_execution_output ' +
    'bash_code_execution_result bash_code_execution_tool_result_error text_editor_code_execution_tool_result ' +
    'text_editor_code_execution_tool_result_error text_editor_code_execution_view_result ' +
    'text_editor_code_execution_create_result text_editor_code_execution_str_replace_result tool_search_tool_result ' +
    'tool_search_tool_result_error tool_search_tool_search_result container_upload advisor_tool_result advisor_result ' +
    'advisor_redacted_result advisor_tool_result_error mcp_tool_use mcp_tool_result compaction tool_addition tool_removal ' +
    'mcp_tool_listing fallback',
  source: 'base64 url file text content',
};

export const verdictTable: VerdictTable = {
  request: {
    ...verdicts({ rule: 'set' }, 'model max_tokens'),
    ...ofTool('tools'),
    ...pass(
      'messages system stream stop_sequences tool_choice thinking output_config output_format metadata',
    ),
    /** Removed from the newest types, but the API version that the gateway requests knows them. */
    ...pass('temperature top_p top_k'),
    /**
     * Both lifetimes have a price: without one in the catalogue, the hour costs twice the input
     * price.
     */
    ...pass('cache_control context_management'),
    container: stored,
    /**
     * Anthropic sends this code for requests that it cannot thread; its tool runner then continues
     * without.
     */
    thread: { ...stored, details: { details: { error_code: 'thread_unsupported_request' } } },
    mcp_servers: unavailable(reasons.servers),
    compaction: unavailable('its tokens are not in the usage that the provider reports'),
    fallbacks: unavailable('another model at another price could answer'),
    fallback_credit_token: unavailable(otherPrice),
    billing_policy: unavailable('it names who pays the provider'),
    user_profile_id: unavailable('it names a customer of the operator'),
    workspace_id: unavailable('it names a workspace of the operator'),
    betas: unavailable('beta features are requested in the `anthropic-beta` header'),
    inference_geo: unavailable(otherPrice, (value) => value === 'global'),
    speed: refuse(
      'must be `standard` or `fast`',
      (value) => value === 'standard' || value === 'fast',
    ),
    /** The default, `auto`, would use capacity that the operator has bought. */
    service_tier: { rule: 'force', value: 'standard_only', accepts: ['auto', 'standard_only'] },
    /** Claude Code's, for a verdict on each tool call. */
    ...pass('safeguards'),
    /**
     * Compares with an earlier request by its id, and would reveal one account's prompts to
     * another.
     */
    diagnostics: { rule: 'drop' },
  },
  anywhere: {
    ...verdicts({ rule: 'own' }, 'input input_schema schema input_examples metadata safeguards'),
    ...verdicts(stored, 'file_id file_ids container_id skill_id'),
  },
  messages: pass('role content clear_at output_config'),
  system: pass('type text cache_control citations'),
  content: pass(`
    type text cache_control citations source transformations context title content thinking
    signature data id name input caller toolset_name tool_use_id is_error tool_name tabs
    state_changes encrypted_content url page_age error_code retrieved_at stop_reason return_code
    stderr stdout encrypted_stdout error_message file_type num_lines start_line total_lines
    is_file_update abort_reason lines new_lines new_start old_lines old_start tool_references
    server_name tool_changes tool mcp_server_name tools from to trigger
  `),
  /** Claude Code sends `scope`, under a beta of its own. It does not change the price. */
  cache_control: pass('type ttl scope'),
  citations: pass(`
    type cited_text document_index document_title start_char_index end_char_index
    start_page_number end_page_number start_block_index end_block_index encrypted_index title
    url search_result_index source enabled
  `),
  source: pass('type data media_type url content'),
  transformations: pass('oversized_image'),
  caller: pass('type tool_id'),
  tool_references: pass('type tool_name cache_control'),
  tabs: pass('tab_id title url active'),
  state_changes: pass('type tab_id download_id url path size_bytes error'),
  tool_changes: pass('type tool cache_control'),
  tool: ofTool('type name server_name definition'),
  from: pass('model'),
  to: pass('model'),
  output_config: pass('effort format task_budget'),
  format: pass('type schema'),
  output_format: pass('type schema'),
  task_budget: pass('type total remaining'),
  /** Edits are allowed or refused by their kind, like tools. */
  context_management: ofTool('edits'),
  edits: ofTool(
    'type clear_at_least clear_tool_inputs exclude_tools keep trigger instructions pause_after_compaction',
  ),
  clear_at_least: pass('type value'),
  keep: pass('type value'),
  trigger: pass('type value category'),
  thinking: pass('type block_binding display'),
  /** Kept below the output limit, which the gateway sets. */
  enabled: verdicts({ rule: 'set' }, 'budget_tokens'),
  block_binding: pass('prefix_mismatch_behavior'),
  metadata: pass('user_id'),
  tool_choice: pass('type name disable_parallel_tool_use'),
  // The fields of a tool. shared-credential.ts decides which kinds of tools may be used.
  tools: tool,
  definition: tool,
  user_location: ofTool('type city country region timezone'),
  url_sources: ofTool('client_tool_results server_tool_results user_input'),
  client_tool_results: toolReferences,
  server_tool_results: toolReferences,
  user_input: ofTool('type'),
  caching: ofTool('type ttl'),
  /** The entries of a map: `configs` of other tools. */
  '*': setting,
  default_config: setting,
  configs: ofTool(toolsetParts.join(' ')),
  ...Object.fromEntries(toolsetParts.map((name) => [name, setting])),
};
