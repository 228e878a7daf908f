// Tools that the gateway runs for a model whose provider has none, as a client's format asks for them.
// The model gets functions in their place.
import type { OwnFunction } from '../canonical/own-tools.ts';
import type { JsonObject } from '../lib/json.ts';
import type { SearchTool } from '../terms/web-search.ts';
import type { ClientRequest } from './format.ts';
import type { SearchSites } from './search-sites.ts';

export type HostedTools = {
  /** Returns null when none is to be run. Throws ApiError on an impossible limit. */
  readonly readSearch: (request: ClientRequest) => HostedSearch | null;
  /** Returns null when no images are asked for. Left out: the format has no such tool. */
  readonly readImages?: (request: ClientRequest) => HostedImages | null;
  /** Returns the request with these functions, by their names, in place of their tools. */
  readonly withFunctions: (
    request: ClientRequest,
    functions: ReadonlyMap<string, OwnFunction>,
  ) => ClientRequest;
  /** Lists the options of the search that have no effect here. Left out: it has none. */
  readonly ignoredFields?: (request: ClientRequest) => readonly string[];
};

export type HostedSearch = SearchTool & {
  /** The only sites, or the excluded ones. Left out: all are searched. */
  readonly sites?: SearchSites;
  /** The most pages of a search. Left out: the usual number. */
  readonly pages?: number;
};

export type HostedImages = {
  /** As the client sent it: its options are those of OpenAI's images. */
  readonly tool: JsonObject;
  /** Its place in the request. */
  readonly path: string;
  /** The images of the conversation in order, as addresses and data URLs. */
  readonly inputs: readonly string[];
  /** The client gets them as a stream. */
  readonly isStream: boolean;
  /** The most images that the client allows; null: it leaves that to the gateway. */
  readonly imagesMax: number | null;
  /** The field that allows fewer. */
  readonly limitField: string;
};
