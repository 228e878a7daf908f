import type { UpstreamFailure } from '../canonical/event.ts';
import { readErrorMessage } from '../formats/error-message.ts';

type ReadFailure = (failure: UpstreamFailure, body: unknown) => UpstreamFailure;

/** Returns the failure of a call in its provider's words. `readFailure`: the provider's own mapping of errors. */
export function wordedFailure(
  { failure, body }: { readonly failure: UpstreamFailure; readonly body: unknown },
  { readFailure }: { readonly readFailure?: ReadFailure | undefined },
): UpstreamFailure {
  const worded = { ...failure, message: readErrorMessage(body) ?? failure.message };
  return readFailure?.(worded, body) ?? worded;
}
