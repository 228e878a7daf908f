// The one error type of all calls to the gateway.

/** `status` is 0 when the gateway could not be reached. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** A code from docs/errors.md, or `unreachable`. */
  readonly code: string;
  /** Name of the invalid field in the body or query. */
  readonly param: string | null;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | null;

  constructor(fields: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly param?: string | null;
    readonly requestId?: string | null;
    readonly details?: Readonly<Record<string, unknown>>;
    readonly retryAfterSeconds?: number | null;
    readonly cause?: unknown;
  }) {
    super(fields.message, { cause: fields.cause });
    this.status = fields.status;
    this.code = fields.code;
    this.param = fields.param ?? null;
    this.requestId = fields.requestId ?? null;
    this.details = fields.details ?? {};
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null;
  }
}

/**
 * Reads an error response: a problem (RFC 9457) of the dashboard's API, or an error of the public
 * API from the playground. Accepts any body.
 */
export async function readApiError(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const body = await response.text().catch(() => '');
  const error = errorIn(body);
  // Gemini's errors have a list of details. The first has our code, and the facts.
  const [detail = {}] = Array.isArray(error.details) ? error.details.filter(isRecord) : [];
  const facts = isRecord(detail.metadata) ? detail.metadata : {};
  return new ApiError({
    status,
    code: textOf(error.code) ?? textOf(detail.reason)?.toLowerCase() ?? 'unknown',
    message:
      textOf(error.message) ??
      textOf(error.detail) ??
      `The gateway answered with status ${status}.`,
    param: textOf(error.param) ?? textOf(facts.param),
    requestId: textOf(error.request_id) ?? headers.get('x-request-id'),
    details: isRecord(error.details) ? error.details : facts,
    retryAfterSeconds: headers.has('retry-after') ? Number(headers.get('retry-after')) : null,
  });
}

/** The session has ended, or the visitor never signed in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401 && error.code === 'not_signed_in';
}

/** Turns anything a `catch` receives into an ApiError. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new ApiError({ status: 0, code: 'unknown', message, cause: thrown });
}

function errorIn(body: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(body);
    if (!isRecord(parsed)) return {};
    return isRecord(parsed.error) ? parsed.error : parsed;
  } catch {
    return {};
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
