// Reads the details in Google's error bodies:
// https://ai.google.dev/gemini-api/docs/troubleshooting, and google.rpc's details.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { isObject, type JsonObject, objectsOf } from '../../lib/json.ts';
import { readAccountFailure } from '../account-failure.ts';

/**
 * Google sends 400 for a wrong key and for an account that may not call the API. The client would
 * be blamed, so they become 401 and 403. The retry delay is in the body instead of a header.
 */
export function readFailure(failure: UpstreamFailure, body: unknown): UpstreamFailure {
  return readAccountFailure(readDetails(failure, body), body);
}

function readDetails(failure: UpstreamFailure, body: unknown): UpstreamFailure {
  const error = readError(body);
  if (!error) return failure;
  const details = objectsOf(error.details);
  const retryAfterSeconds = failure.retryAfterSeconds ?? readRetryDelay(details);
  return {
    ...failure,
    status: failure.status === 400 ? readStatus(error, details) : failure.status,
    retryAfterSeconds,
  };
}

/** Errors of a stream are a list of one. */
function readError(body: unknown): JsonObject | null {
  const answer: unknown = Array.isArray(body) ? body[0] : body;
  return isObject(answer) && isObject(answer.error) ? answer.error : null;
}

function readStatus({ status, message }: JsonObject, details: readonly JsonObject[]): number {
  const isKeyRefused =
    details.some(({ reason }) => reason === 'API_KEY_INVALID') ||
    /^API key (?:not valid|not found|expired)/i.test(String(message));
  if (isKeyRefused) return 401;
  // No billing, or a region where the API is not offered.
  return status === 'FAILED_PRECONDITION' ? 403 : 400;
}

/** `{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"}` → 35. */
function readRetryDelay(details: readonly JsonObject[]): number | null {
  const delay = details.find((detail) => typeof detail.retryDelay === 'string')?.retryDelay;
  const seconds = /^(\d{1,5}(?:\.\d+)?)s$/.exec(String(delay))?.[1];
  return seconds === undefined ? null : Math.ceil(Number(seconds));
}
