// Schemas of OpenAI's older Completions: requests, whole answers and stream events.
// https://platform.openai.com/docs/api-reference/completions
import { Type } from 'typebox';
import { optionalOrNull } from '../../lib/schema-parts.ts';
import { ErrorChunk, Usage } from './answer-schema.ts';
import { RequestSchema as Chat } from './schema.ts';

export const ownFields = {
  max_tokens: optionalOrNull(Type.Integer({ minimum: 1 })),
  logprobs: optionalOrNull(
    Type.Integer({
      minimum: 0,
      maximum: 5,
      description: 'The number of likely tokens to show at each place.',
    }),
  ),
  echo: optionalOrNull(Type.Boolean()),
  suffix: optionalOrNull(Type.String()),
  best_of: optionalOrNull(Type.Integer({ minimum: 1 })),
};

/** Fields that Chat has under the same name. */
const shared = (
  'model temperature top_p stream stream_options n stop seed user frequency_penalty presence_penalty logit_bias ' +
  'reasoning_effort service_tier safety_identifier prompt_cache_key verbosity metadata'
).split(' ') as (keyof typeof Chat.properties)[];

export const sharedFields = Object.fromEntries(shared.map((name) => [name, Chat.properties[name]]));

const prompt = Type.Union([Type.String(), Type.Array(Type.Integer({ minimum: 0 }))]);

export const CompletionRequestSchema = Type.Object({
  ...sharedFields,
  ...ownFields,
  prompt: Type.Union([prompt, Type.Array(prompt)], {
    description:
      'What to continue, or to ask. Several prompts and tokens are for providers that continue prompts.',
  }),
});

const choice = {
  index: Type.Integer(),
  text: Type.String(),
  logprobs: optionalOrNull(
    Type.Object({
      tokens: Type.Array(Type.String()),
      // The first token of a prompt has none.
      token_logprobs: Type.Array(Type.Union([Type.Number(), Type.Null()])),
      top_logprobs: Type.Union([
        Type.Array(Type.Union([Type.Record(Type.String(), Type.Number()), Type.Null()])),
        Type.Null(),
      ]),
      text_offset: Type.Array(Type.Integer()),
    }),
  ),
  finish_reason: optionalOrNull(Type.String()),
};

const head = {
  id: Type.String(),
  object: Type.Literal('text_completion'),
  created: Type.Integer({ description: 'Unix seconds.' }),
  model: Type.String(),
  choices: Type.Array(Type.Object(choice)),
};

export const CompletionSchema = Type.Object({ ...head, usage: Usage });
const CompletionChunk = Type.Object({ ...head, usage: optionalOrNull(Usage) });
export const CompletionEventSchema = Type.Union([CompletionChunk, ErrorChunk]);
