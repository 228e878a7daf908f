// Converts a key between the API and the form's fields.
import type { Body, Output } from '../../api/client.ts';
import { changedFields } from '../../parts/changed-fields.ts';
import { microsFromText, usdText } from '../../parts/money-text.ts';
import { localTimeText } from '../../parts/time-text.ts';

export type Key = Output<'GET /accounts/:account/keys/:key'>;
type Scope = NonNullable<Key['scopes']>[number];
type Controls = Body<'PATCH /accounts/:account/keys/:key'>;

export type KeyValues = {
  readonly name: string;
  /** Dollars as typed. Empty means no cap. */
  readonly dailyCap: string;
  readonly monthlyCap: string;
  /** Empty allows all models. */
  readonly models: readonly string[];
  readonly scopes: readonly string[];
  /** Empty uses the default. */
  readonly requestsPerMinute: number | string;
  readonly tokensPerMinute: number | string;
  readonly concurrentRequests: number | string;
  /** Empty allows all addresses. */
  readonly addresses: readonly string[];
  /** In the format of a `datetime-local` field, in the reader's time zone. Empty means never. */
  readonly expires: string;
  /** Days. Empty: bodies are not kept. */
  readonly bodyDays: string;
  readonly cacheMarks: boolean;
};

/** Maps the API's field names to the form's, for error messages. */
export const fieldNames = {
  name: 'name',
  daily_cap_micros: 'dailyCap',
  monthly_cap_micros: 'monthlyCap',
  models: 'models',
  scopes: 'scopes',
  requests_per_minute: 'requestsPerMinute',
  tokens_per_minute: 'tokensPerMinute',
  concurrent_requests: 'concurrentRequests',
  allowed_addresses: 'addresses',
  expires_at: 'expires',
  body_days: 'bodyDays',
  cache_marks: 'cacheMarks',
} as const;

const allScopes: readonly Scope[] = ['run', 'images', 'usage'];

export const emptyValues: KeyValues = {
  name: '',
  dailyCap: '',
  monthlyCap: '',
  models: [],
  scopes: allScopes,
  requestsPerMinute: '',
  tokensPerMinute: '',
  concurrentRequests: '',
  addresses: [],
  expires: '',
  bodyDays: '',
  cacheMarks: true,
};

/** The name of a key in a sentence: one without a name is known by its last characters. */
export const keyTitle = ({ name, hint }: Pick<Key, 'name' | 'hint'>): string => name || hint;

export function valuesOf(key: Key): KeyValues {
  return {
    name: key.name,
    dailyCap: capText(key.daily_cap_micros),
    monthlyCap: capText(key.monthly_cap_micros),
    models: key.models ?? [],
    scopes: key.scopes ?? allScopes,
    requestsPerMinute: key.requests_per_minute ?? '',
    tokensPerMinute: key.tokens_per_minute ?? '',
    concurrentRequests: key.concurrent_requests ?? '',
    addresses: key.allowed_addresses ?? [],
    expires: key.expires_at === null ? '' : localTimeText(new Date(key.expires_at)),
    bodyDays: key.body_days === null ? '' : String(key.body_days),
    cacheMarks: key.cache_marks,
  };
}

/** Returns the values of a duplicate. It keeps no bodies, and an expiry that has passed is left out. */
export function copiedValues(key: Key): KeyValues {
  const { name, expires, ...values } = valuesOf(key);
  return {
    ...values,
    name: `${name.slice(0, nameCharsMax - copySuffix.length)}${copySuffix}`,
    expires: key.state === 'expired' ? '' : expires,
    bodyDays: '',
  };
}

const nameCharsMax = 200;
const copySuffix = ' (copy)';

/** Expects values without problems (`problemsOf`). */
export function controlsOf(values: KeyValues): Required<Controls> {
  return {
    name: values.name.trim(),
    daily_cap_micros: values.dailyCap.trim() === '' ? null : microsFromText(values.dailyCap),
    monthly_cap_micros: values.monthlyCap.trim() === '' ? null : microsFromText(values.monthlyCap),
    models: values.models.length === 0 ? null : [...values.models],
    scopes: scopesOf(values.scopes),
    requests_per_minute: limitOf(values.requestsPerMinute),
    tokens_per_minute: limitOf(values.tokensPerMinute),
    concurrent_requests: limitOf(values.concurrentRequests),
    allowed_addresses: values.addresses.length === 0 ? null : [...values.addresses],
    expires_at: values.expires === '' ? null : new Date(values.expires).toISOString(),
    body_days: values.bodyDays === '' ? null : Number(values.bodyDays),
    cache_marks: values.cacheMarks,
  };
}

/** Returns only the changed fields. Otherwise an expiry in the past would block renaming a key. */
export function changedControls(before: KeyValues, after: KeyValues): Controls {
  return changedFields(controlsOf(before), controlsOf(after));
}

/** Validates what needs no API call. Returns a message per field, null for a valid one. */
export function problemsOf(values: KeyValues): Partial<Record<keyof KeyValues, string | null>> {
  return {
    name: values.name.trim() === '' ? 'Give the key a name.' : null,
    dailyCap: capProblem(values.dailyCap),
    monthlyCap: capProblem(values.monthlyCap),
    scopes: values.scopes.length === 0 ? 'Allow at least one thing.' : null,
    expires:
      values.expires !== '' && Number.isNaN(Date.parse(values.expires))
        ? 'Enter a valid date and time.'
        : null,
  };
}

function capText(micros: number | null): string {
  return micros === null ? '' : usdText(micros).replace('$', '');
}

function capProblem(text: string): string | null {
  if (text.trim() === '' || microsFromText(text) !== null) return null;
  return 'Enter an amount in US dollars, such as 5 or 0.50.';
}

/** A key with all scopes has no list, and so also scopes to come. */
function scopesOf(chosen: readonly string[]): Scope[] | null {
  const scopes = allScopes.filter((scope) => chosen.includes(scope));
  return scopes.length === allScopes.length ? null : scopes;
}

function limitOf(value: number | string): number | null {
  return value === '' ? null : Number(value);
}
