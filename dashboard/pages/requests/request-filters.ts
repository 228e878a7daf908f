// Reads the filters of the list of requests from the address. Pure functions.
import { chatFormats } from '../../api/chat-formats/registry.ts';
import type { FormatName } from '../../api/chat-formats/types.ts';
import type { Query } from '../../api/client.ts';
import type { Search } from '../../parts/url-state.ts';
import { readDay } from '../../parts/utc-days.ts';

type ListQuery = Query<'GET /accounts/:account/requests'>;
export type Filters = Omit<ListQuery, 'mode' | 'limit' | 'cursor' | 'sort'>;
export type Sort = NonNullable<ListQuery['sort']>;

export const endpointNames: Readonly<Record<NonNullable<Filters['endpoint']>, string>> = {
  responses: 'Responses',
  chat: 'Chat Completions',
  messages: 'Messages',
  gemini: 'Gemini',
  completions: 'Completions',
  embeddings: 'Embeddings',
  speech: 'Speech',
  rerank: 'Rerank',
  moderations: 'Moderations',
  transcriptions: 'Transcriptions',
  images: 'Images',
  'web-search': 'Web search',
};

/** Endpoints whose requests are conversations. */
export function isChatFormat(endpoint: string): endpoint is FormatName {
  return Object.hasOwn(chatFormats, endpoint);
}

export const outcomeNames: Readonly<Record<NonNullable<Filters['outcome']>, string>> = {
  complete: 'Complete',
  'cut-off': 'Cut off',
  cached: 'Cached',
  replayed: 'Replayed',
  failed: 'Failed',
};

const finishNames: Readonly<Record<string, string>> = {
  end: 'End',
  'stop-sequence': 'Stop sequence',
  'tool-calls': 'Tool calls',
  length: 'Length limit',
  'content-filter': 'Content filter',
  refusal: 'Refusal',
  pause: 'Paused',
};

/** Why the model stopped. An unknown reason, from a newer gateway, stays as it is. */
export function finishName(finish: string): string {
  return Object.hasOwn(finishNames, finish) ? finishNames[finish]! : finish;
}

const sorts: Readonly<Record<Sort, true>> = { cost: true, duration: true, 'first-token': true };

/** undefined: newest first. */
export function readSort({ sort }: Search): Sort | undefined {
  return oneOf(sorts, sort);
}

/** Ignores invalid values. */
export function readFilters(search: Search): Filters {
  return {
    key: search.key || undefined,
    model: search.model || undefined,
    endpoint: oneOf(endpointNames, search.endpoint),
    outcome: oneOf(outcomeNames, search.outcome),
    code: search.code || undefined,
    tag: search.tag || undefined,
    provider: search.provider || undefined,
    member: search.member || undefined,
    hour: readWhole(search.hour, 167),
    cost_min_micros: readWhole(search.cost_min_micros),
    cost_max_micros: readWhole(search.cost_max_micros),
    duration_min_ms: readWhole(search.duration_min_ms, 2 ** 31 - 1),
    client: search.client || undefined,
    from: readDay(search.from),
    to: readDay(search.to),
  };
}

/** Returns the address with exactly these filters. */
export function toSearch(filters: Filters): Search {
  const all = Object.entries({ ...readFilters({}), ...filters });
  return Object.fromEntries(all.map(([name, value]) => [name, value?.toString()]));
}

function readWhole(text = '', max = Number.MAX_SAFE_INTEGER): number | undefined {
  return /^\d+$/.test(text) && Number(text) <= max ? Number(text) : undefined;
}

function oneOf<Name extends string>(
  names: Readonly<Record<Name, unknown>>,
  text: string | undefined,
): Name | undefined {
  return text !== undefined && Object.hasOwn(names, text) ? (text as Name) : undefined;
}

/**
 * Returns the display name of an endpoint. An unknown one, from a newer gateway, stays as it is.
 */
export function endpointName(endpoint: string): string {
  return Object.hasOwn(endpointNames, endpoint)
    ? endpointNames[endpoint as keyof typeof endpointNames]
    : endpoint;
}
