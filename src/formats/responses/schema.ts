// The schema of a Responses request. Unknown fields, items, parts and tools pass here: later checks
// decide about them. The official types are those of the npm package `openai`
// (resources/responses/responses.d.ts, read 2026-11-20).
import { Type, type Static } from 'typebox';
import { effortLevels } from '../../canonical/request.ts';
import { addressText, dataOrAddressText } from '../../lib/address-text.ts';
import { InputAudio } from '../input-audio.ts';
import { optional, ofKind, openUnion, words } from '../schema-parts.ts';

const name = Type.String({ minLength: 1 });
const jsonObject = Type.Record(Type.String(), Type.Unknown());

const textPart = Type.Object({
  type: words('input_text', 'output_text'),
  text: Type.String(),
});
const refusalPart = ofKind('refusal', { refusal: Type.String() });
const imagePart = ofKind('input_image', {
  image_url: optional(addressText()),
  file_id: optional(Type.String()),
  detail: optional(Type.String()),
});
const filePart = ofKind('input_file', {
  file_data: optional(dataOrAddressText()),
  file_url: optional(addressText()),
  file_id: optional(Type.String()),
  filename: optional(Type.String()),
});
const encryptedPart = ofKind('encrypted_content', { encrypted_content: Type.String() });
export const contentPart = openUnion(
  textPart,
  refusalPart,
  imagePart,
  filePart,
  InputAudio,
  encryptedPart,
);
const content = Type.Union([Type.String(), Type.Array(contentPart)]);

const message = Type.Object({
  type: optional(Type.Literal('message')),
  role: words('user', 'assistant', 'system', 'developer'),
  content,
});
/** A message from one of Codex's agents to another. */
const agentMessage = ofKind('agent_message', { content });
const functionCall = ofKind('function_call', {
  call_id: name,
  name,
  namespace: optional(Type.String()),
  arguments: Type.String(),
});
/** Without `call_id`, a tool of this name tells the model by itself what it put out. */
const functionCallOutput = ofKind('function_call_output', {
  call_id: optional(name),
  name: optional(Type.String()),
  output: content,
});
const customToolCall = ofKind('custom_tool_call', {
  call_id: name,
  name,
  namespace: optional(Type.String()),
  input: Type.String(),
});
const customToolCallOutput = ofKind('custom_tool_call_output', { call_id: name, output: content });
const reasoningText = Type.Object({ type: Type.String(), text: Type.String() });
const reasoningItem = ofKind('reasoning', {
  summary: optional(Type.Array(reasoningText)),
  content: optional(Type.Array(reasoningText)),
  encrypted_content: optional(Type.String()),
});

const functionTool = ofKind('function', {
  name,
  description: optional(Type.String()),
  parameters: optional(jsonObject),
  strict: optional(Type.Boolean()),
});
const customFormat = openUnion(
  ofKind('text', {}),
  ofKind('grammar', { syntax: Type.String(), definition: Type.String() }),
);
const customTool = ofKind('custom', {
  name,
  description: optional(Type.String()),
  format: optional(customFormat),
});
const namespaceTool = ofKind('namespace', {
  name,
  description: optional(Type.String()),
  tools: Type.Array(openUnion(functionTool, customTool)),
});
const toolSearchTool = ofKind('tool_search', {
  execution: optional(Type.String()),
  description: optional(Type.String()),
  parameters: optional(jsonObject),
});
export const tool = openUnion(functionTool, customTool, namespaceTool, toolSearchTool);

const additionalTools = ofKind('additional_tools', { tools: Type.Array(tool) });
const toolSearchCall = ofKind('tool_search_call', {
  call_id: optional(Type.String()),
  arguments: Type.Unknown(),
  execution: optional(Type.String()),
});
const toolSearchOutput = ofKind('tool_search_output', {
  call_id: optional(Type.String()),
  tools: Type.Array(tool),
  execution: optional(Type.String()),
});
export const inputItem = openUnion(
  message,
  agentMessage,
  functionCall,
  functionCallOutput,
  customToolCall,
  customToolCallOutput,
  reasoningItem,
  additionalTools,
  toolSearchCall,
  toolSearchOutput,
);

const toolChoice = openUnion(
  Type.Literal('auto'),
  Type.Literal('none'),
  Type.Literal('required'),
  ofKind('function', { name }),
  ofKind('custom', { name }),
  ofKind('allowed_tools', {
    mode: words('auto', 'required'),
    tools: Type.Array(Type.Object({ type: Type.String(), name: optional(Type.String()) })),
  }),
);

const textFormat = openUnion(
  ofKind('text', {}),
  ofKind('json_object', {}),
  ofKind('json_schema', {
    name,
    schema: jsonObject,
    description: optional(Type.String()),
    strict: optional(Type.Boolean()),
  }),
);

const reasoning = Type.Object({
  effort: optional(Type.Union(effortLevels.map((level) => Type.Literal(level)))),
  summary: optional(Type.String()),
});

export const RequestSchema = Type.Object({
  model: name,
  input: optional(Type.Union([Type.String(), Type.Array(inputItem, { minItems: 1 })])),
  instructions: optional(Type.String()),
  stream: optional(Type.Boolean()),
  generate: optional(Type.Boolean()),
  max_output_tokens: optional(Type.Integer({ minimum: 1 })),
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  tools: optional(Type.Array(tool)),
  tool_choice: optional(toolChoice),
  parallel_tool_calls: optional(Type.Boolean()),
  reasoning: optional(reasoning),
  truncation: optional(words('auto', 'disabled')),
  previous_response_id: optional(Type.String()),
  store: optional(Type.Boolean()),
  text: optional(
    Type.Object({
      format: optional(textFormat),
      verbosity: optional(words('low', 'medium', 'high')),
    }),
  ),
  metadata: optional(Type.Record(Type.String(), Type.String())),
  user: optional(Type.String()),
  safety_identifier: optional(Type.String()),
  include: optional(Type.Array(Type.String())),
  service_tier: optional(Type.String()),
  prompt_cache_key: optional(Type.String()),
  prompt_cache_retention: optional(Type.String()),
  top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
});

export type ResponsesRequest = Static<typeof RequestSchema>;
export type InputItem = Static<typeof inputItem>;
export type ToolDefinition = Static<typeof tool>;
export type ContentPart = Static<typeof contentPart>;
