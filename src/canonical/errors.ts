// The one registry of client-visible errors. A test compares it with docs/errors.md.
import type { SchemaProblem } from '../lib/schema.ts';
import type { VendorError } from './vendor-error.ts';

/** `retry`: the same request can succeed later. `remedy`: what a developer or operator can do. */
type ErrorKind = {
  readonly status: number;
  readonly retry: boolean;
  readonly meaning: string;
  readonly remedy: string;
};

export const errorKinds = {
  invalid_request: {
    status: 400,
    retry: false,
    meaning: 'The request is malformed. `param` names the field.',
    remedy: 'Change the field as the message says.',
  },
  context_length_exceeded: {
    status: 400,
    retry: false,
    meaning: 'The prompt is longer than the model allows.',
    remedy: 'Shorten the input, or choose a model with a larger context.',
  },
  previous_response_not_found: {
    status: 400,
    retry: false,
    meaning:
      'Over a WebSocket: `previous_response_id` names a response that the connection does not keep. It keeps its last one, while there is memory.',
    remedy: 'Send the whole conversation in `input`, without `previous_response_id`.',
  },
  websocket_connection_limit_reached: {
    status: 400,
    retry: false,
    meaning: 'The WebSocket has been open for 60 minutes, and is closed.',
    remedy: 'Open another, and send the whole conversation there.',
  },
  invalid_api_key: {
    status: 401,
    retry: false,
    meaning:
      'The API key is missing, wrong, revoked, disabled or expired, or the request has two different keys. The admin API needs an admin key.',
    remedy:
      'Send one valid key as `Authorization: Bearer <key>` or, for the API under `/v1` and `/v1beta`, `x-api-key` or `x-goog-api-key`.',
  },
  not_signed_in: {
    status: 401,
    retry: false,
    meaning: 'The dashboard request has no session, or its session has ended.',
    remedy: 'Sign in.',
  },
  sign_in_failed: {
    status: 401,
    retry: false,
    meaning:
      'The e-mail address, password or code is wrong, the code was already used, or the passkey is refused.',
    remedy: 'Try again, or ask for a new password.',
  },
  insufficient_balance: {
    status: 402,
    retry: false,
    meaning:
      'The balance, less what running requests hold, does not cover the most this request can cost.',
    remedy:
      'Top up, lower the output limit to what the message says is affordable, or wait until running requests end.',
  },
  model_not_allowed_for_key: {
    status: 403,
    retry: false,
    meaning: "The model is not in the key's list of allowed models.",
    remedy: "Use an allowed model, or change the key's list.",
  },
  key_scope_missing: {
    status: 403,
    retry: false,
    meaning: 'The key lacks the scope that the endpoint needs. `details.needed_scope` names it.',
    remedy: 'Use a key with this scope, or change the scopes of the key.',
  },
  address_not_allowed: {
    status: 403,
    retry: false,
    meaning: "The request's address is not in the allowed list of the key or its account.",
    remedy: 'Send from an allowed address, or change the list.',
  },
  account_frozen: {
    status: 403,
    retry: false,
    meaning: 'The operator has frozen the account.',
    remedy: 'Contact the operator.',
  },
  loss_budget_exceeded: {
    status: 403,
    retry: false,
    meaning:
      'In the last 30 days the account caused more unpaid cost than its loss budget allows: answers that cannot be passed on, or costs beyond its balance and caps.',
    remedy:
      'Wait until `resets_at`, or ask the operator to forgive the losses or raise the budget. Running requests continue.',
  },
  confirmation_required: {
    status: 403,
    retry: false,
    meaning:
      'The dashboard’s call gives a way in that outlives the session, and the user has not confirmed it. `details` says how.',
    remedy: 'Send the password, or what `details` names, with the call.',
  },
  not_permitted: {
    status: 403,
    retry: false,
    meaning:
      'The signed-in user may not do this, the admin key lacks the scope, or the request came from another site.',
    remedy: 'Ask an owner of the account, or an operator.',
  },
  model_not_found: {
    status: 404,
    retry: false,
    meaning: 'The model does not exist or has ended, or none of its providers is switched on.',
    remedy: 'List the models with `GET /v1/models`.',
  },
  not_found: {
    status: 404,
    retry: false,
    meaning: 'The path does not exist.',
    remedy: 'Check the path. The API is under `/v1`.',
  },
  method_not_allowed: {
    status: 405,
    retry: false,
    meaning: 'The path exists, but does not support this method.',
    remedy: 'Use a method from the `Allow` header.',
  },
  request_timeout: {
    status: 408,
    retry: true,
    meaning: 'The request did not arrive within `server.arrival_timeout_ms`. It did not run.',
    remedy: 'Send it again, in one piece.',
  },
  conflict: {
    status: 409,
    retry: false,
    meaning:
      'In the dashboard and the admin API: the change was already made, is not possible now, or something else changed meanwhile.',
    remedy: 'Reload, check, and try again.',
  },
  idempotency_body_not_retained: {
    status: 409,
    retry: false,
    meaning:
      'The request with this Idempotency-Key succeeded and is not charged again, but its response is not stored: it was too much for what an account stores in a day, its file could not be written or is gone, the account stores none or has erased it, or the secret that encrypted it has ended. A header of the first response said so, if it was known by then.',
    remedy:
      'The request never runs again under this key. Use a new key to run it again, or ask the operator to raise `idempotency.file_bytes_per_day` or `limits.free_bytes_per_day`.',
  },
  request_too_large: {
    status: 413,
    retry: false,
    meaning: 'The body is larger than `server.body_limit_bytes`.',
    remedy: 'Send a smaller body, or ask the operator to raise the limit.',
  },
  unsupported_media_type: {
    status: 415,
    retry: false,
    meaning:
      'The content type is not JSON (for image edits, nor a form), or the body is compressed.',
    remedy: 'Send uncompressed JSON with `Content-Type: application/json`.',
  },
  idempotency_conflict: {
    status: 422,
    retry: false,
    meaning: 'The Idempotency-Key was already used with another body, method or path.',
    remedy: 'Use a new key for a new request.',
  },
  upgrade_required: {
    status: 426,
    retry: false,
    meaning:
      'The request asks for a WebSocket where there is none, or the account has too many open; or it lacks the upgrade that this address needs.',
    remedy: 'Send the request by POST, with `stream: true` to get the answer as it is written.',
  },
  key_daily_limit_reached: {
    status: 429,
    retry: false,
    meaning:
      "The key's daily cap, less what its running requests hold, does not cover the most this request can cost.",
    remedy:
      'Lower the field that the message names; wait until running requests end, or until 00:00 UTC; raise the cap; or use another key.',
  },
  key_monthly_limit_reached: {
    status: 429,
    retry: false,
    meaning:
      "The key's monthly cap, less what its running requests hold, does not cover the most this request can cost.",
    remedy:
      'Lower the field that the message names; wait until running requests end, or until the next month (UTC); raise the cap; or use another key.',
  },
  member_budget_reached: {
    status: 429,
    retry: false,
    meaning:
      "The budget of the key's owner, less what running requests of all their keys hold, does not cover the most this request can cost.",
    remedy:
      'Lower the field that the message names; wait until running requests end, or until `resets_at`; or have an owner of the account raise the budget.',
  },
  rate_limit_exceeded: {
    status: 429,
    retry: true,
    meaning:
      'The key or its account exceeds its requests a minute, tokens a minute, requests at once or free images a day, or the address sent too many wrong keys.',
    remedy: 'Wait for the time in `Retry-After`.',
  },
  headers_too_large: {
    status: 431,
    retry: false,
    meaning: "The request's headers are larger than 16 KB.",
    remedy: 'Send fewer or shorter headers.',
  },
  internal_error: {
    status: 500,
    retry: true,
    meaning: 'The gateway failed. Nothing was charged.',
    remedy: 'Retry. Report the request id if it happens again.',
  },
  not_supported: {
    status: 501,
    retry: false,
    meaning: 'An endpoint of another service that its clients can do without.',
    remedy: 'Nothing: the client goes on without it.',
  },
  upstream_error: {
    status: 502,
    retry: true,
    meaning:
      'The provider failed, or its answer could not be read. Nothing was charged, unless the message says so.',
    remedy: 'Retry. The operator sees the cause in the log.',
  },
  upstream_unavailable: {
    status: 503,
    retry: true,
    meaning:
      'The provider is overloaded or unreachable, the gateway cannot use its database, or the gateway is shutting down. Nothing was charged.',
    remedy: 'Retry after `Retry-After`.',
  },
  overloaded: {
    status: 503,
    retry: true,
    meaning: 'The gateway is overloaded. Nothing was charged.',
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

/**
 * Thrown anywhere while a request is handled; the server writes it in the endpoint's format.
 * `message` is for the client.
 */
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
  /** True: the message has the provider's words, which may quote the request. */
  readonly isQuoted: boolean;
  /** The provider's own code and details, for a client of the same format. */
  readonly vendor: VendorError | null;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      param?: string | null;
      details?: Readonly<Record<string, unknown>> | null;
      retryAfterSeconds?: number | null;
      headers?: Readonly<Record<string, string>>;
      isQuoted?: boolean;
      vendor?: VendorError | null;
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
    this.isQuoted = options.isQuoted ?? false;
    this.vendor = options.vendor ?? null;
  }
}

