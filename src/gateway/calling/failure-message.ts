// Turns an upstream's failure into the client's error: the upstream's own words, scrubbed, only
// when the client can act on them; otherwise a plain statement.
import { ApiError } from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { VendorError } from '../../canonical/vendor-error.ts';
import { isObject } from '../../lib/json.ts';
import { withoutOwnKey } from '../../terms/own-key.ts';
import { hasEnded } from '../../terms/retirement.ts';
import { modelEnded, type EndingModel } from '../retirement.ts';
import { isCredentialRefused } from './retry-policy.ts';
import type { RouteName } from './shared-health.ts';

const messageCharactersMax = 500;
const defaultRetryAfterSeconds = 5;

/** Errors for failures that pass: code, cause and remedy. Nothing is charged, and each error says so. */
const plainErrors = {
  overloaded: ['upstream_unavailable', 'The provider is overloaded at the moment', 'retry later'],
  connection: [
    'upstream_unavailable',
    'The provider cannot be reached at the moment',
    'retry later',
  ],
  late: ['upstream_timeout', 'The provider did not answer in time', 'retry'],
  timeout: [
    'upstream_timeout',
    'The provider did not answer in time',
    'retry, perhaps with a smaller request',
  ],
  unaffordable: [
    'upstream_timeout',
    'The provider has shown nothing of its answer so far, and the balance or a cap has no room for more that it may write unseen',
    'retry when there is more room, or with a smaller output limit',
  ],
  'broken-stream': ['upstream_error', 'The provider broke off its answer', 'retry'],
  unreadable: ['upstream_error', 'The provider gave an answer that cannot be read', 'retry'],
  failed: ['upstream_error', 'The provider failed', 'retry'],
} as const satisfies Record<string, readonly [code: string, what: string, remedy: string]>;

export function toApiError(failure: UpstreamFailure): ApiError {
  const { kind, status, ownKeyOf, isUnaffordable, retryAfterSeconds, brokeOff } = failure;
  if (ownKeyOf !== undefined) return ownKeyRefused(ownKeyOf, status);
  if (kind === 'status' && isCallers(status)) return callersError(failure);
  if (brokeOff !== undefined)
    return new ApiError(
      'upstream_error',
      `The model broke off its answer (${brokeOff}). Nothing was charged; retry, perhaps with fewer or simpler tools.`,
    );
  const ofKind = isUnaffordable ? 'unaffordable' : kind;
  const [code, what, remedy] = plainErrors[ofKind === 'status' ? wordOf(status) : ofKind];
  return new ApiError(code, `${what}. Nothing was charged; ${remedy}.`, {
    ...(code === 'upstream_unavailable' && {
      retryAfterSeconds: retryAfterSeconds ?? defaultRetryAfterSeconds,
    }),
  });
}

/** Matches the words in which providers refuse a model that they ended. The test quotes them. */
const modelGone =
  /\bmodel\b.{0,200}\b(?:not (?:found|exist|available|supported)|no longer|decommissioned|deprecated|retired|shut ?down)\b/is;

/** Like `toApiError`. When the provider refuses a model after its last day, it names the successor. */
export function toModelError(
  failure: UpstreamFailure,
  model: EndingModel,
  nowMs: number,
): ApiError {
  const { status, message } = failure;
  const isGone =
    status === 404 ||
    status === 410 ||
    (status === 400 && modelGone.test(message.slice(0, scrubbedCharactersMax)));
  return isGone && hasEnded(model.retirement, nowMs) ? modelEnded(model) : toApiError(failure);
}

/** Statuses that are about the request. */
function isCallers(status: number | null): boolean {
  return [400, 404, 410, 413, 422].includes(status ?? 0);
}

function wordOf(status: number | null): 'overloaded' | 'late' | 'failed' {
  if ([429, 498, 503, 529].includes(status ?? 0)) return 'overloaded';
  return status === 408 || status === 504 ? 'late' : 'failed';
}

/** Says of a refused credential when it is the account's own. */
export function withOwner(failure: UpstreamFailure, name: RouteName): UpstreamFailure {
  if (name.ownKeyId === undefined || !isCredentialRefused(failure.status)) return failure;
  return { ...failure, ownKeyOf: withoutOwnKey(name.provider) };
}

function ownKeyRefused(provider: string, status: number | null): ApiError {
  const why = status === 402 ? 'which asks for payment' : `with HTTP ${status}`;
  return new ApiError(
    'upstream_error',
    `The account's own key for ${provider} was refused by ${provider}, ${why}, and no other route could answer. ` +
      'Nothing was charged. An owner of the account can replace or remove the key in the dashboard, under Settings, Own keys.',
    { details: { own_key_of: provider, upstream_status: status } },
  );
}

/** Matches the words in which providers refuse a prompt that is too long. The test quotes them. */
const tooLong = new RegExp(
  [
    'context.{0,12}(?:length|window|size|limit)',
    'prompt is too long',
    'input token count',
    'input tokens exceed',
    'input is too long',
    // Together, and Hugging Face's servers.
    '`?inputs`? tokens \\+ `?max_new_tokens`? must be',
    'too many (?:input )?tokens',
    'maximum context',
    'maximum prompt length',
    'prompt exceeds max length',
    'exceeded model token limit',
    'range of input length',
    'reduce the length of the messages',
    'length of all messages is too long',
    'is too large to process',
  ].join('|'),
  'i',
);

