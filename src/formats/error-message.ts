// Finds the upstream's message in an error body. One reader serves all formats, because hosts of
// one format differ more than the formats do.
import type { VendorError } from '../canonical/vendor-error.ts';
import { isObject, parseJson, type JsonObject } from '../lib/json.ts';

const charactersMax = 2_000;
/** No host nests its message deeper, but an upstream may send anything. */
const levelsMax = 8;
/** Of a message inside a message. */
const rawCharactersMax = 20_000;

/**
 * Reads OpenAI's and Anthropic's `{error: {message}}`, xAI's `{error: "…"}`, Mistral's `{detail:
 * "…"}`, FastAPI's list of `{msg}`, vLLM's `{message}`, Deepgram's `{err_msg}`, AWS's `{Message}`, Gemini's
 * `[{error}]`, and plain text. `body` is parsed JSON, or text when it was not JSON. Returns null when
 * there is no message, as in a proxy's HTML page.
 */
export function readErrorMessage(body: unknown): string | null {
  return readWithin(body, levelsMax);
}

function readWithin(body: unknown, levels: number): string | null {
  if (typeof body === 'string') return readPlainMessage(body);
  if (levels === 0) return null;
  if (Array.isArray(body)) return readWithin(body[0], levels - 1);
  if (!isObject(body)) return null;
  for (const inner of [
    rawMessage(body),
    body.error,
    body.message,
    body.Message,
    body.detail,
    body.msg,
    body.err_msg,
    failedBase(body)?.status_msg,
  ]) {
    const message = readWithin(inner, levels - 1);
    if (message !== null) return message;
  }
  return null;
}

/** OpenRouter has the words of the host behind it, often JSON, beside a message that says nothing. */
function rawMessage({ message, metadata }: JsonObject): unknown {
  if (message !== 'Provider returned error' || !isObject(metadata)) return null;
  const { raw } = metadata;
  if (typeof raw !== 'string') return raw;
  const parsed = parseJson(Buffer.from(raw.slice(0, rawCharactersMax)), { depthMax: levelsMax });
  return parsed.ok ? parsed.value : raw;
}

/**
 * Reads what OpenAI's and Anthropic's SDKs build their error classes from. Mistral, Cerebras and SGLang
 * have it beside the message, without `error`.
 */
export function readVendorError(body: unknown): { readonly vendor?: VendorError } {
  const error = isObject(body) && !isObject(body.error) ? body : isObject(body) && body.error;
  if (!isObject(error)) return {};
  const { param, code, details } = error;
  const vendor = {
    ...(typeof param === 'string' && { param }),
    // Azure repeats the status there, as text, and DeepSeek the type: our own code says more.
    ...(typeof code === 'string' && !/^(?:\d+|invalid_request_error)$/.test(code) && { code }),
    ...(isObject(details) && { details }),
  };
  return Object.keys(vendor).length > 0 ? { vendor } : {};
}

/**
 * Reads the HTTP status of an error that came with a status of success, such as a stream's: OpenRouter and
 * Perplexity send it in `code`, Groq in `status_code`; OpenAI and Anthropic only name the error. null: it has
 * none.
 */
export function readErrorStatus(error: unknown): number | null {
  if (!isObject(error)) return null;
  const { code, type } = error;
  const status = [error['status_code'], error['status'], code].find(
    (value) => typeof value === 'number',
  );
  if (status !== undefined && minimaxStatuses[status] !== undefined) return minimaxStatuses[status];
  const isStatus = Number.isInteger(status) && status! >= 400 && status! <= 599;
  return isStatus ? status! : (statusOfName(code) ?? statusOfName(type));
}

function statusOfName(name: unknown): number | null {
  if (typeof name !== 'string') return null;
  if (/^[45]\d\d$/.test(name)) return Number(name);
  return namedStatuses.find(([, names]) => names.test(name))?.[0] ?? null;
}

/** The first that matches counts. `data_inspection_failed`: Alibaba's, for a forbidden text. */
const namedStatuses: readonly (readonly [status: number, names: RegExp])[] = [
  [401, /authentication|api_key/],
  [402, /insufficient_quota|credit_balance|billing/],
  [403, /permission/],
  [413, /request_too_large/],
  [429, /rate_limit|too_many_requests/],
  [529, /^overloaded_error$/],
  [503, /overloaded|unavailable/],
  [504, /timeout/],
  [
    400,
    /invalid|context_length|policy|moderation|image(?!\w*server)|unsupported|bad_request|data_inspection/,
  ],
  [404, /not_found/],
];

/** By MiniMax's codes (platform.minimax.io/docs/api-reference/errorcode, read 2026-11-30). */
const minimaxStatuses: Readonly<Record<number, number>> = {
  1001: 504,
  1002: 429,
  1004: 401,
  1008: 402,
  1026: 400,
  1027: 400,
  1039: 429,
  1041: 429,
  1042: 400,
  2013: 400,
  2049: 401,
  2056: 429,
};

/**
 * Returns the error that a body or an event with a status of success reports: its `error`, MiniMax's
 * `base_resp`, or the whole when it is nothing else, as Mistral, SGLang and Cerebras send it; null: none.
 */
export function reportedError(body: JsonObject): unknown {
  return body.error || (failedBase(body) ?? (isFlatError(body) ? body : null));
}

/** Answers hold lists or objects. Bedrock's and Vertex's jobs have a `message` beside some, too. */
function isFlatError(body: JsonObject): boolean {
  if (body.object === 'error') return true;
  if (typeof body.message !== 'string' || body.message === '') return false;
  return Object.values(body).every((value) => typeof value !== 'object' || value === null);
}

/**
 * MiniMax's `{base_resp: {status_code, status_msg}}`, which all its answers have; null: it has not
 * failed.
 */
function failedBase({ base_resp: base }: JsonObject): JsonObject | null {
  return isObject(base) && typeof base.status_code === 'number' && base.status_code !== 0
    ? base
    : null;
}

/** A proxy's HTML page does not help a developer. Alibaba's messages may begin with `<400>`. */
function readPlainMessage(text: string): string | null {
  const plain = text.trim();
  return plain === '' || /^<[a-z!?/]/i.test(plain) ? null : plain.slice(0, charactersMax);
}
