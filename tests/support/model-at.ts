// Entries of the catalogue for tests.
import type { Model } from '../../src/domain/catalog/model.ts';

/** A chat model with routes to these providers, in order, and no prices. */
export function modelAt(
  id: string,
  ownedBy: string,
  providers: readonly string[],
  fields: Partial<Model> = {},
): Model {
  return {
    id,
    type: 'chat',
    dimensions: null,
    displayName: `The ${id}`,
    ownedBy,
    createdAtSeconds: 1_700_000_000,
    retirement: null,
    contextTokens: 120,
    maxInputTokens: 100,
    maxOutputTokens: 20,
    supports: { thinking: true, streaming: true, vision: false, audio: false, tools: true },
    routes: providers.map((provider, rank) => ({
      provider,
      upstreamModel: id,
      api: null,
      rank,
      weight: 1,
      contextTokens: null,
      lacks: new Set(),
      costPpm: 1_000_000,
      batchModel: null,
    })),
    prices: [],
    toolPrices: {},
    passFields: new Set(),
    marksCache: true,
    timeouts: {},
    ...fields,
  };
}
