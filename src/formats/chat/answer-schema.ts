// Schemas of what Chat Completions clients receive: whole answers and stream events. On the
// straight path the provider's own fields pass, so objects are open.
// https://platform.openai.com/docs/api-reference/chat/object
import { Type } from 'typebox';
import { ChatErrorFields } from '../error-schema.ts';
import { optional, openUnion } from '../schema-parts.ts';

const count = optional(Type.Number({ minimum: 0 }));

const usageFields = {
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: optional(Type.Object({ cached_tokens: count })),
  completion_tokens_details: optional(Type.Object({ reasoning_tokens: count })),
  cost: Type.Number({ minimum: 0, description: 'What this request cost, in US dollars.' }),
};

export const Usage = Type.Object(usageFields);

const functionFields = { name: Type.String(), arguments: Type.String() };

export const ToolCall = openUnion(
  Type.Object({
    id: Type.String(),
    type: Type.Literal('function'),
    function: Type.Object(functionFields),
  }),
  Type.Object({
    id: Type.String(),
    type: Type.Literal('custom'),
    custom: Type.Object({ name: Type.String(), input: Type.String() }),
  }),
);

/** Conventions of other hosts: reasoning as text, and as signed blocks to be sent back. */
const reasoningFields = {
  reasoning_content: optional(Type.String({ description: 'The reasoning, where it is shown.' })),
  reasoning_details: optional(
    Type.Array(Type.Object({}), { description: 'Send it back unchanged in the next turn.' }),
  ),
};

/** Some hosts leave these out, or have words of their own. */
const head = {
  id: optional(Type.String()),
  object: optional(Type.String()),
  created: optional(Type.Integer({ description: 'Unix seconds.' })),
};

/** Mistral sends blocks of text and thinking. */
const content = optional(Type.Union([Type.String(), Type.Array(Type.Object({}))]));

export const AnswerMessage = Type.Object({
  role: optional(Type.Literal('assistant')),
  content,
  refusal: optional(Type.String()),
  ...reasoningFields,
  tool_calls: optional(Type.Array(ToolCall)),
  annotations: optional(Type.Array(Type.Object({}))),
});

export const AnswerSchema = Type.Object({
  ...head,
  model: Type.String(),
  choices: Type.Array(
    Type.Object({
      index: Type.Integer(),
      message: AnswerMessage,
      finish_reason: optional(Type.String()),
    }),
  ),
  usage: Usage,
});

const Delta = Type.Object({
  role: optional(Type.String()),
  content,
  refusal: optional(Type.String()),
  ...reasoningFields,
  tool_calls: optional(
    Type.Array(
      Type.Object({
        index: Type.Integer(),
        id: optional(Type.String()),
        type: optional(Type.String()),
        function: optional(
          Type.Object({ name: optional(Type.String()), arguments: optional(Type.String()) }),
        ),
        custom: optional(
          Type.Object({ name: optional(Type.String()), input: optional(Type.String()) }),
        ),
      }),
    ),
  ),
});

export const Chunk = Type.Object({
  ...head,
  model: Type.String(),
  choices: Type.Array(
    Type.Object({
      index: Type.Integer(),
      delta: Delta,
      finish_reason: optional(Type.String()),
    }),
  ),
  usage: optional(Usage),
});

/** A chunk with an error ends the stream, without `[DONE]`. */
export const ErrorChunk = Type.Object({ error: ChatErrorFields });

export const StreamEventSchema = Type.Union([Chunk, ErrorChunk]);
