// The public endpoints, called by whoever is signed in with a key of the account, whose text need not be known.
import { ApiError, readApiError } from './api-error.ts';

export type KeyCall = {
  readonly account: string;
  /** The key's id. */
  readonly key: string;
  readonly path: `/v1/${string}`;
  readonly body: unknown;
  readonly signal: AbortSignal;
};

/** The answer, whose body is still to be read. Throws ApiError: what the gateway said, or code `unreachable`. */
export async function callWithKey({ account, key, path, body, signal }: KeyCall): Promise<Response> {
  const url = `/dashboard-api/accounts/${encodeURIComponent(account)}/keys/${encodeURIComponent(key)}${path}`;
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal }).catch((cause: unknown) => {
    if (signal.aborted) throw cause;
    const message = 'The gateway cannot be reached. Check your connection and try again.';
    throw new ApiError({ status: 0, code: 'unreachable', message, cause });
  });
  if (!response.ok) throw await readApiError(response);
  return response;
}

/** What was charged, in microdollars, by the head of a whole answer; null: it says nothing. */
export function costInHead(response: Response): number | null {
  // The middle of its name is the service's own.
  for (const [name, value] of response.headers) if (/^x-.+-cost-micros$/.test(name)) return Number(value);
  return null;
}

/** The same by a comment of a stream, as `cost_micros=12 balance_cents=3`; null: it is another comment. */
export function costInComment(comment: string): number | null {
  const match = /\bcost_micros=(\d+)/.exec(comment);
  return match && Number(match[1]);
}
