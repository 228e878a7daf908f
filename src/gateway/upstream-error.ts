// What a client is told of an upstream's failure: its own words only where the client can act on them, scrubbed; else a plain statement.
import { ApiError } from '../canonical/errors.ts';
import type { UpstreamFailure } from '../canonical/event.ts';

const messageCharactersMax = 500;
const defaultRetryAfterSeconds = 5;

/** The client's error for a failure. Failures are free, and the messages say so where a developer would wonder. */
export function toApiError(failure: UpstreamFailure): ApiError {
  switch (failure.kind) {
    case 'status':
      return statusError(failure);
    case 'connection':
      return new ApiError(
        'upstream_unavailable',
        'The provider cannot be reached at the moment. Nothing was charged; retry later.',
        {
          retryAfterSeconds: failure.retryAfterSeconds ?? defaultRetryAfterSeconds,
        },
      );
    case 'timeout':
      return new ApiError(
        'upstream_timeout',
        'The provider did not answer in time. Nothing was charged; retry, perhaps with a smaller request.',
      );
    case 'broken-stream':
      return new ApiError('upstream_error', 'The provider broke off its answer. Nothing was charged; retry.');
    case 'unreadable':
      return new ApiError('upstream_error', 'The provider gave an answer that cannot be read. Nothing was charged; retry.');
  }
}

function statusError(failure: UpstreamFailure): ApiError {
  switch (failure.status) {
    case 400:
    case 404:
    case 413:
    case 422:
      return callersError(failure.message);
    case 429:
    case 503:
    case 529:
      return new ApiError('upstream_unavailable', 'The provider is overloaded at the moment. Nothing was charged; retry later.', {
        retryAfterSeconds: failure.retryAfterSeconds ?? defaultRetryAfterSeconds,
      });
    case 408:
    case 504:
      return new ApiError('upstream_timeout', 'The provider did not answer in time. Nothing was charged; retry.');
    default:
      return new ApiError('upstream_error', 'The provider failed. Nothing was charged; retry.');
  }
}

function callersError(upstreamMessage: string): ApiError {
  const message = scrub(upstreamMessage);
  if (/context.{0,12}(length|window)|prompt is too long|too many (input )?tokens|maximum context/i.test(message)) {
    return new ApiError('context_length_exceeded', message);
  }
  return new ApiError('invalid_request', message === '' ? 'The provider refused the request.' : message);
}

/** Takes this provider's own key and address out of its words, whatever they look like; `scrub` knows only the usual shapes. */
export function withoutProvider(
  message: string,
  { apiKey, baseUrl }: { readonly apiKey: string | null; readonly baseUrl: string },
): string {
  const { host } = new URL(baseUrl);
  const withoutKey = apiKey ? message.replaceAll(apiKey, '[key removed]') : message;
  // A one-word name, as inside a cluster, may be a word of the message.
  return /[.:]/.test(host) ? withoutKey.replaceAll(host, '[address removed]') : withoutKey;
}

/** Takes out what names the operator at its provider: keys, addresses, organisations, mail addresses. */
export function scrub(message: string): string {
  return cutBetweenWords(message)
    .replaceAll(/\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>)\]]+/gi, '[address removed]')
    .replaceAll(/\bBearer\s+\S+/gi, '[key removed]')
    .replaceAll(/\b(?:(?:sk|pk|rk|gsk|xai|tg_live|tg_test)[-_][\w.*-]{6,}|AIza[\w*-]{10,})/g, '[key removed]')
    .replaceAll(/\b(?:org|proj|project|user|acct|wrkspc|req)[-_](?=[\w-]*\d)[\w-]{8,}/g, '[id removed]')
    .replaceAll(/[\w.+-]{1,64}@[\w-]{1,63}\.[\w.]+/g, '[address removed]')
    .replaceAll(
      /\b(?:www\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,8}\.(?:com|org|net|io|ai|dev)(?:\/[^\s"'<>)\]]*)?/gi,
      '[address removed]',
    )
    .slice(0, messageCharactersMax)
    .trim();
}

/** What is looked through: an upstream that quotes its request may send megabytes. */
const scrubbedCharactersMax = 2 * messageCharactersMax;

/** The word at the cut goes too, unless it is all there is: half a key would not be known for one. */
function cutBetweenWords(text: string): string {
  if (text.length <= scrubbedCharactersMax) return text;
  const start = text.slice(0, scrubbedCharactersMax);
  return start.slice(0, start.lastIndexOf(' ') + 1) || start;
}
