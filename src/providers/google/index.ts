// Google's Gemini API. The path names the model and whether to stream. Failures of the operator's
// account look like the client's.
import { keyHeader } from '../../lib/key-headers.ts';
import type { HttpProviderKind } from '../provider.ts';
import { readFailure } from './failure.ts';

export const google: HttpProviderKind = {
  kind: 'google',
  path: (_format, { model, stream }) =>
    `/v1beta/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  countTokensPath: (model) => `/v1beta/models/${encodeURIComponent(model)}:countTokens`,
  headers: (apiKey) => keyHeader('x-goog-api-key', apiKey),
  readFailure,
};
