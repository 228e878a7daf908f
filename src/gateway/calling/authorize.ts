// Gives a call the headers of its provider's credential: a token or a signature.
import { CredentialError } from '../../providers/credential.ts';
import { makeFailure } from './failure.ts';
import type { FailedReply, UpstreamCall } from './upstream-call.ts';

/**
 * Returns the call with the credential's headers, or the failure when there are none. Nothing was
 * sent then.
 */
export async function authorize<Stream extends boolean>(
  call: UpstreamCall<Stream>,
  url: URL,
): Promise<UpstreamCall<Stream> | FailedReply> {
  const { provider, headers, body } = call;
  const pieces = Array.isArray(body) ? Buffer.concat(body as readonly Buffer[]) : body;
  try {
    const method = call.method === 'GET' ? 'GET' : 'POST';
    const toAuthorize = { method, url, headers, body: pieces as Buffer | string | null } as const;
    const own = await provider.credential!.headersFor(toAuthorize);
    return { ...call, headers: { ...headers, ...own } };
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error;
    const failure = error.isRefused
      ? ({ kind: 'status', status: 401, message: error.message, retryAfterSeconds: null } as const)
      : makeFailure('connection', error.message);
    return {
      kind: 'failure',
      failure: { ...failure, isUnauthorized: true },
      body: null,
      requestSent: false,
    };
  }
}
