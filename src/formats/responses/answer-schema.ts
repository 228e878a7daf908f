// What Responses clients receive: the response object, and the events of a stream. On the straight
// path OpenAI's own fields, items and events pass, so objects and unions are open.
// https://platform.openai.com/docs/api-reference/responses/object
import { Type } from 'typebox';
import { ErrorFields } from '../error-schema.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';
import { ofKind, openUnion } from '../schema-parts.ts';

const count = optionalOrNull(Type.Number({ minimum: 0 }));
const text = Type.String();
const status = optionalOrNull(Type.String());

export const Usage = Type.Object({
  input_tokens: count,
  input_tokens_details: optionalOrNull(
    Type.Object({ cached_tokens: count, cache_write_tokens: count }),
  ),
  output_tokens: count,
  output_tokens_details: optionalOrNull(Type.Object({ reasoning_tokens: count })),
  total_tokens: count,
  cost: Type.Number({ minimum: 0, description: 'What this request cost, in US dollars.' }),
});

export const AnswerPart = openUnion(
  ofKind('output_text', { text, annotations: optionalOrNull(Type.Array(Type.Object({}))) }),
  ofKind('refusal', { refusal: text }),
  ofKind('reasoning_text', { text }),
  ofKind('summary_text', { text }),
);

export const OutputItem = openUnion(
  ofKind('message', {
    id: optionalOrNull(text),
    role: Type.Literal('assistant'),
    status,
    content: Type.Array(AnswerPart),
  }),
  ofKind('function_call', {
    id: optionalOrNull(text),
    call_id: optionalOrNull(text),
    name: text,
    namespace: optionalOrNull(text),
    /** Some hosts send an object. */
    arguments: Type.Union([text, Type.Object({})]),
    status,
  }),
  ofKind('custom_tool_call', {
    id: optionalOrNull(text),
    call_id: text,
    name: text,
    namespace: optionalOrNull(text),
    input: text,
    status,
  }),
  ofKind('reasoning', {
    id: optionalOrNull(text),
    summary: optionalOrNull(Type.Array(AnswerPart)),
    content: optionalOrNull(Type.Array(AnswerPart)),
    encrypted_content: optionalOrNull(text),
  }),
  ofKind('tool_search_call', {
    id: optionalOrNull(text),
    call_id: optionalOrNull(text),
    arguments: Type.Unknown(),
    status,
  }),
);

const responseFields = {
  id: text,
  object: optionalOrNull(Type.Literal('response')),
  created_at: optionalOrNull(Type.Number({ description: 'Unix seconds.' })),
  model: text,
  output: Type.Array(OutputItem),
  error: optionalOrNull(Type.Object({ code: optionalOrNull(text), message: text })),
  incomplete_details: optionalOrNull(Type.Object({ reason: optionalOrNull(text) })),
  warnings: Type.Optional(
    Type.Array(Type.Object({ code: optionalOrNull(text), message: optionalOrNull(text) }), {
      description: 'What was not done as requested.',
    }),
  ),
};

/** An answer that ended: `status` says how. */
export const AnswerSchema = Type.Object({
  ...responseFields,
  status: Type.Enum(['completed', 'incomplete']),
  usage: Usage,
});

/** A compacted conversation, which is the input of the next request. */
export const CompactionSchema = Type.Object({
  id: text,
  object: Type.Literal('response.compaction'),
  created_at: Type.Number({ description: 'Unix seconds.' }),
  output: Type.Array(Type.Object({ type: text, encrypted_content: optionalOrNull(text) })),
  usage: Usage,
});

/** The response object of a stream's event. It has its cost once it has ended. */
export const StreamedResponse = Type.Object({
  ...responseFields,
  status: optionalOrNull(Type.Enum(['in_progress', 'completed', 'incomplete', 'failed', 'queued'])),
  usage: optionalOrNull(Type.Object({ input_tokens: count, output_tokens: count })),
});

const position = Type.Integer({ minimum: 0 });
const onItem = { output_index: position, item: OutputItem };
const inItem = { item_id: optionalOrNull(text), output_index: position };
const inPart = { ...inItem, content_index: position };
const inSummary = { ...inItem, summary_index: position };

const fields = {
  'response.created': { response: StreamedResponse },
  'response.in_progress': { response: StreamedResponse },
  'response.completed': { response: AnswerSchema },
  'response.incomplete': { response: AnswerSchema },
  'response.failed': { response: StreamedResponse },
  'response.output_item.added': onItem,
  'response.output_item.done': onItem,
  'response.content_part.added': { ...inPart, part: AnswerPart },
  'response.content_part.done': { ...inPart, part: AnswerPart },
  'response.output_text.delta': { ...inPart, delta: text },
  'response.output_text.done': { ...inPart, text },
  'response.output_text.annotation.added': { ...inPart, annotation: Type.Object({}) },
  'response.refusal.delta': { ...inPart, delta: text },
  'response.refusal.done': { ...inPart, refusal: text },
  'response.reasoning_text.delta': { ...inPart, delta: text },
  'response.reasoning_text.done': { ...inPart, text },
  'response.reasoning_summary_part.added': { ...inSummary, part: AnswerPart },
  'response.reasoning_summary_part.done': { ...inSummary, part: AnswerPart },
  'response.reasoning_summary_text.delta': { ...inSummary, delta: text },
  'response.reasoning_summary_text.done': { ...inSummary, text },
  'response.function_call_arguments.delta': { ...inItem, delta: text },
  'response.function_call_arguments.done': { ...inItem, arguments: text },
  'response.custom_tool_call_input.delta': { ...inItem, delta: text },
  'response.custom_tool_call_input.done': { ...inItem, input: text },
  /** Flat and nested: clients of both kinds exist. `response.failed` follows. */
  error: { code: text, message: text, param: optionalOrNull(text), error: ErrorFields },
} as const;

/** The events of a stream by `type`, which is also on the `event:` line. */
const streamEvents = Object.fromEntries(
  Object.entries(fields).map(([type, own]) => [
    type,
    Type.Object({ type: Type.Literal(type), sequence_number: position, ...own }),
  ]),
);

export const StreamEventSchema = openUnion(...Object.values(streamEvents));
