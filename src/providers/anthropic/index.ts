// Anthropic's API. The version is pinned, because later ones refuse fields that clients of this
// gateway send (temperature, top_p, top_k).
import { keyHeader } from '../../lib/key-headers.ts';
import { readAccountFailure } from '../account-failure.ts';
import type { HttpProviderKind } from '../provider.ts';
import { allowedBetas } from '../../formats/messages/betas.ts';

const apiVersion = '2023-06-01';

export const anthropic: HttpProviderKind = {
  kind: 'anthropic',
  path: () => '/v1/messages',
  countTokensPath: () => '/v1/messages/count_tokens',
  headers: (apiKey, client) => {
    const betas = allowedBetas(client['anthropic-beta']);
    return {
      'anthropic-version': apiVersion,
      ...keyHeader('x-api-key', apiKey),
      ...(betas === '' ? {} : { 'anthropic-beta': betas }),
    };
  },
  wantsAccount: true,
  readFailure: readAccountFailure,
};
