// Searches of the web: the endpoint's own, and those that a model's provider runs itself on the straight path, the one kind of tool that is
// sold by the call.

/** Stands for the endpoint where a model's id would: in a key's list of models, in an account's multipliers, in charges. */
export const searchModelId = 'web-search';

/** As the configuration prices them. The preview of a search has a price of its own; Chat's `web_search_options` is billed as one. */
export const searchToolNames = ['web_search', 'web_search_preview'] as const;
export type SearchToolName = (typeof searchToolNames)[number];

/** A search tool as a request asks for it. */
export type SearchTool = {
  readonly name: SearchToolName;
  /** The most searches that the caller allows; null: it leaves that to the gateway. */
  readonly searchesMax: number | null;
  /** The field that allows fewer, in the caller's own format; null: the number is fixed. */
  readonly limitField: string | null;
};

/** More than one request needs; it keeps what is held within reason. */
export const searchesPerRequestMax = 100;

/** A count of searches from an upstream, which is untrusted input: a whole number that is not absurd, else null. */
export function readSearchCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1_000_000 ? value : null;
}
