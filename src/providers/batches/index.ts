// Which provider has batches, in which form.
import type { HostWishes } from '../../terms/host-wishes.ts';
import type { ChatKindName } from '../../terms/provider-kind.ts';
import { anthropicBatches } from './anthropic.ts';
import type { BatchHost } from './host.ts';
import { openAiBatches } from './openai.ts';

type HostQuery = { readonly kind: ChatKindName; readonly wishes: HostWishes };

const openAi = openAiBatches({ isOpenAi: true });
const compatible = openAiBatches({ isOpenAi: false });

/** Returns null when the provider has none that we know. */
export function batchHostOf({ kind, wishes }: HostQuery): BatchHost | null {
  if (kind === 'anthropic') return anthropicBatches;
  if (kind === 'openai') return openAi;
  return kind === 'openai-compatible' && wishes.batches ? compatible : null;
}
