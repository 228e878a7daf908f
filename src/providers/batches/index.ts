// Which provider has batches, in which form.
import type { HostQuery } from '../provider.ts';
import { anthropicBatches } from './anthropic.ts';
import { azureBatches } from './azure.ts';
import { bedrockBatches } from './bedrock.ts';
import type { BatchCloud } from './buckets.ts';
import { geminiBatches } from './gemini.ts';
import type { BatchHost } from './host.ts';
import { mistralBatches } from './mistral.ts';
import { openAiBatches } from './openai.ts';
import { vertexBatches } from './vertex.ts';
import { xAiBatches } from './xai.ts';

const openAi = openAiBatches({ keptSeconds: 3 * 86_400 });
const compatible = openAiBatches({ keptSeconds: null });

/** `cloud`: null or left out: no bucket is configured. */
type BatchQuery = HostQuery & { readonly cloud?: BatchCloud | null };

/** Returns null when the provider has none that we know. */
export function batchHostOf({ kind, wishes, cloud }: BatchQuery): BatchHost | null {
  if (cloud && kind === 'bedrock') return bedrockBatches(cloud);
  if (cloud && kind === 'vertex') return vertexBatches(cloud);
  if (kind === 'anthropic') return anthropicBatches;
  if (kind === 'openai') return openAi;
  if (kind === 'azure') return azureBatches;
  if (kind === 'google') return geminiBatches;
  if (kind !== 'openai-compatible' || !wishes.batches) return null;
  return { openai: compatible, mistral: mistralBatches, xai: xAiBatches }[wishes.batches];
}
