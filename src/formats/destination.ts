// Where a request goes, as the check of the shared credential sees it.
import type { UnknownFields } from './field-verdicts.ts';
import type { UpstreamTarget } from './format.ts';

/**
 * `search`: the provider's own web search there. `elsewhere`: the model's provider speaks another
 * format, which has no such tool.
 */
export type Destination = {
  readonly search?: SearchOffer;
  /** OpenAI's own API; the many other hosts of Chat know more fields. */
  readonly isOpenAi?: boolean;
  readonly unknown?: UnknownFields | undefined;
};
export type SearchOffer = 'priced' | 'unpriced' | 'elsewhere';

/** Returns the destination on the straight path. */
export function destinationOf({ searchesMax, isOpenAi, unknown }: UpstreamTarget): Destination {
  return { search: searchesMax === undefined ? 'unpriced' : 'priced', isOpenAi, unknown };
}
