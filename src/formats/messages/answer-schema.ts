// What Messages clients receive: the whole message, and the events of a stream. On the straight
// path Anthropic's own fields, blocks and events pass, so objects and unions are open.
// https://platform.claude.com/docs/en/api/messages
import { Type } from 'typebox';
import { AnyMessagesError } from '../error-schema.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';
import { ofKind, openUnion } from '../schema-parts.ts';

const count = optionalOrNull(Type.Number({ minimum: 0 }));
const cost = Type.Number({ minimum: 0, description: 'What this request cost, in US dollars.' });
const counts = {
  input_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens: count,
};

export const Usage = Type.Object({ ...counts, cost });

export const AnswerBlock = openUnion(
  ofKind('text', { text: Type.String(), citations: optionalOrNull(Type.Array(Type.Object({}))) }),
  ofKind('thinking', {
    thinking: Type.String(),
    signature: optionalOrNull(Type.String({ description: 'Send it back unchanged.' })),
  }),
  ofKind('redacted_thinking', { data: Type.String() }),
  ofKind('tool_use', { id: Type.String(), name: Type.String(), input: Type.Object({}) }),
);

const head = {
  id: Type.String(),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: Type.String(),
  content: Type.Array(AnswerBlock),
  stop_sequence: optionalOrNull(Type.String()),
};

export const AnswerSchema = Type.Object({
  ...head,
  stop_reason: Type.Union([Type.String(), Type.Null()]),
  usage: Usage,
});

const index = Type.Integer({ minimum: 0 });

const Delta = openUnion(
  ofKind('text_delta', { text: Type.String() }),
  ofKind('input_json_delta', { partial_json: Type.String() }),
  ofKind('thinking_delta', { thinking: Type.String() }),
  ofKind('signature_delta', { signature: Type.String() }),
);

/** The events of a stream by `type`, which is also on the `event:` line. */
const streamEvents = {
  message_start: ofKind('message_start', {
    message: Type.Object({
      ...head,
      stop_reason: optionalOrNull(Type.String()),
      usage: optionalOrNull(Type.Object(counts)),
    }),
  }),
  content_block_start: ofKind('content_block_start', { index, content_block: AnswerBlock }),
  content_block_delta: ofKind('content_block_delta', { index, delta: Delta }),
  content_block_stop: ofKind('content_block_stop', { index }),
  message_delta: ofKind('message_delta', {
    delta: Type.Object({
      stop_reason: optionalOrNull(Type.String()),
      stop_sequence: optionalOrNull(Type.String()),
    }),
    usage: optionalOrNull(Type.Object({ ...counts, cost: Type.Optional(cost) })),
  }),
  message_stop: ofKind('message_stop', {}),
  ping: ofKind('ping', {}),
  error: AnyMessagesError,
} as const;

export const StreamEventSchema = openUnion(...Object.values(streamEvents));
