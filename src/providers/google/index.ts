// Google's Gemini API. The model and whether to stream stand in the path, and failures of the operator's account look like the caller's.
import type { HttpProviderKind } from '../provider.ts';
import { readFailure } from './failure.ts';

export const google: HttpProviderKind = {
  kind: 'google',
  transport: 'http',
  defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  formats: ['gemini'],
  path: (_format, { model, stream }) =>
    `/v1beta/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  headers: (apiKey): Record<string, string> => (apiKey === null ? {} : { 'x-goog-api-key': apiKey }),
  maxTokensField: 'max_tokens',
  readFailure,
};
