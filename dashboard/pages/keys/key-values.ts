// A key's controls as a form holds them, and as the API takes them.
import type { Body, Output } from '../../api/client.ts';
import { microsFromText, usdText } from '../../parts/money-text.ts';

export type Key = Output<'GET /accounts/:account/keys/:key'>;
export type Controls = Body<'PATCH /accounts/:account/keys/:key'>;

export type KeyValues = {
  readonly name: string;
  /** In dollars as they were typed; empty: no cap. */
  readonly dailyCap: string;
  readonly monthlyCap: string;
  /** None: all models. */
  readonly models: readonly string[];
  /** Empty: the default. */
  readonly requestsPerMinute: number | string;
  readonly tokensPerMinute: number | string;
  readonly concurrentRequests: number | string;
  /** None: from anywhere. */
  readonly addresses: readonly string[];
  /** As a `datetime-local` field has it, in the reader's time zone; empty: never. */
  readonly expires: string;
};

/** By the API's names, for what it says of a field. */
export const fieldNames = {
  name: 'name',
  daily_cap_micros: 'dailyCap',
  monthly_cap_micros: 'monthlyCap',
  models: 'models',
  requests_per_minute: 'requestsPerMinute',
  tokens_per_minute: 'tokensPerMinute',
  concurrent_requests: 'concurrentRequests',
  allowed_addresses: 'addresses',
  expires_at: 'expires',
} as const;

export const emptyValues: KeyValues = {
  name: '',
  dailyCap: '',
  monthlyCap: '',
  models: [],
  requestsPerMinute: '',
  tokensPerMinute: '',
  concurrentRequests: '',
  addresses: [],
  expires: '',
};

export function valuesOf(key: Key): KeyValues {
  return {
    name: key.name,
    dailyCap: capText(key.daily_cap_micros),
    monthlyCap: capText(key.monthly_cap_micros),
    models: key.models ?? [],
    requestsPerMinute: key.requests_per_minute ?? '',
    tokensPerMinute: key.tokens_per_minute ?? '',
    concurrentRequests: key.concurrent_requests ?? '',
    addresses: key.allowed_addresses ?? [],
    expires: key.expires_at === null ? '' : localTimeText(new Date(key.expires_at)),
  };
}

/** Of values that `problemsOf` finds nothing wrong with. */
export function controlsOf(values: KeyValues): Required<Controls> {
  return {
    name: values.name.trim(),
    daily_cap_micros: values.dailyCap.trim() === '' ? null : microsFromText(values.dailyCap),
    monthly_cap_micros: values.monthlyCap.trim() === '' ? null : microsFromText(values.monthlyCap),
    models: values.models.length === 0 ? null : [...values.models],
    requests_per_minute: limitOf(values.requestsPerMinute),
    tokens_per_minute: limitOf(values.tokensPerMinute),
    concurrent_requests: limitOf(values.concurrentRequests),
    allowed_addresses: values.addresses.length === 0 ? null : [...values.addresses],
    expires_at: values.expires === '' ? null : new Date(values.expires).toISOString(),
  };
}

/** Only what was changed: an expiry that has passed meanwhile is then no reason to refuse a new name. */
export function changedControls(before: KeyValues, after: KeyValues): Controls {
  const [was, is] = [controlsOf(before), controlsOf(after)];
  const names = (Object.keys(is) as (keyof Controls)[]).filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
  return Object.fromEntries(names.map((name) => [name, is[name]]));
}

/** What can be told without asking, by field; a field that is right has null. */
export function problemsOf(values: KeyValues): Partial<Record<keyof KeyValues, string | null>> {
  return {
    name: values.name.trim() === '' ? 'Give the key a name, to know it again by.' : null,
    dailyCap: capProblem(values.dailyCap),
    monthlyCap: capProblem(values.monthlyCap),
    expires: values.expires !== '' && Number.isNaN(Date.parse(values.expires)) ? 'This is no date and time.' : null,
  };
}

/** A moment as a `datetime-local` field has it: `2026-11-22T14:05`, in the reader's time zone. */
export function localTimeText(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Whoever pastes a whole key looks for it: its last characters are enough, and it is not to stand in an address. */
export function searchTextOf(typed: string): string {
  const text = typed.trim();
  return /^tg_(live|test)_\w{8,}$/.test(text) ? text.slice(-4) : text;
}

function capText(micros: number | null): string {
  return micros === null ? '' : usdText(micros).replace('$', '');
}

function capProblem(text: string): string | null {
  if (text.trim() === '' || microsFromText(text) !== null) return null;
  return 'Write an amount in dollars, such as 5 or 0.50.';
}

function limitOf(value: number | string): number | null {
  return value === '' ? null : Number(value);
}
