// Schemas of what Chat Completions clients receive: whole answers and stream events. On the
// straight path the provider's own fields pass, so objects are open.
// https://platform.openai.com/docs/api-reference/chat/object
import { Type } from 'typebox';
import { ChatErrorFields } from '../error-schema.ts';
import { optionalOrNull } from '../../lib/schema-parts.ts';
import { openUnion } from '../schema-parts.ts';

const count = optionalOrNull(Type.Number({ minimum: 0 }));

const usageFields = {
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: optionalOrNull(Type.Object({ cached_tokens: count })),
  completion_tokens_details: optionalOrNull(Type.Object({ reasoning_tokens: count })),
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
  reasoning_content: optionalOrNull(
    Type.String({ description: 'The reasoning, where it is shown.' }),
  ),
  reasoning_details: optionalOrNull(
    Type.Array(Type.Object({}), { description: 'Send it back unchanged in the next turn.' }),
  ),
};

/** Some hosts leave these out, or have words of their own. */
const head = {
  id: optionalOrNull(Type.String()),
  object: optionalOrNull(Type.String()),
  created: optionalOrNull(Type.Integer({ description: 'Unix seconds.' })),
};

/** Mistral sends blocks of text and thinking. */
const content = optionalOrNull(Type.Union([Type.String(), Type.Array(Type.Object({}))]));

export const AnswerMessage = Type.Object({
  role: optionalOrNull(Type.Literal('assistant')),
  content,
  refusal: optionalOrNull(Type.String()),
  ...reasoningFields,
  tool_calls: optionalOrNull(Type.Array(ToolCall)),
  annotations: optionalOrNull(Type.Array(Type.Object({}))),
});

export const AnswerSchema = Type.Object({
  ...head,
  model: Type.String(),
  choices: Type.Array(
    Type.Object({
      index: Type.Integer(),
      message: AnswerMessage,
      finish_reason: optionalOrNull(Type.String()),
    }),
  ),
  usage: Usage,
});

const Delta = Type.Object({
  role: optionalOrNull(Type.String()),
  content,
  refusal: optionalOrNull(Type.String()),
  ...reasoningFields,
  tool_calls: optionalOrNull(
    Type.Array(
      Type.Object({
        index: Type.Integer(),
        id: optionalOrNull(Type.String()),
        type: optionalOrNull(Type.String()),
        function: optionalOrNull(
          Type.Object({
            name: optionalOrNull(Type.String()),
            arguments: optionalOrNull(Type.String()),
          }),
        ),
        custom: optionalOrNull(
          Type.Object({
            name: optionalOrNull(Type.String()),
            input: optionalOrNull(Type.String()),
          }),
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
      finish_reason: optionalOrNull(Type.String()),
    }),
  ),
  usage: optionalOrNull(Usage),
});

/** A chunk with an error ends the stream, without `[DONE]`. */
export const ErrorChunk = Type.Object({ error: ChatErrorFields });

export const StreamEventSchema = Type.Union([Chunk, ErrorChunk]);
