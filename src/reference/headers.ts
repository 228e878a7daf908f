// What each header of an answer means.
import { Type, type TSchema } from 'typebox';
import type { HeaderNames } from '../terms/header-names.ts';

type Header = readonly [schema: TSchema, description: string];

const text = Type.String();
const count = Type.Integer({ minimum: 0 });

const ownHeaders: Readonly<Record<keyof HeaderNames, Header>> = {
  cost: [count, 'What the request cost, in millionths of a US dollar. 0 for a repeated answer.'],
  balance: [Type.Integer(), 'The spendable balance after the request, in US cents.'],
  reserved: [
    count,
    'What a stream holds of the balance until it ends, in millionths of a US dollar.',
  ],
  outputLimit: [
    count,
    'The output limit that the balance allowed; only if it is lower than requested.',
  ],
  ignored: [text, 'Fields of the request that had no effect.'],
  emulated: [text, 'Fields that the provider does not support and the gateway emulates.'],
  mode: [Type.Literal('test'), 'Present for test keys.'],
  cache: [
    Type.Enum(['hit', 'idempotent-replay']),
    'The source of an answer that was not made for this request.',
  ],
  idempotency: [
    Type.Literal('not-retained'),
    'The answer is not stored: a repeat with its Idempotency-Key is a 409. In the trailers of a stream.',
  ],
  tokenCount: [Type.Literal('estimate'), 'Present if the count is our own estimate.'],
  route: [text, 'The provider that served.'],
  attempts: [count, 'How often the request was sent to a provider.'],
  streamComments: [text, 'Only on requests.'],
  tags: [text, 'Only on requests.'],
};

const bucket = 'of the key or its account, whichever has less left';

const otherHeaders = {
  'x-request-id': [Type.String({ pattern: '^req_' }), 'The id of the request: `req_…`.'],
  'request-id': [text, 'The same as `x-request-id`, for Anthropic’s SDK.'],
  'retry-after': [count, 'Seconds after which the same request can succeed.'],
  'www-authenticate': [Type.Literal('Bearer'), 'How to send a key.'],
  'x-should-retry': [
    Type.Literal('false'),
    'Tells OpenAI’s and Anthropic’s SDKs that a retry cannot help.',
  ],
  'x-ratelimit-limit-requests': [count, `Requests a minute ${bucket}.`],
  'x-ratelimit-remaining-requests': [count, `Requests that are left ${bucket}.`],
  'x-ratelimit-reset-requests': [text, 'The time until all requests are available again: `1m30s`.'],
  'x-ratelimit-limit-tokens': [count, `Tokens a minute ${bucket}.`],
  'x-ratelimit-remaining-tokens': [count, `Tokens that are left ${bucket}.`],
  'x-ratelimit-reset-tokens': [text, 'The time until all tokens are available again: `1m30s`.'],
  'ratelimit-policy': [text, `The limits a minute ${bucket}, as the IETF’s draft writes them.`],
  ratelimit: [text, `What is left ${bucket}, as the IETF’s draft writes it.`],
  deprecation: [
    Type.String({ pattern: '^@\\d+$' }),
    'Since when the model’s use is discouraged: `@1793491200` (RFC 9745).',
  ],
  sunset: [text, 'When the model ends, as an HTTP date (RFC 8594).'],
  link: [text, 'A page about the end of the model.'],
  etag: [text, 'Changes with the content.'],
  'cache-control': [text, 'How long the answer may be kept.'],
  'content-range': [text, 'The bytes that were sent, and the length.'],
  location: [text, 'The address to open next.'],
  'x-accel-buffering': [
    Type.Literal('no'),
    'Only on streams: keeps reverse proxies from buffering them.',
  ],
} satisfies Readonly<Record<string, Header>>;

type StandardHeader = keyof typeof otherHeaders;
/** Our own headers by their key, others by their name. */
export type HeaderName = keyof HeaderNames | StandardHeader;

/** Headers of the rate limits, on answers and refusals. */
export const rateHeaders = (Object.keys(otherHeaders) as StandardHeader[]).filter((name) =>
  /^(?:x-)?ratelimit/.test(name),
);

/** Returns the header's name on the wire, in lower case. */
export function wireNameOf(name: HeaderName, names: HeaderNames): string {
  return isStandard(name) ? name : names[name].toLowerCase();
}

export function headerOf(name: HeaderName): { description: string; schema: TSchema } {
  const [schema, description] = isStandard(name) ? otherHeaders[name] : ownHeaders[name];
  return { description, schema };
}

function isStandard(name: HeaderName): name is StandardHeader {
  return name in otherHeaders;
}
