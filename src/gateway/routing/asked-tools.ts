// Tools that run for a model beside it: web searches, which its provider or the gateway runs, the
// gateway's images, and the provider's code and pages. Their maximum, their price, and the input they add.
import { searchPriceFor, type SearchPrice } from '../../domain/catalog/search-price.ts';
import {
  editingFunction,
  imageFunction,
  searchFunction,
  type OwnFunction,
} from '../../canonical/own-tools.ts';
import type { Picos } from '../../lib/money.ts';
import { freePrice } from '../../terms/price-terms.ts';
import type { AskedImages } from './own-images.ts';
import type { OwnSearch } from '../search/search-sources.ts';
import type { ClientFormat, ClientRequest } from '../../formats/format.ts';
import type { SearchSites } from '../../formats/search-sites.ts';
import type { Model } from '../../domain/catalog/model.ts';
import type { PriceFactor } from '../../domain/catalog/price.ts';
import { searchesByDefault } from '../../terms/web-search.ts';
import type { ChosenRoute } from './route.ts';

export type AskedTools = {
  /** The limit that is sent upstream, and held. 0: no search. */
  readonly searchesMax: number;
  readonly price: SearchPrice;
  /** The tokens of its results are billed beside its price. */
  readonly billsResults: boolean;
  /** The caller set no limit: when that many cannot be held, one search and one image are enough. */
  readonly mayBeFewer: boolean;
  /** The field with which the caller can allow fewer; null: none. */
  readonly limitField: string | null;
  /**
   * How often the model may read again in each answer, after code that the provider runs or pages that it
   * fetches. Only the input costs. Left out: never.
   */
  readonly readings?: number;
  /** Absent: the provider runs them. */
  readonly own?: OwnTools;
};

/** The tools that the gateway runs. */
export type OwnTools = {
  readonly search: AskedSearch | null;
  readonly images: AskedImages | null;
};

type AskedSearch = OwnSearch & {
  /** The only sites, or the excluded ones. Left out: all are searched. */
  readonly sites?: SearchSites;
  /** The most pages of a search. */
  readonly pages: number;
};

/** Returns the functions that the model gets in place of them. */
export function functionsOfOwn({ own }: AskedTools): ReadonlyMap<string, OwnFunction> {
  const { edit = null, draw = null } = own?.images ?? {};
  const drawing = edit ? editingFunction(edit.inputs.length, draw === null) : imageFunction;
  const functions = [...(own?.search ? [searchFunction] : []), ...(own?.images ? [drawing] : [])];
  return new Map(functions.map((one) => [one.name, one]));
}

export function withOneEach(tools: AskedTools): AskedTools {
  const { searchesMax, own } = tools;
  const images = own?.images && { ...own.images, imagesMax: 1 };
  return {
    ...tools,
    searchesMax: Math.min(searchesMax, 1),
    mayBeFewer: false,
    ...(own && { own: { ...own, images: images ?? null } }),
  };
}

/** Returns the most that the images can cost. */
export function mostForImages(tools: AskedTools | null): Picos {
  const images = tools?.own?.images;
  return images ? BigInt(images.imagesMax) * images.picosMax : 0n;
}

type SearchQuery = {
  readonly model: Model;
  readonly route: ChosenRoute;
  readonly format: ClientFormat;
  readonly request: ClientRequest;
};

/**
 * Returns null when no search is asked for, or none that has a price there (writing the request
 * refuses it then). Throws ApiError for an impossible limit.
 */
export function readSearch(
  { model, route, format, request }: SearchQuery,
  factor: PriceFactor,
): AskedTools | null {
  if (route.format !== format.name) return null;
  const tool = format.relay.searchTool(request);
  if (!tool) return null;
  const price = searchPriceFor({
    ...factor,
    model,
    provider: route.provider.pricing,
    tool: tool.name,
  });
  const searchesMax = tool.searchesMax ?? searchesByDefault;
  return (
    price && {
      searchesMax,
      price,
      // OpenAI's dearer preview search includes them:
      // https://openai.com/api/pricing (built-in tools), from memory, 2026-11-26.
      billsResults: tool.name !== 'web_search_preview' || model.supports.thinking,
      mayBeFewer: tool.searchesMax === null && searchesMax > 1,
      limitField: tool.limitField,
    }
  );
}

const noTools = {
  searchesMax: 0,
  price: freePrice,
  billsResults: false,
  mayBeFewer: false,
  limitField: null,
};
/**
 * Google lets a model write its code again five times (ai.google.dev/gemini-api/docs/code-execution; not
 * verified). A request cannot set a limit.
 */
const readingsMost = 5;
/**
 * The most pages that Google fetches for an answer (ai.google.dev/gemini-api/docs/url-context; not
 * verified).
 */
export const pagesMost = 20;

/** Adds what the provider of a route runs at no price of its own. */
export function withReadings(
  { route, format, request }: Omit<SearchQuery, 'model'>,
  tools: AskedTools | null,
): AskedTools | null {
  const readsMore = route.format === format.name && format.relay.readsMore?.(request);
  return readsMore ? { ...(tools ?? noTools), readings: readingsMost } : tools;
}

/**
 * Input that one search adds. Measured: 3,700 to 8,500 tokens at OpenAI (recorded answers of 2026),
 * which bills 8,000 a search on its small models in any case.
 */
export const resultTokens = { upper: 10_000, likely: 6_000 } as const;
/** Input that one page adds: 1,500 to 4,600 in recorded answers of 2026, the prompt read again included. */
const pageTokens = 3_000;
/** Input that one image adds: the function, and short results. */
export const imageTokens = 1_000;

type Read = { readonly promptTokens: number; readonly contextTokens: number };

/** Returns the most input that a request is billed for. What is read last may fill the context. */
export function inputTokensWithTools(tools: AskedTools | null, read: Read): number {
  if (!tools) return Math.min(read.promptTokens, read.contextTokens);
  const { searchesMax, readings = 0, own } = tools;
  return readTokens(
    [
      ...repeat(searchesMax, resultTokens.upper),
      ...repeat(own?.images?.imagesMax ?? 0, imageTokens),
      ...repeat(readings - 1, resultTokens.upper),
      ...repeat(Math.min(readings, 1), read.contextTokens),
    ],
    read,
  );
}

/** Returns the most times that a model reads its prompt. */
export function roundsWith(tools: AskedTools | null): number {
  const { searchesMax = 0, readings = 0, own } = tools ?? {};
  return 1 + searchesMax + readings + (own?.images?.imagesMax ?? 0);
}

/**
 * Returns the input that a request is probably billed for after that many searches, pages, which are
 * fetched together, and runs of code, which seldom write much.
 */
export function likelyInputTokensAfter(
  { searches, codeRuns, pages }: Readonly<Record<'searches' | 'codeRuns' | 'pages', number>>,
  read: Read,
): number {
  return readTokens(
    [
      ...repeat(searches, resultTokens.likely),
      ...repeat(Math.min(pages, 1), pages * pageTokens),
      ...repeat(codeRuns, 0),
    ],
    read,
  );
}

function repeat(count: number, tokens: number): number[] {
  return Array.from({ length: count }, () => tokens);
}

/**
 * Every call of a tool is a round of its own: the model reads the prompt and all results so far
 * again, and each reading is billed. No round reads more than the context. Long results first, which
 * costs the most.
 */
function readTokens(results: readonly number[], { promptTokens, contextTokens }: Read): number {
  let read = Math.min(promptTokens, contextTokens);
  let sum = read;
  for (const result of results) {
    read = Math.min(read + result, contextTokens);
    sum += read;
  }
  return sum;
}
