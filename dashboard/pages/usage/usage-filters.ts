// The filters of the usage list, between the address and the call. Pure.
import type { Query } from '../../api/client.ts';
import type { Search } from '../../app/url-state.ts';

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

/** What an address says that is no filter's value is left out. */
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

function oneOf<Name extends string>(names: Readonly<Record<Name, string>>, text: string | undefined): Name | undefined {
  return text !== undefined && Object.hasOwn(names, text) ? (text as Name) : undefined;
}

function readDay(text: string | undefined): string | undefined {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : undefined;
}

/** The UTC days that the choices stand for; `days` 1: today alone. */
export function lastDays(days: number, nowMs: number): { readonly from: string; readonly to: string } {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return { from: day(nowMs - (days - 1) * 86_400_000), to: day(nowMs) };
}

/** `gpt-5-mini` of `/v1/…` requests has its endpoint's own name; one of a later gateway is shown as it is written. */
export function endpointName(endpoint: string): string {
  return Object.hasOwn(endpointNames, endpoint) ? endpointNames[endpoint as keyof typeof endpointNames] : endpoint;
}
