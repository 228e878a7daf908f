// What Messages clients receive: the whole message, and the events of a stream. On the straight
// path Anthropic's own fields, blocks and events pass, so objects and unions are open.
// https://platform.claude.com/docs/en/api/messages
import { Type } from 'typebox';
import { AnyMessagesError } from '../error-schema.ts';
import { optional, unknownKind } from '../schema-parts.ts';

const count = optional(Type.Number({ minimum: 0 }));
const cost = Type.Number({ minimum: 0, description: 'What this request cost, in US dollars.' });
const counts = {
  input_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens: count,
};

export const Usage = Type.Object({ ...counts, cost });

export const AnswerBlock = Type.Union([
  Type.Object({
    type: Type.Literal('text'),
    text: Type.String(),
    citations: optional(Type.Array(Type.Object({}))),
  }),
  Type.Object({
    type: Type.Literal('thinking'),
    thinking: Type.String(),
    signature: optional(Type.String({ description: 'Send it back unchanged.' })),
  }),
  Type.Object({ type: Type.Literal('redacted_thinking'), data: Type.String() }),
  Type.Object({
    type: Type.Literal('tool_use'),
    id: Type.String(),
    name: Type.String(),
    input: Type.Object({}),
  }),
  unknownKind('text', 'thinking', 'redacted_thinking', 'tool_use'),
]);

const head = {
  id: Type.String(),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: Type.String(),
  content: Type.Array(AnswerBlock),
  stop_sequence: optional(Type.String()),
};

export const AnswerSchema = Type.Object({
  ...head,
  stop_reason: Type.Union([Type.String(), Type.Null()]),
  usage: Usage,
});

const index = Type.Integer({ minimum: 0 });

const Delta = Type.Union([
  Type.Object({ type: Type.Literal('text_delta'), text: Type.String() }),
  Type.Object({ type: Type.Literal('input_json_delta'), partial_json: Type.String() }),
  Type.Object({ type: Type.Literal('thinking_delta'), thinking: Type.String() }),
  Type.Object({ type: Type.Literal('signature_delta'), signature: Type.String() }),
  unknownKind('text_delta', 'input_json_delta', 'thinking_delta', 'signature_delta'),
]);

/** The events of a stream by `type`, which is also on the `event:` line. */
const streamEvents = {
  message_start: Type.Object({
    type: Type.Literal('message_start'),
    message: Type.Object({
      ...head,
      stop_reason: optional(Type.String()),
      usage: optional(Type.Object(counts)),
    }),
  }),
  content_block_start: Type.Object({
    type: Type.Literal('content_block_start'),
    index,
    content_block: AnswerBlock,
  }),
  content_block_delta: Type.Object({
    type: Type.Literal('content_block_delta'),
    index,
    delta: Delta,
  }),
  content_block_stop: Type.Object({ type: Type.Literal('content_block_stop'), index }),
  message_delta: Type.Object({
    type: Type.Literal('message_delta'),
    delta: Type.Object({
      stop_reason: optional(Type.String()),
      stop_sequence: optional(Type.String()),
    }),
    usage: optional(Type.Object({ ...counts, cost: Type.Optional(cost) })),
  }),
  message_stop: Type.Object({ type: Type.Literal('message_stop') }),
  ping: Type.Object({ type: Type.Literal('ping') }),
  error: AnyMessagesError,
} as const;

export const StreamEventSchema = Type.Union([
  ...Object.values(streamEvents),
  unknownKind(...Object.keys(streamEvents)),
]);
