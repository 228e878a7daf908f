// Azure OpenAI and Azure AI Foundry. A model's id there is the name of a deployment, which the
// operator chose. OpenAI's formats serve the models of all vendors, and Anthropic's serves Claude.
// https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle
import { keyHeader } from '../../lib/key-headers.ts';
import { readAccountFailure } from '../account-failure.ts';
import { anthropic } from '../anthropic/index.ts';
import type { HttpProviderKind } from '../provider.ts';
import { openCredential } from './credential.ts';
import { azurePath } from './path.ts';

/** A deployment of another name needs `api: messages` in its route. */
const claude = /claude/i;

export const azure: HttpProviderKind = {
  kind: 'azure',
  formatsOf: (deployment) => (claude.test(deployment) ? ['messages'] : ['responses', 'chat']),
  path: (format, { model }, place) => {
    if (format === 'messages') return '/anthropic/v1/messages';
    return format === 'responses'
      ? azurePath('responses', place)
      : azurePath('chat/completions', place, model);
  },
  countTokensPath: (_deployment, format) =>
    format === 'messages' ? '/anthropic/v1/messages/count_tokens' : null,
  headers: (apiKey, client) => ({
    // These and `x-api-key` are for Claude; OpenAI's formats do not read them.
    ...anthropic.headers(apiKey, client),
    ...keyHeader('api-key', apiKey),
  }),
  isOpenAi: true,
  customTools: true,
  wantsAccount: true,
  readFailure: readAccountFailure,
  adaptBody: (body, { format }) => (format === 'responses' ? { ...body, store: false } : body),
  openCredential,
};
