// The one registry of everything a client can be told went wrong. docs/errors.md is kept in step by a test.

/** `retry`: whether the same request can succeed later without a change. `hint`: what a developer or operator does about it. */
type ErrorKind = { readonly status: number; readonly retry: boolean; readonly meaning: string; readonly remedy: string };

export const errorKinds = {
  invalid_request: {
    status: 400,
    retry: false,
    meaning: 'The request is malformed; `param` names the field.',
    remedy: 'Change the field as the message says.',
  },
  context_length_exceeded: {
    status: 400,
    retry: false,
    meaning: 'The prompt is longer than the model takes.',
    remedy: 'Shorten the input or choose a model with a larger context.',
  },
  invalid_api_key: {
    status: 401,
    retry: false,
    meaning: 'The API key is missing, wrong, revoked, disabled or expired, or two different ones were sent.',
    remedy: 'Send one valid key as `Authorization: Bearer <key>` or `x-api-key`.',
  },
  not_signed_in: {
    status: 401,
    retry: false,
    meaning: 'The dashboard was asked without a session, or with one that has ended.',
    remedy: 'Sign in.',
  },
  sign_in_failed: {
    status: 401,
    retry: false,
    meaning: 'The e-mail address, the password or the code is wrong, or the code was used before.',
    remedy: 'Try again, or ask for a new password.',
  },
  insufficient_balance: {
    status: 402,
    retry: false,
    meaning: 'The balance, less what running requests hold, does not cover the most this request can cost.',
    remedy: 'Top up, lower the output limit to what the message says is affordable, or wait for running requests to end.',
  },
  model_not_allowed_for_key: {
    status: 403,
    retry: false,
    meaning: "The model is not in the key's allowed list.",
    remedy: "Use an allowed model, or change the key's list.",
  },
  address_not_allowed: {
    status: 403,
    retry: false,
    meaning: 'The key, or its account, may not be used from the address that the request came from.',
    remedy: 'Send from an allowed address, or change the list.',
  },
  account_frozen: {
    status: 403,
    retry: false,
    meaning: 'The account is frozen by the operator.',
    remedy: 'Contact the operator.',
  },
  loss_budget_exceeded: {
    status: 403,
    retry: false,
    meaning:
      'In the last 30 days the account has brought about more unpaid cost than it may: answers that cannot be passed on, or costs beyond its balance and caps.',
    remedy:
      'Wait until `resets_at`, or ask the operator, who can forgive the losses or raise the budget. Running requests go on.',
  },
  not_permitted: {
    status: 403,
    retry: false,
    meaning: 'The signed-in user may not do this, or the request came from the page of another site.',
    remedy: 'Ask an owner of the account, or an operator.',
  },
  model_not_found: {
    status: 404,
    retry: false,
    meaning: 'No such model, or none of its providers is switched on.',
    remedy: 'List the models with `GET /v1/models`.',
  },
  not_found: {
    status: 404,
    retry: false,
    meaning: 'No such path.',
    remedy: 'Check the path; the API lives under `/v1`.',
  },
  method_not_allowed: {
    status: 405,
    retry: false,
    meaning: 'The path exists, the method does not.',
    remedy: 'Use a method of the `Allow` header.',
  },
  conflict: {
    status: 409,
    retry: false,
    meaning: 'In the dashboard: it was done before, or something has changed meanwhile.',
    remedy: 'Look again, then decide anew.',
  },
  request_too_large: {
    status: 413,
    retry: false,
    meaning: 'The body is larger than `server.body_limit_bytes`.',
    remedy: 'Send less, or let the operator raise the limit.',
  },
  unsupported_media_type: {
    status: 415,
    retry: false,
    meaning: 'The body is not JSON by its content type (for image edits, nor a form), or is compressed.',
    remedy: 'Send uncompressed JSON with `Content-Type: application/json`.',
  },
  idempotency_conflict: {
    status: 422,
    retry: false,
    meaning: 'The Idempotency-Key was used with another body, method or path.',
    remedy: 'Use a new key for a new request.',
  },
  idempotency_body_not_retained: {
    status: 422,
    retry: false,
    meaning:
      'The request with this Idempotency-Key succeeded and was charged, but its answer was not kept: it was too long, or its account keeps none.',
    remedy:
      'It never runs twice under this key: use a new one to run it anew, or let the operator raise `idempotency.body_limit_bytes`.',
  },
  key_daily_limit_reached: {
    status: 429,
    retry: false,
    meaning: "The key's daily cap, less what its running requests hold, does not cover the most this request can cost.",
    remedy: 'Wait for 00:00 UTC, raise the cap, or use another key.',
  },
  key_monthly_limit_reached: {
    status: 429,
    retry: false,
    meaning: "The key's monthly cap, less what its running requests hold, does not cover the most this request can cost.",
    remedy: 'Wait for the next month (UTC), raise the cap, or use another key.',
  },
  rate_limit_exceeded: {
    status: 429,
    retry: true,
    meaning:
      'The key or its account sends more requests or tokens a minute, or more requests at once, than it may; or too many wrong keys came from the address.',
    remedy: 'Wait as long as `Retry-After` says.',
  },
  internal_error: {
    status: 500,
    retry: true,
    meaning: "The gateway's own fault. Nothing was charged.",
    remedy: 'Retry; report the request id if it persists.',
  },
  upstream_error: {
    status: 502,
    retry: true,
    meaning: 'The provider failed or answered what cannot be read. Nothing was charged.',
    remedy: 'Retry; the operator sees the cause.',
  },
  upstream_unavailable: {
    status: 503,
    retry: true,
    meaning:
      'The provider is overloaded or cannot be reached, the gateway cannot read or write its database, or it is shutting down. Nothing was charged.',
    remedy: 'Retry after `Retry-After`.',
  },
  overloaded: {
    status: 503,
    retry: true,
    meaning: 'The gateway itself has more work than it can do. Nothing was charged.',
    remedy: 'Retry after `Retry-After`.',
  },
  upstream_timeout: {
    status: 504,
    retry: true,
    meaning: 'The provider did not answer in time. Nothing was charged.',
    remedy: 'Retry, perhaps with a smaller request.',
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

/** Thrown anywhere on a request's way; the server writes it in the shape of the endpoint. `message` is for the client. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  /** The field at fault, as a path in the request: `messages[0].content`. */
  readonly param: string | null;
  /** Structured facts for the client: which limit, what is left, what is held, when it resets. */
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly retryAfterSeconds: number | null;
  /** Response headers beside `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      param?: string | null;
      details?: Readonly<Record<string, unknown>> | null;
      retryAfterSeconds?: number | null;
      headers?: Readonly<Record<string, string>>;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = errorKinds[code].status;
    this.param = options.param ?? null;
    this.details = options.details ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.headers = options.headers ?? {};
  }
}

/** A 400 that names the field and says what to do. Both may quote what the client sent, megabytes perhaps, and are cut to be read. */
export function invalidRequest(param: string | null, message: string, details: ApiError['details'] = null): ApiError {
  return new ApiError('invalid_request', shorten(message, 1_000), { param: param && shorten(param, 200), details });
}

function shorten(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1)}…`;
}
