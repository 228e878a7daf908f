// The schema of a Responses request. Unknown fields, items, parts and tools pass here: later checks
// decide about them. The official types are those of the npm package `openai`
// (resources/responses/responses.d.ts, read 2026-11-20).
import { Type, type Static } from 'typebox';
import { effortLevels } from '../../canonical/request.ts';
import { addressText, dataOrAddressText } from '../../lib/address-text.ts';
import { InputAudio } from '../input-audio.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';
import { ofKind, openUnion, words } from '../schema-parts.ts';

const name = Type.String({ minLength: 1 });
const jsonObject = Type.Record(Type.String(), Type.Unknown());

const textPart = Type.Object({
  type: words('input_text', 'output_text'),
  text: Type.String(),
});
const refusalPart = ofKind('refusal', { refusal: Type.String() });
const imagePart = ofKind('input_image', {
  image_url: optionalOrNull(addressText()),
  file_id: optionalOrNull(Type.String()),
  detail: optionalOrNull(Type.String()),
});
const filePart = ofKind('input_file', {
  file_data: optionalOrNull(dataOrAddressText()),
  file_url: optionalOrNull(addressText()),
  file_id: optionalOrNull(Type.String()),
  filename: optionalOrNull(Type.String()),
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
  type: optionalOrNull(Type.Literal('message')),
  role: words('user', 'assistant', 'system', 'developer'),
  content,
});
/** A message from one of Codex's agents to another. */
const agentMessage = ofKind('agent_message', { content });
const functionCall = ofKind('function_call', {
  call_id: name,
  name,
  namespace: optionalOrNull(Type.String()),
  arguments: Type.String(),
});
/** Without `call_id`, a tool of this name tells the model by itself what it put out. */
const functionCallOutput = ofKind('function_call_output', {
  call_id: optionalOrNull(name),
  name: optionalOrNull(Type.String()),
  output: content,
});
const customToolCall = ofKind('custom_tool_call', {
  call_id: name,
  name,
  namespace: optionalOrNull(Type.String()),
  input: Type.String(),
});
const customToolCallOutput = ofKind('custom_tool_call_output', { call_id: name, output: content });
const reasoningText = Type.Object({ type: Type.String(), text: Type.String() });
const reasoningItem = ofKind('reasoning', {
  summary: optionalOrNull(Type.Array(reasoningText)),
  content: optionalOrNull(Type.Array(reasoningText)),
  encrypted_content: optionalOrNull(Type.String()),
});

const functionTool = ofKind('function', {
  name,
  description: optionalOrNull(Type.String()),
  parameters: optionalOrNull(jsonObject),
  strict: optionalOrNull(Type.Boolean()),
});
const customFormat = openUnion(
  ofKind('text', {}),
  ofKind('grammar', { syntax: Type.String(), definition: Type.String() }),
);
const customTool = ofKind('custom', {
  name,
  description: optionalOrNull(Type.String()),
  format: optionalOrNull(customFormat),
});
const namespaceTool = ofKind('namespace', {
  name,
  description: optionalOrNull(Type.String()),
  tools: Type.Array(openUnion(functionTool, customTool)),
});
const toolSearchTool = ofKind('tool_search', {
  execution: optionalOrNull(Type.String()),
  description: optionalOrNull(Type.String()),
  parameters: optionalOrNull(jsonObject),
});
export const tool = openUnion(functionTool, customTool, namespaceTool, toolSearchTool);

const additionalTools = ofKind('additional_tools', { tools: Type.Array(tool) });
const toolSearchCall = ofKind('tool_search_call', {
  call_id: optionalOrNull(Type.String()),
  arguments: Type.Unknown(),
  execution: optionalOrNull(Type.String()),
});
const toolSearchOutput = ofKind('tool_search_output', {
  call_id: optionalOrNull(Type.String()),
  tools: Type.Array(tool),
  execution: optionalOrNull(Type.String()),
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
    tools: Type.Array(Type.Object({ type: Type.String(), name: optionalOrNull(Type.String()) })),
  }),
);

const textFormat = openUnion(
  ofKind('text', {}),
  ofKind('json_object', {}),
  ofKind('json_schema', {
    name,
    schema: jsonObject,
    description: optionalOrNull(Type.String()),
    strict: optionalOrNull(Type.Boolean()),
  }),
);

const reasoning = Type.Object({
  effort: optionalOrNull(Type.Union(effortLevels.map((level) => Type.Literal(level)))),
  summary: optionalOrNull(Type.String()),
});

export const RequestSchema = Type.Object({
  model: name,
  input: optionalOrNull(Type.Union([Type.String(), Type.Array(inputItem, { minItems: 1 })])),
  instructions: optionalOrNull(Type.String()),
  stream: optionalOrNull(Type.Boolean()),
  generate: optionalOrNull(Type.Boolean()),
  max_output_tokens: optionalOrNull(Type.Integer({ minimum: 1 })),
  temperature: optionalOrNull(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: optionalOrNull(Type.Number({ minimum: 0, maximum: 1 })),
  tools: optionalOrNull(Type.Array(tool)),
  tool_choice: optionalOrNull(toolChoice),
  parallel_tool_calls: optionalOrNull(Type.Boolean()),
  reasoning: optionalOrNull(reasoning),
  truncation: optionalOrNull(words('auto', 'disabled')),
  previous_response_id: optionalOrNull(Type.String()),
  store: optionalOrNull(Type.Boolean()),
  text: optionalOrNull(
    Type.Object({
      format: optionalOrNull(textFormat),
      verbosity: optionalOrNull(words('low', 'medium', 'high')),
    }),
  ),
  metadata: optionalOrNull(Type.Record(Type.String(), Type.String())),
  user: optionalOrNull(Type.String()),
  safety_identifier: optionalOrNull(Type.String()),
  include: optionalOrNull(Type.Array(Type.String())),
  service_tier: optionalOrNull(Type.String()),
  prompt_cache_key: optionalOrNull(Type.String()),
  prompt_cache_retention: optionalOrNull(Type.String()),
  top_logprobs: optionalOrNull(Type.Integer({ minimum: 0, maximum: 20 })),
});

export type ResponsesRequest = Static<typeof RequestSchema>;
export type InputItem = Static<typeof inputItem>;
export type ToolDefinition = Static<typeof tool>;
export type ContentPart = Static<typeof contentPart>;
