// The schema of a Responses request. Unknown fields, items, parts and tools pass here: later checks
// decide about them. The official types are those of the npm package `openai`
// (resources/responses/responses.d.ts, read 2026-11-20).
import { Type, type Static } from 'typebox';
import { effortLevels } from '../../canonical/request.ts';
import { addressText, dataOrAddressText } from '../../lib/address-text.ts';
import { InputAudio } from '../input-audio.ts';
import { optional, unknownKind } from '../schema-parts.ts';

const name = Type.String({ minLength: 1 });
const jsonObject = Type.Record(Type.String(), Type.Unknown());

const textPart = Type.Object({
  type: Type.Union([Type.Literal('input_text'), Type.Literal('output_text')]),
  text: Type.String(),
});
const refusalPart = Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() });
const imagePart = Type.Object({
  type: Type.Literal('input_image'),
  image_url: optional(addressText()),
  file_id: optional(Type.String()),
  detail: optional(Type.String()),
});
const filePart = Type.Object({
  type: Type.Literal('input_file'),
  file_data: optional(dataOrAddressText()),
  file_url: optional(addressText()),
  file_id: optional(Type.String()),
  filename: optional(Type.String()),
});
export const contentPart = Type.Union([
  textPart,
  refusalPart,
  imagePart,
  filePart,
  InputAudio,
  unknownKind('input_text', 'output_text', 'refusal', 'input_image', 'input_file', 'input_audio'),
]);
const content = Type.Union([Type.String(), Type.Array(contentPart)]);

const message = Type.Object({
  type: optional(Type.Literal('message')),
  role: Type.Union([
    Type.Literal('user'),
    Type.Literal('assistant'),
    Type.Literal('system'),
    Type.Literal('developer'),
  ]),
  content,
});
const functionCall = Type.Object({
  type: Type.Literal('function_call'),
  call_id: name,
  name,
  namespace: optional(Type.String()),
  arguments: Type.String(),
});
const functionCallOutput = Type.Object({
  type: Type.Literal('function_call_output'),
  call_id: name,
  output: content,
});
const customToolCall = Type.Object({
  type: Type.Literal('custom_tool_call'),
  call_id: name,
  name,
  namespace: optional(Type.String()),
  input: Type.String(),
});
const customToolCallOutput = Type.Object({
  type: Type.Literal('custom_tool_call_output'),
  call_id: name,
  output: content,
});
const reasoningText = Type.Object({ type: Type.String(), text: Type.String() });
const reasoningItem = Type.Object({
  type: Type.Literal('reasoning'),
  summary: optional(Type.Array(reasoningText)),
  content: optional(Type.Array(reasoningText)),
  encrypted_content: optional(Type.String()),
});

const functionTool = Type.Object({
  type: Type.Literal('function'),
  name,
  description: optional(Type.String()),
  parameters: optional(jsonObject),
  strict: optional(Type.Boolean()),
});
const customFormat = Type.Union([
  Type.Object({ type: Type.Literal('text') }),
  Type.Object({ type: Type.Literal('grammar'), syntax: Type.String(), definition: Type.String() }),
  unknownKind('text', 'grammar'),
]);
const customTool = Type.Object({
  type: Type.Literal('custom'),
  name,
  description: optional(Type.String()),
  format: optional(customFormat),
});
const namespaceTool = Type.Object({
  type: Type.Literal('namespace'),
  name,
  description: optional(Type.String()),
  tools: Type.Array(Type.Union([functionTool, customTool, unknownKind('function', 'custom')])),
});
const toolSearchTool = Type.Object({
  type: Type.Literal('tool_search'),
  execution: optional(Type.String()),
  description: optional(Type.String()),
  parameters: optional(jsonObject),
});
export const tool = Type.Union([
  functionTool,
  customTool,
  namespaceTool,
  toolSearchTool,
  unknownKind('function', 'custom', 'namespace', 'tool_search'),
]);

const additionalTools = Type.Object({
  type: Type.Literal('additional_tools'),
  tools: Type.Array(tool),
});
const toolSearchCall = Type.Object({
  type: Type.Literal('tool_search_call'),
  call_id: optional(Type.String()),
  arguments: Type.Unknown(),
  execution: optional(Type.String()),
});
const toolSearchOutput = Type.Object({
  type: Type.Literal('tool_search_output'),
  call_id: optional(Type.String()),
  tools: Type.Array(tool),
  execution: optional(Type.String()),
});
export const inputItem = Type.Union([
  message,
  functionCall,
  functionCallOutput,
  customToolCall,
  customToolCallOutput,
  reasoningItem,
  additionalTools,
  toolSearchCall,
  toolSearchOutput,
  unknownKind(
    'message',
    'function_call',
    'function_call_output',
    'custom_tool_call',
    'custom_tool_call_output',
    'reasoning',
    'additional_tools',
    'tool_search_call',
    'tool_search_output',
  ),
]);

const toolChoice = Type.Union([
  Type.Literal('auto'),
  Type.Literal('none'),
  Type.Literal('required'),
  Type.Object({ type: Type.Literal('function'), name }),
  Type.Object({ type: Type.Literal('custom'), name }),
  Type.Object({
    type: Type.Literal('allowed_tools'),
    mode: Type.Union([Type.Literal('auto'), Type.Literal('required')]),
    tools: Type.Array(Type.Object({ type: Type.String(), name: optional(Type.String()) })),
  }),
  unknownKind('function', 'custom', 'allowed_tools'),
]);

const textFormat = Type.Union([
  Type.Object({ type: Type.Literal('text') }),
  Type.Object({ type: Type.Literal('json_object') }),
  Type.Object({
    type: Type.Literal('json_schema'),
    name,
    schema: jsonObject,
    description: optional(Type.String()),
    strict: optional(Type.Boolean()),
  }),
  unknownKind('text', 'json_object', 'json_schema'),
]);

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
  truncation: optional(Type.Union([Type.Literal('auto'), Type.Literal('disabled')])),
  previous_response_id: optional(Type.String()),
  store: optional(Type.Boolean()),
  text: optional(
    Type.Object({
      format: optional(textFormat),
      verbosity: optional(
        Type.Union([Type.Literal('low'), Type.Literal('medium'), Type.Literal('high')]),
      ),
    }),
  ),
  metadata: optional(Type.Record(Type.String(), Type.String())),
  user: optional(Type.String()),
  safety_identifier: optional(Type.String()),
  include: optional(Type.Array(Type.String())),
  service_tier: optional(Type.String()),
  prompt_cache_key: optional(Type.String()),
  top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
});

export type ResponsesRequest = Static<typeof RequestSchema>;
export type InputItem = Static<typeof inputItem>;
export type ToolDefinition = Static<typeof tool>;
export type ContentPart = Static<typeof contentPart>;
