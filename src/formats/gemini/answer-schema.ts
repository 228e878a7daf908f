// The schema of answers to Gemini clients; the chunks of a stream have the same shape. On the straight
// path Google's own fields pass, so objects may have further fields.
// https://ai.google.dev/api/generate-content#generatecontentresponse
import { Type } from 'typebox';
import { AnyGeminiError } from '../error-schema.ts';
import { optional } from '../schema-parts.ts';
import { content } from './schema.ts';

const count = optional(Type.Number({ minimum: 0 }));

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
  content: optional(content),
  finishReason: optional(Type.String()),
  index: optional(Type.Integer({ minimum: 0 })),
  groundingMetadata: optional(Type.Object({})),
  urlContextMetadata: optional(Type.Object({})),
});

const head = {
  candidates: optional(Type.Array(candidate)),
  promptFeedback: optional(Type.Object({})),
  modelVersion: Type.String(),
  responseId: optional(Type.String()),
};

export const AnswerSchema = Type.Object({ ...head, usageMetadata: UsageMetadata });

const { cost, ...counts } = UsageMetadata.properties;

export const ChunkSchema = Type.Object({
  ...head,
  /** A chunk that only keeps the stream open has none. */
  modelVersion: optional(head.modelVersion),
  usageMetadata: optional(Type.Object({ ...counts, cost: optional(cost) })),
});

export const StreamEventSchema = Type.Union([ChunkSchema, AnyGeminiError]);

export const CountSchema = Type.Object({
  totalTokens: Type.Integer(),
  promptTokensDetails: Type.Array(
    Type.Object({ modality: Type.String(), tokenCount: Type.Integer() }),
  ),
});
