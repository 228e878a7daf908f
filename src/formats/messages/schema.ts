// The schema of a Messages request. Unknown fields, blocks, sources and typed tools pass here:
// later checks decide about them. The official types are those of the npm package
// `@anthropic-ai/sdk` (resources/beta/messages/messages.d.ts, read 2026-11-20).
import { Type, type Static, type TSchema } from 'typebox';
import { addressText } from '../../lib/address-text.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';
import { unknownKind, ofKind, openUnion, words } from '../schema-parts.ts';

const name = Type.String({ minLength: 1 });
const jsonObject = Type.Record(Type.String(), Type.Unknown());
const cacheControl = optionalOrNull(
  ofKind('ephemeral', { ttl: optionalOrNull(words('5m', '1h')) }),
);

/** Blocks of these kinds, and of any other. A missing `type` is reported as such. */
function blockUnion<Kinds extends TSchema[]>(...kinds: [...Kinds]) {
  return Type.Union([unknownKind(kinds), ...kinds]);
}

const base64Source = ofKind('base64', { media_type: Type.String(), data: Type.String() });
const urlSource = ofKind('url', { url: addressText({ minLength: 1 }) });
const plainTextSource = ofKind('text', {
  media_type: optionalOrNull(Type.String()),
  data: Type.String(),
});
const contentSource = ofKind('content', {
  content: Type.Union([Type.String(), Type.Array(Type.Unknown())]),
});
const imageSource = blockUnion(base64Source, urlSource);
const documentSource = blockUnion(base64Source, urlSource, plainTextSource, contentSource);

const textBlock = ofKind('text', {
  text: Type.String(),
  citations: optionalOrNull(Type.Array(Type.Unknown())),
  cache_control: cacheControl,
});
const imageBlock = ofKind('image', {
  source: imageSource,
  transformations: optionalOrNull(jsonObject),
  cache_control: cacheControl,
});
const documentBlock = ofKind('document', {
  source: documentSource,
  title: optionalOrNull(Type.String()),
  context: optionalOrNull(Type.String()),
  citations: optionalOrNull(Type.Object({ enabled: optionalOrNull(Type.Boolean()) })),
  cache_control: cacheControl,
});
const searchResultBlock = ofKind('search_result', {
  source: Type.String({ description: 'Where it was found: an address or another name.' }),
  title: Type.String(),
  content: Type.Array(textBlock),
  citations: optionalOrNull(Type.Object({ enabled: optionalOrNull(Type.Boolean()) })),
  cache_control: cacheControl,
});
/** A tool that the client's own tool search found. */
const toolReferenceBlock = ofKind('tool_reference', { tool_name: name });
const resultBlock = blockUnion(
  textBlock,
  imageBlock,
  documentBlock,
  searchResultBlock,
  toolReferenceBlock,
);
const toolResultBlock = ofKind('tool_result', {
  tool_use_id: name,
  content: optionalOrNull(Type.Union([Type.String(), Type.Array(resultBlock)])),
  is_error: optionalOrNull(Type.Boolean()),
  cache_control: cacheControl,
});
const toolUseBlock = ofKind('tool_use', {
  id: name,
  name,
  input: jsonObject,
  cache_control: cacheControl,
});
const thinkingBlock = ofKind('thinking', {
  thinking: Type.String(),
  signature: optionalOrNull(Type.String()),
});
const redactedThinkingBlock = ofKind('redacted_thinking', { data: Type.String() });
export const contentBlock = blockUnion(
  textBlock,
  imageBlock,
  documentBlock,
  searchResultBlock,
  toolUseBlock,
  toolResultBlock,
  thinkingBlock,
  redactedThinkingBlock,
);

export const customTool = Type.Object({
  type: optionalOrNull(Type.Literal('custom')),
  name,
  description: optionalOrNull(Type.String()),
  input_schema: jsonObject,
  strict: optionalOrNull(Type.Boolean()),
  cache_control: cacheControl,
});
const toolAddition = ofKind('tool_addition', {
  tool: Type.Object({ definition: optionalOrNull(openUnion(customTool)) }),
  cache_control: cacheControl,
});
/** No part of the static type: tool-changes.ts reads it. */
const toolAdditionBlock = Type.Unsafe<never>(toolAddition);

const content = Type.Union([Type.String(), Type.Array(contentBlock)]);
const systemMessageContent = Type.Union([
  Type.String(),
  Type.Array(blockUnion(textBlock, toolAdditionBlock)),
]);
export const message = Type.Union([
  Type.Object({ role: Type.Literal('user'), content }),
  Type.Object({ role: Type.Literal('assistant'), content }),
  // Inside the conversation, from newer clients. It may hold only settings.
  Type.Object({
    role: Type.Literal('system'),
    content: optionalOrNull(systemMessageContent),
    clear_at: optionalOrNull(words('next_user_message', 'never')),
    output_config: optionalOrNull(jsonObject),
  }),
]);

const parallel = { disable_parallel_tool_use: optionalOrNull(Type.Boolean()) };
const toolChoice = Type.Union([
  ofKind('auto', { ...parallel }),
  ofKind('any', { ...parallel }),
  ofKind('tool', { name, ...parallel }),
  ofKind('none', {}),
]);

const thinking = Type.Union([
  ofKind('enabled', { budget_tokens: Type.Integer({ minimum: 1024 }) }),
  ofKind('adaptive', {}),
  ofKind('between_tools', {}),
  ofKind('disabled', {}),
]);
const outputFormat = optionalOrNull(ofKind('json_schema', { schema: jsonObject }));
const effort = words('low', 'medium', 'high', 'xhigh', 'max');

export const requestSchema = Type.Object({
  model: name,
  /** 0 fills the prompt cache without an answer. */
  max_tokens: Type.Integer({ minimum: 0 }),
  messages: Type.Array(message, { minItems: 1 }),
  system: optionalOrNull(Type.Union([Type.String(), Type.Array(textBlock)])),
  stream: optionalOrNull(Type.Boolean()),
  temperature: optionalOrNull(Type.Number({ minimum: 0, maximum: 1 })),
  top_p: optionalOrNull(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: optionalOrNull(Type.Integer({ minimum: 0 })),
  stop_sequences: optionalOrNull(Type.Array(Type.String())),
  tools: optionalOrNull(Type.Array(openUnion(customTool))),
  tool_choice: optionalOrNull(toolChoice),
  thinking: optionalOrNull(thinking),
  output_config: optionalOrNull(
    Type.Object({ effort: optionalOrNull(effort), format: outputFormat }),
  ),
  /** The older name of `output_config.format`. */
  output_format: outputFormat,
  metadata: optionalOrNull(Type.Object({ user_id: optionalOrNull(Type.String()) })),
  cache_control: cacheControl,
});

export type MessagesRequest = Static<typeof requestSchema>;
export type RequestMessage = Static<typeof message>;
export type ContentBlock = Static<typeof contentBlock>;
export type ToolResultBlock = Static<typeof toolResultBlock>;
export type ResultBlock = Static<typeof resultBlock>;
export type DocumentBlock = Static<typeof documentBlock>;
export type ImageBlock = Static<typeof imageBlock>;
export type SearchResultBlock = Static<typeof searchResultBlock>;
export type CustomTool = Static<typeof customTool>;
export type CacheMark = NonNullable<Static<typeof cacheControl>>;
