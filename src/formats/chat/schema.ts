// The schema of a Chat Completions request, as far as the gateway needs it. Unknown fields, part
// types and tool types pass here. The straight path sends them on; translation and the rules of the
// shared credential refuse what they must.
// https://platform.openai.com/docs/api-reference/chat/create
import { Type, type Static } from 'typebox';
import { effortLevels } from '../../canonical/request.ts';
import { addressText, dataOrAddressText } from '../../lib/address-text.ts';
import { InputAudio } from '../input-audio.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';
import { ofKind, openUnion } from '../schema-parts.ts';

const TextPart = ofKind('text', { text: Type.String() });
const ImagePart = ofKind('image_url', {
  image_url: Type.Object({
    url: addressText({ minLength: 1 }),
    detail: optionalOrNull(Type.String()),
  }),
});
const FilePart = ofKind('file', {
  file: Type.Object({
    file_data: optionalOrNull(dataOrAddressText()),
    file_id: optionalOrNull(Type.String()),
    filename: optionalOrNull(Type.String()),
  }),
});
const RefusalPart = ofKind('refusal', { refusal: Type.String() });

const TextContent = Type.Union([Type.String(), Type.Array(openUnion(TextPart))]);
const UserContent = Type.Union([
  Type.String(),
  Type.Array(openUnion(TextPart, ImagePart, FilePart, InputAudio)),
]);
const AssistantContent = Type.Union([Type.String(), Type.Array(openUnion(TextPart, RefusalPart))]);

const FunctionCall = Type.Object({
  id: Type.String({ minLength: 1 }),
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String({ minLength: 1 }), arguments: Type.String() }),
});
const CustomCall = Type.Object({
  id: Type.String({ minLength: 1 }),
  type: Type.Literal('custom'),
  custom: Type.Object({ name: Type.String({ minLength: 1 }), input: Type.String() }),
});
const LegacyCall = Type.Object({ name: Type.String(), arguments: Type.String() });

const AssistantMessage = Type.Object({
  role: Type.Literal('assistant'),
  content: optionalOrNull(AssistantContent),
  refusal: optionalOrNull(Type.String()),
  // Not OpenAI's: DeepSeek's field for the reasoning of earlier turns, OpenRouter's and Groq's
  // field, and OpenRouter's signed blocks.
  reasoning_content: optionalOrNull(Type.String()),
  reasoning: optionalOrNull(Type.String()),
  reasoning_details: optionalOrNull(Type.Array(Type.Object({}))),
  /** Clients that return a whole answer include it. */
  annotations: optionalOrNull(Type.Array(Type.Unknown())),
  tool_calls: optionalOrNull(Type.Array(Type.Union([FunctionCall, CustomCall]))),
  function_call: optionalOrNull(LegacyCall),
  audio: optionalOrNull(Type.Object({ id: Type.String() })),
});
export const Message = Type.Union([
  Type.Object({ role: Type.Literal('system'), content: TextContent }),
  Type.Object({ role: Type.Literal('developer'), content: TextContent }),
  Type.Object({ role: Type.Literal('user'), content: UserContent }),
  AssistantMessage,
  Type.Object({
    role: Type.Literal('tool'),
    tool_call_id: Type.String({ minLength: 1 }),
    content: UserContent,
  }),
  Type.Object({
    role: Type.Literal('function'),
    name: Type.String(),
    content: Type.Union([Type.String(), Type.Null()]),
  }),
]);

const FunctionTool = ofKind('function', {
  function: Type.Object({
    name: Type.String({ minLength: 1 }),
    description: optionalOrNull(Type.String()),
    parameters: optionalOrNull(Type.Object({})),
    strict: optionalOrNull(Type.Boolean()),
  }),
});
const CustomTool = ofKind('custom', {
  custom: Type.Object({
    name: Type.String({ minLength: 1 }),
    description: optionalOrNull(Type.String()),
    format: optionalOrNull(Type.Object({ type: Type.String() })),
  }),
});
export const Tool = openUnion(FunctionTool, CustomTool);

