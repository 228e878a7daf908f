// Failures in a stream: an exception in place of an event.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
import type { UpstreamFailure } from '../../canonical/event.ts';
import { makeFailure } from '../../canonical/make-failure.ts';
import { readErrorMessage } from '../error-message.ts';

/** The statuses that these exceptions have before a stream begins. */
const statuses: Readonly<Record<string, number>> = {
  validationException: 400,
  throttlingException: 429,
  modelTimeoutException: 408,
  serviceUnavailableException: 503,
};

/** `type`: its name. `body`: what it says, parsed. */
export function readException(type: string, body: unknown): UpstreamFailure {
  return makeFailure(statuses[type] ?? 500, readErrorMessage(body) ?? type);
}
