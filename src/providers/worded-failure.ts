import type { UpstreamFailure } from '../canonical/event.ts';
import { refusedOne } from '../canonical/make-failure.ts';
import { readErrorMessage, readErrorStatus, reportedError } from '../formats/error-message.ts';
import { objectOf } from '../lib/json.ts';

type ReadFailure = (failure: UpstreamFailure, body: unknown) => UpstreamFailure;

/**
 * Returns the failure of a call in its provider's words. `readFailure`: the provider's own mapping of errors.
 * When OpenRouter fails after it has begun to answer, whenever MiniMax does, and in a response that
 * failed, only the body has the status of the error. By then OpenRouter has taken the credential.
 */
export function wordedFailure(
  { failure, body }: { readonly failure: UpstreamFailure; readonly body: unknown },
  { readFailure }: { readonly readFailure?: ReadFailure | undefined },
): UpstreamFailure {
  const said = objectOf(body);
  const status = failure.kind === 'unreadable' ? readErrorStatus(reportedError(said)) : null;
  const worded: UpstreamFailure = {
    ...failure,
    ...(status !== null && { kind: 'status', status }),
    message: readErrorMessage(body) ?? failure.message,
  };
  const read = readFailure?.(worded, body) ?? worded;
  return status === null ? read : refusedOne(read);
}