function callersError({ message: upstreamMessage, vendor }: UpstreamFailure): ApiError {
  const message = scrub(upstreamMessage);
  const options = { param: vendor?.param, vendor, isQuoted: message !== '' };
  if (tooLong.test(message)) {
    // Agents compact at OpenAI's code only, and Alibaba has `invalid_parameter_error`, xAI
    // `invalid-argument`: github.com/kortix-ai/suna/pull/6368 (read 2026-11-30).
    const { code: _hosts, ...others } = vendor ?? {};
    return new ApiError('context_length_exceeded', message, { ...options, vendor: others });
  }
  return new ApiError(
    'invalid_request',
    message === '' ? 'The provider refused the request.' : message,
    options,
  );
}

type Provider = { readonly apiKey: string | null; readonly baseUrl: string };

const detailsBytesMax = 4_096;
const detailsLevelsMax = 4;

/** Returns a vendor's error for the client: bounded, and scrubbed as the message is. */
function cleanVendorError({ param, code, details }: VendorError, provider: Provider): VendorError {
  const clean = (text: string) => scrub(withoutProvider(text, provider));
  const shown = details && cleanDetails(details, clean, detailsLevelsMax);
  return {
    ...(param !== undefined && { param: clean(param) }),
    ...(code !== undefined && /^[\w.-]{1,64}$/.test(code) && clean(code) === code && { code }),
    ...(isObject(shown) && JSON.stringify(shown).length <= detailsBytesMax && { details: shown }),
  };
}

/** undefined: the value is left out. */
function cleanDetails(value: unknown, clean: (text: string) => string, levels: number): unknown {
  if (typeof value === 'string') return clean(value);
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  if (levels === 0 || typeof value !== 'object') return undefined;
  if (Array.isArray(value))
    return value.slice(0, 100).flatMap((each) => cleanDetails(each, clean, levels - 1) ?? []);
  const entries = Object.entries(value)
    .slice(0, 100)
    .filter(([name]) => /^\w{1,64}$/.test(name) && clean(name) === name);
  return Object.fromEntries(
    entries.map(([name, each]) => [name, cleanDetails(each, clean, levels - 1)]),
  );
}

/** A shorter key (`none`, on self-hosted servers) is no secret and may be part of any message. */
const plainKeyCharactersMax = 8;

/** Removes this provider's key and address from its words and from its own fields of the error. */
export function withoutSecrets(failure: UpstreamFailure, provider: Provider): UpstreamFailure {
  const { vendor } = failure;
  return {
    ...failure,
    message: withoutProvider(failure.message, provider),
    ...(vendor && { vendor: cleanVendorError(vendor, provider) }),
  };
}

/**
 * Removes this provider's key and address from its message, whatever they look like; `scrub` only
 * knows the usual shapes.
 */
export function withoutProvider(message: string, { apiKey, baseUrl }: Provider): string {
  const { host } = new URL(baseUrl);
  const words = withoutKey(message, apiKey);
  // A one-word host name, as inside a cluster, may be an ordinary word of the message.
  return /[.:]/.test(host) ? words.replaceAll(host, '[address removed]') : words;
}

/** For operators, who know the address. */
export function withoutKey(message: string, apiKey: string | null): string {
  return apiKey && apiKey.length > plainKeyCharactersMax
    ? message.replaceAll(apiKey, '[key removed]')
    : message;
}

/**
 * Removes what identifies the operator at its provider: keys, addresses, organisations, e-mail
 * addresses.
 */
export function scrub(message: string): string {
  return (
    cutBetweenWords(message)
      .replaceAll(/\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>)\]]+/gi, '[address removed]')
      .replaceAll(/\bBearer\s+\S+/gi, '[key removed]')
      // Clouds name accounts and projects.
      .replaceAll(/\barn:aws[\w-]{0,20}:[^\s"'<>)\]]+/g, '[id removed]')
      .replaceAll(/\bprojects\/[\w:.-]+/g, 'projects/[id removed]')
      .replaceAll(/\baccount:? (?:\d{12}\b|'[\w-]{1,100}')/gi, 'account [id removed]')
      .replaceAll(
        /\b(?:(?:sk|pk|rk|gsk|xai|tg_live|tg_test|tg_admin)[-_][\w.*-]{6,}|AIza[\w*-]{10,})/g,
        '[key removed]',
      )
      .replaceAll(
        /\b(?:org|proj|project|user|acct|wrkspc|req)[-_](?=[\w-]*\d)[\w-]{8,}/g,
        '[id removed]',
      )
      // A long id may hold no digit.
      .replaceAll(/\b(?:org|proj)[-_][A-Za-z]{20,}/g, '[id removed]')
      .replaceAll(uuidOfOwner, '$1[id removed]')
      .replaceAll(/[\w.+-]{1,64}@[\w-]{1,63}\.[\w.]+/g, '[address removed]')
      .replaceAll(
        /\b(?:www\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,8}\.(?:com|org|net|io|ai|dev)(?:\/[^\s"'<>)\]]*)?/gi,
        '[address removed]',
      )
      .slice(0, messageCharactersMax)
      .trim()
  );
}

/** A UUID after a word for the operator's account at the provider: `organization_id: 550e8400-…`. */
const uuidOfOwner =
  /\b((?:org|organi[sz]ation|project|workspace|team|api key)[\W_]{1,5}(?:id[\W_]{1,5})?)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Only this much is searched: an upstream that quotes its request may send megabytes. */
const scrubbedCharactersMax = 2 * messageCharactersMax;

/**
 * Also drops the word at the cut, unless it is the only one: half a key would not be recognised.
 */
function cutBetweenWords(text: string): string {
  if (text.length <= scrubbedCharactersMax) return text;
  const start = text.slice(0, scrubbedCharactersMax);
  return start.slice(0, start.lastIndexOf(' ') + 1) || start;
}
