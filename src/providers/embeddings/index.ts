// Which host makes embeddings in which form.
import { atAzure } from '../azure/path.ts';
import type { HostQuery, HostsByKind } from '../provider.ts';
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
  if (kind === 'openai-compatible') return openAiForm(wishes.embeddings ?? {});
  if (kind === 'bedrock') return bedrockHost(upstreamModel);
  if (kind === 'vertex')
    return upstreamModel.startsWith('gemini-embedding-2') ? vertexContent : vertexPredict;
  return hosts[kind] ?? null;
}

const azure = { ...openAi, write: atAzure(openAi.write, () => 'embeddings') };
const hosts: HostsByKind<EmbeddingHost> = { openai: openAi, azure, cohere, google: gemini };
