// For tests: a request that asks for nothing, to be filled in.
import type { CanonicalRequest } from './request.ts';

export const emptyRequest: CanonicalRequest = {
  system: [],
  messages: [],
  tools: [],
  toolChoice: null,
  parallelToolCalls: null,
  maxOutputTokens: null,
  temperature: null,
  topP: null,
  topK: null,
  seed: null,
  frequencyPenalty: null,
  presencePenalty: null,
  stopSequences: [],
  reasoning: null,
  outputFormat: { type: 'text' },
  endUser: null,
  metadata: null,
  promptCacheKey: null,
};
