// A canonical request with empty fields. Tests fill in what they need.
import type { CanonicalRequest } from '../../../src/canonical/request.ts';

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
