// Translates errors of HTTP and the system into canonical failures. The messages are for the
// operator.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { makeFailure, type FailedReply } from '../../canonical/make-failure.ts';

export const stopped = makeFailure('connection', 'the gateway stopped the request');
export const overdue: UpstreamFailure = {
  ...makeFailure('timeout', 'the answer took longer than `total_ms` allows'),
  isOverdue: true,
};
export const unaffordable: UpstreamFailure = {
  ...makeFailure('timeout', 'nothing came of the answer, and no more could be held for it'),
  isUnaffordable: true,
};
export const unanswered = makeFailure('timeout', 'no answer came within `first_byte_ms`');
export const silent = makeFailure(
  'timeout',
  'the answer fell silent for longer than its timeouts allow',
);

/** Returns the reply to a call of which nothing was sent. */
export function unsent(failure: UpstreamFailure): FailedReply {
  return { kind: 'failure', failure, body: null, requestSent: false };
}

/**
 * Returns the failure behind an error of undici or the system. `hasAnswered`: the head of an answer
 * had arrived, so the answer broke off.
 */
export function failureOf(error: Error, hasAnswered: boolean): UpstreamFailure {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return makeFailure('unreadable', 'the headers of the answer are too large');
  const message = [code, messageOf(error)].filter((word) => word !== '').join(': ');
  if (hasAnswered) return makeFailure('broken-stream', message);
  // A contradictory head, such as two different lengths, is an answer too.
  const isNonsense =
    error.name === 'HTTPParserError' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
  return makeFailure(isNonsense ? 'unreadable' : 'connection', message);
}

/**
 * True when the request itself could not be written, for example because of a line break in a key:
 * our fault or the configuration's.
 */
export function isOurs(error: Error): boolean {
  return 'code' in error && error.code === 'UND_ERR_INVALID_ARG';
}

/** When several addresses all refuse, Node raises one error without a message. */
function messageOf(error: Error): string {
  if (error.message !== '') return error.message;
  const cause: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return cause instanceof Error ? cause.message : '';
}