/** Facts about the request and the gateway that an error's body contains. */
export type ErrorContext = {
  readonly requestId: string;
  /** The address of the gateway, without a slash at its end; null: unknown. */
  readonly publicUrl: string | null;
};

/** Returns where the documentation explains a code: a path when the address is unknown. */
export function documentationUrl(code: ErrorCode, { publicUrl }: ErrorContext): string {
  return `${publicUrl ?? ''}/docs/errors#${code}`;
}

/** The 404 for an id that names nothing: `noSuch('key')`. */
export function noSuch(thing: string): ApiError {
  return new ApiError('not_found', `There is no such ${thing}. Look it up in the list.`);
}

/**
 * A 400 that names the field and says what to do. Both texts may quote megabytes of the request, so
 * they are cut short.
 */
export function invalidRequest(
  param: string | null,
  message: string,
  details: ApiError['details'] = null,
): ApiError {
  const field = param && shorten(param, 200);
  const text = param && field !== param ? message.replaceAll(param, field!) : message;
  return new ApiError('invalid_request', shorten(text, 1_000), { param: field, details });
}

/** Throws ApiError `invalid_request`. `why`: the message behind the path. */
export function refuseField(path: string, why: string): never {
  throw invalidRequest(path, `${path} ${why}`);
}

/** Throws ApiError `invalid_request` for the first problem that a schema finds. null: there is none. */
export function refuseProblem(problem: SchemaProblem | null): void {
  if (problem)
    throw invalidRequest(problem.path || null, `${problem.path || 'the body'} ${problem.message}`);
}

