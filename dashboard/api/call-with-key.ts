// Calls the public endpoints with one of the account's keys. The session authorizes the call; the
// browser knows only the key's id, not its secret.
import { isSignedOut, readApiError } from './api-error.ts';
import { reach } from './client.ts';
import { signInAgain } from './session.ts';

export type KeyCall = {
  readonly account: string;
  /** The key's id. */
  readonly key: string;
  readonly path: `/v1${string}`;
  /** A form, or what is sent as JSON. */
  readonly body: unknown;
  readonly signal: AbortSignal;
};

/** Returns the response with its body unread. Throws ApiError. */
export async function callWithKey({
  account,
  key,
  path,
  body,
  signal,
}: KeyCall): Promise<Response> {
  const url = `/dashboard-api/accounts/${encodeURIComponent(account)}/keys/${encodeURIComponent(key)}${path}`;
  const sent =
    body instanceof FormData
      ? { body }
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const response = await reach(url, { method: 'POST', ...sent, signal });
  if (response.ok) return response;
  const error = await readApiError(response);
  if (isSignedOut(error)) signInAgain();
  throw error;
}

/**
 * Returns the charge in microdollars from the headers of a whole answer; null when there is none.
 */
export function costFromHeaders(response: Response): number | null {
  // The middle of the header's name depends on the service's name.
  for (const [name, value] of response.headers)
    if (/^x-.+-cost-micros$/.test(name)) return Number(value);
  return null;
}
