// Gives a call the headers of its provider's credential: a token or a signature.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { untilAborted } from '../../lib/until-aborted.ts';
import { CredentialError } from '../../providers/credential.ts';
import { makeFailure, type FailedReply } from '../../canonical/make-failure.ts';
import { stopped, unsent } from './failure.ts';
import type { UpstreamCall } from '../../providers/upstream-call.ts';

/**
 * Returns the call with the credential's headers, or the failure when there are none. Nothing was
 * sent then.
 */
export async function authorize<Stream extends boolean>(
  call: UpstreamCall<Stream>,
  url: URL,
): Promise<UpstreamCall<Stream> | FailedReply> {
  const { provider, method = 'POST', service, headers, signal } = call;
  if (signal.aborted) return unauthorized(stopped);
  try {
    // No credential that is given pieces signs them.
    const body = typeof call.body === 'function' ? null : call.body;
    const toAuthorize = { method, url, headers, body, ...(service && { service }) };
    // Others may wait for the same token.
    const own = await untilAborted(provider.credential!.headersFor(toAuthorize), signal);
    if (!Object.values(own).every(isSendable))
      throw new CredentialError('the token is none that a header can hold', { isRefused: false });
    return { ...call, headers: { ...headers, ...own } };
  } catch (error) {
    if (signal.aborted) return unauthorized(stopped);
    const { code } = error as { readonly code?: unknown };
    // What the environment or a token's service says is not ours to get right.
    if (code === 'ERR_INVALID_URL' || code === 'UND_ERR_INVALID_ARG')
      return unauthorized(makeFailure('connection', `the credential cannot be used: ${code}`));
    if (!(error instanceof CredentialError)) throw error;
    return unauthorized(makeFailure(error.isRefused ? 401 : 'connection', error.message));
  }
}

function unauthorized(failure: UpstreamFailure): FailedReply {
  return unsent({ ...failure, isUnauthorized: true });
}

function isSendable(value: string): boolean {
  return /^[\x20-\x7e]*$/.test(value);
}