/**
 * Quotes words of a client in a message: in double quotes, where `withoutWords` finds them again.
 * Our own words, such as names of fields, stand in backticks.
 */
export function quoted(words: unknown): string {
  return JSON.stringify(shorten(String(words), 200));
}

/** Returns the message and the field of an error without what the client chose, to be stored. */
export function withoutWords({
  message,
  param,
}: Pick<ApiError, 'message' | 'param'>): Pick<ApiError, 'message' | 'param'> {
  const field = param && fieldName(param);
  const named = param ? message.replaceAll(param, field!) : message;
  const text = named
    .replaceAll(/"(?:[^"\\]|\\.)*(?:"|$)/gs, '"…"')
    .replaceAll(/\bgot -?\d[\d.e+-]{6,}/g, 'got a number');
  return { message: text, param: field };
}

/** A client may have chosen the name: words are cut after the first, and long ones. */
function fieldName(param: string): string {
  const plain = /^[\w$.[\]…-]*/.exec(param)![0];
  const cut = plain.replaceAll(/[\w$-]{41,}/g, (name) => `${name.slice(0, 40)}…`);
  return plain === param ? cut : `${cut}…`;
}

export function accountFrozen(): ApiError {
  return new ApiError(
    'account_frozen',
    'This account is frozen. Contact the operator of this service.',
  );
}

export function idempotencyConflict(): ApiError {
  return new ApiError(
    'idempotency_conflict',
    'This Idempotency-Key was used with another body, method or path. Use a new key for a new request.',
  );
}

/** The 400 for a cursor that this list did not return. */
export function invalidCursor(): ApiError {
  return invalidRequest(
    'cursor',
    '`cursor` must be the `next_cursor` of the page before, unchanged.',
  );
}

function shorten(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1)}…`;
}
