// Which host makes embeddings in which form.
import { atAzure } from '../azure/path.ts';
import type { HostQuery } from '../provider.ts';
import { bedrockHost } from './bedrock.ts';
import { cohere } from './cohere.ts';
import { gemini, vertexContent, vertexPredict } from './gemini.ts';
import type { EmbeddingHost } from './host.ts';
import { openAi, openAiForm } from './openai.ts';

/** Returns null when it makes none of that model. */
export function embeddingHostOf({
  kind,
  upstreamModel,
  wishes,
}: HostQuery & { readonly upstreamModel: string }): EmbeddingHost | null {
  switch (kind) {
    case 'openai':
      return openAi;
    case 'azure':
      return azure;
    case 'openai-compatible':
      return openAiForm(wishes.embeddings ?? {});
    case 'cohere':
      return cohere;
    case 'google':
      return gemini;
    case 'vertex':
      return upstreamModel.startsWith('gemini-embedding-2') ? vertexContent : vertexPredict;
    case 'bedrock':
      return bedrockHost(upstreamModel);
    case 'anthropic':
      return null;
  }
}

const azure = { ...openAi, write: atAzure(openAi.write, () => 'embeddings') };
