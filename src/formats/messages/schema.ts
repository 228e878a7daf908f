// The schema of a Messages request. Unknown fields, blocks, sources and typed tools pass here:
// later checks decide about them. The official types are those of the npm package
// `@anthropic-ai/sdk` (resources/beta/messages/messages.d.ts, read 2026-11-20).
import { Type, type Static } from 'typebox';
import { addressText } from '../../lib/address-text.ts';
import { optional, unknownKind } from '../schema-parts.ts';

const name = Type.String({ minLength: 1 });
const jsonObject = Type.Record(Type.String(), Type.Unknown());
const cacheControl = optional(
  Type.Object({
    type: Type.Literal('ephemeral'),
    ttl: optional(Type.Union([Type.Literal('5m'), Type.Literal('1h')])),
  }),
);

const base64Source = Type.Object({
  type: Type.Literal('base64'),
  media_type: Type.String(),
  data: Type.String(),
});
const urlSource = Type.Object({ type: Type.Literal('url'), url: addressText({ minLength: 1 }) });
const plainTextSource = Type.Object({
  type: Type.Literal('text'),
  media_type: optional(Type.String()),
  data: Type.String(),
});
const contentSource = Type.Object({
  type: Type.Literal('content'),
  content: Type.Union([Type.String(), Type.Array(Type.Unknown())]),
});
const imageSource = Type.Union([unknownKind('base64', 'url'), base64Source, urlSource]);
const documentSource = Type.Union([
  unknownKind('base64', 'url', 'text', 'content'),
  base64Source,
  urlSource,
  plainTextSource,
  contentSource,
]);

const textBlock = Type.Object({
  type: Type.Literal('text'),
  text: Type.String(),
  citations: optional(Type.Array(Type.Unknown())),
  cache_control: cacheControl,
});
const imageBlock = Type.Object({
  type: Type.Literal('image'),
  source: imageSource,
  transformations: optional(jsonObject),
  cache_control: cacheControl,
});
const documentBlock = Type.Object({
  type: Type.Literal('document'),
  source: documentSource,
  title: optional(Type.String()),
  context: optional(Type.String()),
  citations: optional(Type.Object({ enabled: optional(Type.Boolean()) })),
  cache_control: cacheControl,
});
/** A tool that the client's own tool search found. */
const toolReferenceBlock = Type.Object({
  type: Type.Literal('tool_reference'),
  tool_name: name,
});
const resultBlock = Type.Union([
  unknownKind('text', 'image', 'document', 'tool_reference'),
  textBlock,
  imageBlock,
  documentBlock,
  toolReferenceBlock,
]);
const toolResultBlock = Type.Object({
  type: Type.Literal('tool_result'),
  tool_use_id: name,
  content: optional(Type.Union([Type.String(), Type.Array(resultBlock)])),
  is_error: optional(Type.Boolean()),
  cache_control: cacheControl,
});
const toolUseBlock = Type.Object({
  type: Type.Literal('tool_use'),
  id: name,
  name,
  input: jsonObject,
  cache_control: cacheControl,
});
const thinkingBlock = Type.Object({
  type: Type.Literal('thinking'),
  thinking: Type.String(),
  signature: optional(Type.String()),
});
const redactedThinkingBlock = Type.Object({
  type: Type.Literal('redacted_thinking'),
  data: Type.String(),
});
export const contentBlock = Type.Union([
  unknownKind(
    'text',
    'image',
    'document',
    'tool_use',
    'tool_result',
    'thinking',
    'redacted_thinking',
  ),
  textBlock,
  imageBlock,
  documentBlock,
  toolUseBlock,
  toolResultBlock,
  thinkingBlock,
  redactedThinkingBlock,
]);

const content = Type.Union([Type.String(), Type.Array(contentBlock)]);
const systemMessageContent = Type.Union([
  Type.String(),
  Type.Array(Type.Union([unknownKind('text'), textBlock])),
]);
export const message = Type.Union([
  Type.Object({ role: Type.Literal('user'), content }),
  Type.Object({ role: Type.Literal('assistant'), content }),
  // Inside the conversation, from newer clients. It may hold only settings.
  Type.Object({
    role: Type.Literal('system'),
    content: optional(systemMessageContent),
    clear_at: optional(Type.Union([Type.Literal('next_user_message'), Type.Literal('never')])),
    output_config: optional(jsonObject),
  }),
]);

export const customTool = Type.Object({
  type: optional(Type.Literal('custom')),
  name,
  description: optional(Type.String()),
  input_schema: jsonObject,
  strict: optional(Type.Boolean()),
  cache_control: cacheControl,
});
const parallel = { disable_parallel_tool_use: optional(Type.Boolean()) };
const toolChoice = Type.Union([
  Type.Object({ type: Type.Literal('auto'), ...parallel }),
  Type.Object({ type: Type.Literal('any'), ...parallel }),
  Type.Object({ type: Type.Literal('tool'), name, ...parallel }),
  Type.Object({ type: Type.Literal('none') }),
]);

const thinking = Type.Union([
  Type.Object({ type: Type.Literal('enabled'), budget_tokens: Type.Integer({ minimum: 1024 }) }),
  Type.Object({ type: Type.Literal('adaptive') }),
  Type.Object({ type: Type.Literal('between_tools') }),
  Type.Object({ type: Type.Literal('disabled') }),
]);
const outputFormat = optional(
  Type.Object({ type: Type.Literal('json_schema'), schema: jsonObject }),
);
const effort = Type.Union([
  Type.Literal('low'),
  Type.Literal('medium'),
  Type.Literal('high'),
  Type.Literal('xhigh'),
  Type.Literal('max'),
]);

export const requestSchema = Type.Object({
  model: name,
  max_tokens: Type.Integer({ minimum: 1 }),
  messages: Type.Array(message, { minItems: 1 }),
  system: optional(Type.Union([Type.String(), Type.Array(textBlock)])),
  stream: optional(Type.Boolean()),
  temperature: optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: optional(Type.Integer({ minimum: 0 })),
  stop_sequences: optional(Type.Array(Type.String())),
  tools: optional(Type.Array(Type.Union([customTool, unknownKind('custom')]))),
  tool_choice: optional(toolChoice),
  thinking: optional(thinking),
  output_config: optional(Type.Object({ effort: optional(effort), format: outputFormat })),
  /** The older name of `output_config.format`. */
  output_format: outputFormat,
  metadata: optional(Type.Object({ user_id: optional(Type.String()) })),
  cache_control: cacheControl,
});

export type MessagesRequest = Static<typeof requestSchema>;
export type RequestMessage = Static<typeof message>;
export type ContentBlock = Static<typeof contentBlock>;
export type ToolResultBlock = Static<typeof toolResultBlock>;
export type ResultBlock = Static<typeof resultBlock>;
export type DocumentBlock = Static<typeof documentBlock>;
export type ImageBlock = Static<typeof imageBlock>;
export type CustomTool = Static<typeof customTool>;
export type CacheMark = NonNullable<Static<typeof cacheControl>>;
