// Errors of the dashboard's API and the admin API: problem details, https://www.rfc-editor.org/rfc/rfc9457.
import {
  documentationUrl,
  errorKinds,
  type ApiError,
  type ErrorContext,
} from '../canonical/errors.ts';
import type { JsonObject } from '../lib/json.ts';

export const problemMediaType = 'application/problem+json; charset=utf-8';

/**
 * Writes the body of an error. Beside the members of the RFC it has those of the public API's
 * errors, except that `message` is called `detail`.
 */
export function writeProblem(error: ApiError, context: ErrorContext): JsonObject {
  const { code, status, message, param, details } = error;
  const { requestId } = context;
  return {
    type: documentationUrl(code, context),
    title: errorKinds[code].meaning,
    status,
    detail: message,
    // A reference relative to the request's own URL: no page shows a single failure.
    instance: `#${requestId}`,
    code,
    param,
    request_id: requestId,
    ...(details && { details }),
  };
}
