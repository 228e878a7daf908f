// The schemas of requests, as the reference shows them.
import { Type } from 'typebox';
import { EmbeddingRequestSchema } from '../domain/tasks/embedding-request.ts';
import { BatchEmbedContentsSchema, EmbedContentSchema } from '../domain/tasks/gemini-embedding.ts';
import { ImageRequestSchema } from '../domain/images/image-request.ts';
import { ModerationRequestSchema } from '../domain/tasks/moderation-request.ts';
import { RerankRequestSchema } from '../domain/tasks/rerank-request.ts';
import { SearchRequestSchema } from '../domain/search/search-request.ts';
import { SpeechRequestSchema } from '../domain/tasks/speech-request.ts';
import { TranscriptionRequestSchema } from '../domain/tasks/transcription-request.ts';
import * as chat from '../formats/chat/schema.ts';
import { countRequestSchema } from '../formats/messages/count-tokens.ts';
import { CompletionRequestSchema } from '../formats/chat/completions-schema.ts';
import * as gemini from '../formats/gemini/schema.ts';
import * as messages from '../formats/messages/schema.ts';
import * as responses from '../formats/responses/schema.ts';

/** As `RequestSchema`, but `input` is required: `parseRequest` refuses a request without it. */
const responseRequest = Type.Object({
  ...responses.RequestSchema.properties,
  input: Type.Union([Type.String(), Type.Array(responses.inputItem, { minItems: 1 })]),
});

export const requests = {
  responses: responseRequest,
  chat: chat.RequestSchema,
  completions: CompletionRequestSchema,
  messages: messages.requestSchema,
  count: countRequestSchema,
  gemini: gemini.requestSchema,
  geminiEmbedding: EmbedContentSchema,
  geminiEmbeddings: BatchEmbedContentsSchema,
  embeddings: EmbeddingRequestSchema,
  speech: SpeechRequestSchema,
  rerank: RerankRequestSchema,
  moderations: ModerationRequestSchema,
  transcription: TranscriptionRequestSchema,
  images: ImageRequestSchema,
  search: SearchRequestSchema,
};
