// OpenAI's form of embeddings, and the hosts that speak it with other words.
// https://platform.openai.com/docs/api-reference/embeddings
import { readTokenCount } from '../../canonical/usage.ts';
import type { EmbeddingPurpose } from '../../terms/embedding.ts';
import { type JsonObject, objectOf } from '../../lib/json.ts';
import type { EmbeddingWishes } from '../../terms/host-wishes.ts';
import type { EmbeddingHost } from './host.ts';
import { readIndexed, readInt8, readVector } from './vectors.ts';

/** OpenAI's limits of one call. */
const openAiItemsMax = 2_048;
const openAiTokensMax = 250_000;

export const openAi = openAiForm({ takesTokens: true });

/** Returns a host that wants what is in `wishes` otherwise than OpenAI. */
export function openAiForm({
  path = '/embeddings',
  itemsMax = openAiItemsMax,
  tokensMax = openAiTokensMax,
  takesTokens = false,
  sizeField = 'dimensions',
  encodingField = 'encoding_format',
  purposes,
  isInt8 = false,
  takesUser = true,
}: EmbeddingWishes): EmbeddingHost {
  return {
    itemsMax,
    tokensMax,
    takesTokens,
    ignores: [
      ...(purposes ? [] : ['input_type' as const]),
      ...(takesUser ? [] : ['user' as const]),
    ],
    write: ({ upstreamModel, inputs, dimensions, encoding, purpose, user }) => ({
      path,
      body: {
        model: upstreamModel,
        input: inputs,
        ...(dimensions !== null && { [sizeField]: dimensions }),
        ...(encodingField !== null && { [encodingField]: encoding }),
        ...writePurpose(purpose, purposes),
        ...(user !== null && takesUser && { user }),
      },
    }),
    read({ data, usage }) {
      const vectors = readIndexed(data, isInt8 ? readInt8 : readVector);
      const { prompt_tokens: prompt, total_tokens: total } = objectOf(usage);
      return vectors && { vectors, tokens: readTokenCount(prompt) ?? readTokenCount(total) };
    },
  };
}

function writePurpose(
  purpose: EmbeddingPurpose | null,
  purposes: EmbeddingWishes['purposes'],
): JsonObject {
  const named = purpose ?? purposes?.usual;
  const word = named && purposes ? purposes.words[named] : null;
  return purposes && word ? { [purposes.field]: word } : {};
}