const Named = Type.Object({ name: Type.String({ minLength: 1 }) });
const ToolChoice = openUnion(
  Type.Enum(['none', 'auto', 'required']),
  ofKind('function', { function: Named }),
  ofKind('custom', { custom: Named }),
);

const ResponseFormat = openUnion(
  ofKind('text', {}),
  ofKind('json_object', {}),
  ofKind('json_schema', {
    json_schema: Type.Object({
      name: Type.String({ minLength: 1 }),
      description: optionalOrNull(Type.String()),
      schema: optionalOrNull(Type.Object({})),
      strict: optionalOrNull(Type.Boolean()),
    }),
  }),
);

export const RequestSchema = Type.Object({
  model: Type.String({ minLength: 1 }),
  messages: Type.Array(Message, { minItems: 1 }),
  max_tokens: optionalOrNull(Type.Integer({ minimum: 1 })),
  max_completion_tokens: optionalOrNull(Type.Integer({ minimum: 1 })),
  temperature: optionalOrNull(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: optionalOrNull(Type.Number({ minimum: 0, maximum: 1 })),
  stream: optionalOrNull(Type.Boolean()),
  stream_options: optionalOrNull(Type.Object({ include_usage: optionalOrNull(Type.Boolean()) })),
  n: optionalOrNull(Type.Integer({ minimum: 1, maximum: 128 })),
  stop: optionalOrNull(Type.Union([Type.String(), Type.Array(Type.String())])),
  tools: optionalOrNull(Type.Array(Tool)),
  tool_choice: optionalOrNull(ToolChoice),
  parallel_tool_calls: optionalOrNull(Type.Boolean()),
  response_format: optionalOrNull(ResponseFormat),
  reasoning_effort: optionalOrNull(Type.Enum([...effortLevels])),
  frequency_penalty: optionalOrNull(Type.Number({ minimum: -2, maximum: 2 })),
  presence_penalty: optionalOrNull(Type.Number({ minimum: -2, maximum: 2 })),
  logit_bias: optionalOrNull(
    Type.Record(Type.String(), Type.Number({ minimum: -100, maximum: 100 })),
  ),
  logprobs: optionalOrNull(Type.Boolean()),
  top_logprobs: optionalOrNull(Type.Integer({ minimum: 0, maximum: 20 })),
  seed: optionalOrNull(Type.Integer()),
  /** Not OpenAI's, but most other hosts have it. */
  top_k: optionalOrNull(Type.Integer()),
  user: optionalOrNull(Type.String()),
  safety_identifier: optionalOrNull(Type.String()),
  prompt_cache_key: optionalOrNull(Type.String()),
  prompt_cache_retention: optionalOrNull(Type.String()),
  verbosity: optionalOrNull(Type.Enum(['low', 'medium', 'high'])),
  metadata: optionalOrNull(Type.Record(Type.String(), Type.String())),
  store: optionalOrNull(Type.Boolean()),
  modalities: optionalOrNull(Type.Array(Type.String())),
  service_tier: optionalOrNull(Type.String()),
  functions: optionalOrNull(Type.Array(Type.Object({ name: Type.String() }))),
});

export type ChatRequest = Static<typeof RequestSchema>;
export type ChatMessage = Static<typeof Message>;
export type ChatAssistantMessage = Static<typeof AssistantMessage>;
export type ChatToolCall = Static<typeof FunctionCall> | Static<typeof CustomCall>;
export type ChatTool = Static<typeof Tool>;
export type ChatToolChoice = Static<typeof ToolChoice>;
export type ChatResponseFormat = Static<typeof ResponseFormat>;
/** A part of a message. Its `type` decides about its fields. */
export type ChatPart = { readonly type: string; readonly [field: string]: unknown };
