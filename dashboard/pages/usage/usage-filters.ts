// Reads the filters of the usage list from the address. Pure functions.
import type { Query } from '../../api/client.ts';
import type { Search } from '../../parts/url-state.ts';

export type Filters = Omit<Query<'GET /accounts/:account/usage'>, 'mode' | 'limit' | 'cursor'>;

export const endpointNames: Readonly<Record<NonNullable<Filters['endpoint']>, string>> = {
  responses: 'Responses',
  chat: 'Chat Completions',
  messages: 'Messages',
  images: 'Images',
  'web-search': 'Web search',
};

export const outcomeNames: Readonly<Record<NonNullable<Filters['outcome']>, string>> = {
  complete: 'Complete',
  'cut-off': 'Cut off',
};

/** Ignores invalid values. */
export function readFilters(search: Search): Filters {
  return {
    key: search.key || undefined,
    model: search.model || undefined,
    endpoint: oneOf(endpointNames, search.endpoint),
    outcome: oneOf(outcomeNames, search.outcome),
    from: readDay(search.from),
    to: readDay(search.to),
  };
}

function oneOf<Name extends string>(
  names: Readonly<Record<Name, string>>,
  text: string | undefined,
): Name | undefined {
  return text !== undefined && Object.hasOwn(names, text) ? (text as Name) : undefined;
}

function readDay(text: string | undefined): string | undefined {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : undefined;
}

/** Returns the last `days` UTC days, including today. */
export function lastDays(
  days: number,
  nowMs: number,
): { readonly from: string; readonly to: string } {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return { from: day(nowMs - (days - 1) * 86_400_000), to: day(nowMs) };
}

/**
 * Returns the display name of an endpoint. An unknown one, from a newer gateway, stays as it is.
 */
export function endpointName(endpoint: string): string {
  return Object.hasOwn(endpointNames, endpoint)
    ? endpointNames[endpoint as keyof typeof endpointNames]
    : endpoint;
}
