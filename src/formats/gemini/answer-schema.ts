// The schema of answers to Gemini clients; the chunks of a stream have the same shape. On the straight
// path Google's own fields pass, so objects may have further fields.
// https://ai.google.dev/api/generate-content#generatecontentresponse
import { Type } from 'typebox';
import { optionalOrNull } from '../../lib/schema-parts.ts';
import { AnyGeminiError } from '../error-schema.ts';
import { content } from './schema.ts';

const count = optionalOrNull(Type.Number({ minimum: 0 }));

export const UsageMetadata = Type.Object({
  promptTokenCount: count,
  cachedContentTokenCount: count,
  cacheWriteTokenCount: count,
  toolUsePromptTokenCount: count,
  candidatesTokenCount: count,
  thoughtsTokenCount: count,
  totalTokenCount: count,
  cost: Type.Number({ minimum: 0, description: 'What this request cost, in US dollars.' }),
});

const candidate = Type.Object({
  content: optionalOrNull(content),
  finishReason: optionalOrNull(Type.String()),
  index: optionalOrNull(Type.Integer({ minimum: 0 })),
  groundingMetadata: optionalOrNull(Type.Object({})),
  urlContextMetadata: optionalOrNull(Type.Object({})),
});

const head = {
  candidates: optionalOrNull(Type.Array(candidate)),
  promptFeedback: optionalOrNull(Type.Object({})),
  modelVersion: Type.String(),
  responseId: optionalOrNull(Type.String()),
};

export const AnswerSchema = Type.Object({ ...head, usageMetadata: UsageMetadata });

const { cost, ...counts } = UsageMetadata.properties;

export const ChunkSchema = Type.Object({
  ...head,
  /** A chunk that only keeps the stream open has none. */
  modelVersion: optionalOrNull(head.modelVersion),
  usageMetadata: optionalOrNull(Type.Object({ ...counts, cost: optionalOrNull(cost) })),
});

export const StreamEventSchema = Type.Union([ChunkSchema, AnyGeminiError]);

export const CountSchema = Type.Object({
  totalTokens: Type.Integer(),
  promptTokensDetails: Type.Array(
    Type.Object({ modality: Type.String(), tokenCount: Type.Integer() }),
  ),
});
