// A web search: one call at one price, whatever it finds.
import { ApiError } from '../canonical/errors.ts';
import type { PageSearch } from '../canonical/search-source.ts';
import { searchModelId } from '../canonical/web-search.ts';
import { endpointSearchPicos } from '../catalog/search-price.ts';
import type { JsonObject } from '../formats/format.ts';
import { multiplierPpmFor } from '../keys/api-key.ts';
import { newIdWithPrefix } from '../lib/ids.ts';
import { picosFromUsd } from '../lib/money.ts';
import { parseSearchRequest } from '../search/search-request.ts';
import { writeSearchBody } from '../search/search-result.ts';
import type { WebSearcher } from '../search/web-searcher.ts';
import type { Admitted, IncomingRequest } from './admitted.ts';
import type { Client } from './client.ts';
import type { Work } from './endpoint.ts';
import type { Gateway } from './gateway.ts';
import type { Keeping } from './keeping.ts';
import { sellPieces, type Delivery, type Sale } from './piece-sale.ts';
import { toApiError } from './upstream-error.ts';

const searchModelName = 'Web search';

/** Throws ApiError `upstream_unavailable` where no provider is configured, or none is sold. */
export function searchEndpoint(gateway: Gateway, incoming: IncomingRequest): Work {
  const asked = parseSearchRequest(incoming.body);
  const isTest = incoming.key.mode === 'test';
  const searcher = isTest ? gateway.searchers.test : gateway.searchers.live;
  if (!searcher) throw notConfigured();
  return new SearchWork(gateway, { asked, searcher, body: incoming.body as JsonObject, provider: isTest ? 'sandbox' : 'search' });
}

type SearchOptions = {
  readonly asked: PageSearch;
  readonly searcher: WebSearcher;
  readonly body: JsonObject;
  readonly provider: string;
};

class SearchWork implements Work {
  readonly modelId = searchModelId;
  readonly provider: string;
  readonly route: string;
  readonly stream = false;
  readonly isCachedUnasked = false;
  readonly body: JsonObject;
  readonly #gateway: Gateway;
  readonly #asked: PageSearch;
  readonly #searcher: WebSearcher;

  constructor(gateway: Gateway, { asked, searcher, body, provider }: SearchOptions) {
    this.#gateway = gateway;
    this.#asked = asked;
    this.#searcher = searcher;
    this.provider = provider;
    this.route = gateway.config.search.providers.join(' ');
    this.body = body;
  }

  countTokens(): number {
    return 0;
  }

  async execute(admitted: Admitted, client: Client, keeping: Keeping): Promise<void> {
    await sellPieces({ admitted, client, keeping }, this.#saleTo(admitted), (signal) => this.#deliver(signal));
  }

  writeFailure(): string {
    throw new Error('a search is never streamed');
  }

  #saleTo({ key }: Admitted): Sale {
    const { price_usd: priceUsd } = this.#gateway.config.search;
    if (priceUsd === null) throw notConfigured();
    return {
      endpoint: 'web-search',
      modelId: searchModelId,
      modelName: searchModelName,
      piece: 'search',
      count: 1,
      listPicos: endpointSearchPicos(priceUsd, multiplierPpmFor(key, searchModelId)),
      // What the provider takes is not known: it is the operator's own price that a loss is booked at.
      upstreamPicos: picosFromUsd(priceUsd),
      priceVersion: '0',
      countField: null,
    };
  }

  async #deliver(signal: AbortSignal): Promise<Delivery> {
    const answer = await this.#searcher.search(this.#asked, signal);
    if (answer.kind === 'failure') return { kind: 'failed', error: toApiError(answer.failure), lost: 0 };
    const { provider, results } = answer;
    const body = writeSearchBody({ id: newIdWithPrefix('ws'), query: this.#asked.query, provider, results });
    return { kind: 'delivered', count: 1, provider, isWhole: true, body, headers: {}, usableForMs: null, lost: 0 };
  }
}

function notConfigured(): ApiError {
  return new ApiError(
    'upstream_unavailable',
    'Web search is not switched on here. The operator switches it on by a provider, such as BRAVE_API_KEY or TAVILY_API_KEY in the ' +
      'environment, and a price (`search.price_usd`). Nothing was charged.',
  );
}
