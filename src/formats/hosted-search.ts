// The web search that the gateway runs for a model whose provider has none, as a client's format
// asks for it. The model gets a function in its place.
import type { Answer } from '../canonical/answer.ts';
import type { AnswerPart } from '../canonical/searched.ts';
import type { JsonObject } from '../lib/json.ts';
import type { SearchTool } from '../terms/web-search.ts';
import type { AnswerContext, ClientRequest } from './format.ts';
import type { SearchSites } from './search-sites.ts';

export type HostedSearch = {
  /** Returns null when none is to be run. Throws ApiError on an impossible limit. */
  readonly readTool: (request: ClientRequest) => HostedTool | null;
  /** Returns the request with the function in place of the search. */
  readonly withFunction: (request: ClientRequest) => ClientRequest;
  /** Lists the options of the search that have no effect here. Left out: it has none. */
  readonly ignoredFields?: (request: ClientRequest) => readonly string[];
  readonly writeAnswer: (answer: Answer<AnswerPart>, context: AnswerContext) => JsonObject;
};

export type HostedTool = SearchTool & {
  /** What the search is limited to. Left out: nothing. */
  readonly sites?: SearchSites;
  /** The most pages of a search. Left out: the usual number. */
  readonly pages?: number;
};
