// Web searches: the endpoint's own, and those that a model's provider runs on the straight path.
// The latter are the one kind of tool that is sold by the call.

/**
 * Takes the place of a model id for the search endpoint: in a key's list of models, in an account's
 * multipliers, in charges.
 */
export const searchModelId = 'web-search';

/** Its display name. */
export const searchModelName = 'Web search';

/**
 * The kinds of searches that the configuration prices. A preview search has its own price; Chat's
 * `web_search_options` is billed as one.
 */
export const searchToolNames = ['web_search', 'web_search_preview'] as const;
export type SearchToolName = (typeof searchToolNames)[number];

/** A search tool as a request defines it. */
export type SearchTool = {
  readonly name: SearchToolName;
  /** The most searches that the caller allows; null: it leaves that to the gateway. */
  readonly searchesMax: number | null;
  /** The field that allows fewer, in the caller's own format; null: the number is fixed. */
  readonly limitField: string | null;
};

/** More than any request needs; it keeps the hold reasonable. */
export const searchesPerRequestMax = 100;
/** The most searches of a request without a limit of its own. */
export const searchesByDefault = 5;

/**
 * Reads an upstream's count of searches. Untrusted: returns a whole number within reason, else
 * null.
 */
export function readSearchCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1_000_000
    ? value
    : null;
}
