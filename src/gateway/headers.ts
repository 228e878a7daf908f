// The values of headers that carry the service's name (`terms/header-names.ts`).
import { invalidRequest } from '../canonical/errors.ts';
import type { HeaderNames } from '../terms/header-names.ts';
import type { ApiKey } from '../domain/keys/api-key.ts';
import type { Headers } from './client.ts';

const namesCharactersMax = 1_000;

/**
 * Writes the value of a header that lists fields. Field names are untrusted and may be thousands.
 * Characters that a header cannot hold are percent-encoded. A list that is too long ends with the
 * number of names left out.
 */
export function writeNames(names: readonly string[]): string {
  let list = '';
  for (const [index, name] of names.entries()) {
    const next = (index === 0 ? '' : ', ') + encodeName(name);
    if (list.length + next.length > namesCharactersMax)
      return `${list}${index === 0 ? '' : ', '}and ${names.length - index} more`;
    list += next;
  }
  return list;
}

/** `messages.name` and `input[3]` stay readable. */
function encodeName(name: string): string {
  return name
    .slice(0, namesCharactersMax + 1)
    .toWellFormed()
    .replaceAll(/[^\w.[\]-]/gu, encodeURIComponent);
}

export type Sender = {
  readonly gateway: { readonly headers: HeaderNames };
  readonly caller: { readonly key: Pick<ApiKey, 'mode'> };
  readonly rateHeaders: Headers;
  readonly sale: { readonly headers: Headers };
};

/** Headers about the request and its key, whatever the answer is. */
export function requestHeaders({
  gateway,
  caller,
  rateHeaders,
  sale,
}: Sender): Record<string, string> {
  return {
    ...rateHeaders,
    ...sale.headers,
    ...(caller.key.mode === 'test' && { [gateway.headers.mode]: 'test' }),
  };
}

/**
 * Reads a boolean request header. undefined: not sent. Throws ApiError `invalid_request` for
 * anything but `true` and `false`.
 */
export function readHeaderFlag(name: string, value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined;
  const word = value.trim().toLowerCase();
  if (word === 'true') return true;
  if (word === 'false') return false;
  throw invalidRequest(
    name,
    `The header \`${name}\` must be \`true\` or \`false\`. Leave it out for the default.`,
  );
}
