// OpenAI itself, with Responses and Chat.
import { bearer } from '../../lib/key-headers.ts';
import { readOpenAiFailure } from '../account-failure.ts';
import type { HttpProviderKind } from '../provider.ts';

export const openai: HttpProviderKind = {
  kind: 'openai',
  path: (format) => (format === 'responses' ? '/responses' : '/chat/completions'),
  countTokensPath: (_model, format) => (format === 'responses' ? '/responses/input_tokens' : null),
  headers: bearer,
  isOpenAi: true,
  customTools: true,
  wantsAccount: true,
  readFailure: readOpenAiFailure,
  adaptBody: (body) => ({ ...body, store: false }),
};
