// What each header of an answer means.
import { Type, type TSchema } from 'typebox';
import type { HeaderNames } from '../terms/header-names.ts';

type Header = { readonly description: string; readonly schema: TSchema };

const text = Type.String();
const count = Type.Integer({ minimum: 0 });

const ownHeaders: Readonly<Record<keyof HeaderNames, Header>> = {
  cost: {
    description: 'What the request cost, in millionths of a US dollar. 0 for a repeated answer.',
    schema: count,
  },
  balance: {
    description: 'The spendable balance after the request, in US cents.',
    schema: Type.Integer(),
  },
  reserved: {
    description: 'What a stream holds of the balance until it ends, in millionths of a US dollar.',
    schema: count,
  },
  outputLimit: {
    description: 'The output limit that the balance allowed; only if it is lower than requested.',
    schema: count,
  },
  ignored: { description: 'Fields of the request that had no effect.', schema: text },
  emulated: {
    description: 'Fields that the provider does not support and the gateway emulates.',
    schema: text,
  },
  mode: { description: 'Present for test keys.', schema: Type.Literal('test') },
  cache: {
    description: 'The source of an answer that was not made for this request.',
    schema: Type.Enum(['hit', 'idempotent-replay']),
  },
  idempotency: {
    description:
      'The answer is not stored: a repeat with its Idempotency-Key is a 409. In the trailers of a stream.',
    schema: Type.Literal('not-retained'),
  },
  tokenCount: {
    description: 'Present if the count is our own estimate.',
    schema: Type.Literal('estimate'),
  },
  route: { description: 'The provider that served.', schema: text },
  attempts: { description: 'How often the request was sent to a provider.', schema: count },
  streamComments: { description: 'Only on requests.', schema: text },
  tags: { description: 'Only on requests.', schema: text },
};

const bucket = 'of the key or its account, whichever has less left';

const otherHeaders = {
  'x-request-id': {
    description: 'The id of the request: `req_…`.',
    schema: Type.String({ pattern: '^req_' }),
  },
  'request-id': { description: 'The same as `x-request-id`, for Anthropic’s SDK.', schema: text },
  'retry-after': {
    description: 'Seconds after which the same request can succeed.',
    schema: count,
  },
  'www-authenticate': { description: 'How to send a key.', schema: Type.Literal('Bearer') },
  'x-should-retry': {
    description: 'Tells OpenAI’s and Anthropic’s SDKs that a retry cannot help.',
    schema: Type.Literal('false'),
  },
  'x-ratelimit-limit-requests': { description: `Requests a minute ${bucket}.`, schema: count },
  'x-ratelimit-remaining-requests': {
    description: `Requests that are left ${bucket}.`,
    schema: count,
  },
  'x-ratelimit-reset-requests': {
    description: 'The time until all requests are available again: `1m30s`.',
    schema: text,
  },
  'x-ratelimit-limit-tokens': { description: `Tokens a minute ${bucket}.`, schema: count },
  'x-ratelimit-remaining-tokens': { description: `Tokens that are left ${bucket}.`, schema: count },
  'x-ratelimit-reset-tokens': {
    description: 'The time until all tokens are available again: `1m30s`.',
    schema: text,
  },
  'ratelimit-policy': {
    description: `The limits a minute ${bucket}, as the IETF’s draft writes them.`,
    schema: text,
  },
  ratelimit: {
    description: `What is left ${bucket}, as the IETF’s draft writes it.`,
    schema: text,
  },
  deprecation: {
    description: 'Since when the model’s use is discouraged: `@1793491200` (RFC 9745).',
    schema: Type.String({ pattern: '^@\\d+$' }),
  },
  sunset: { description: 'When the model ends, as an HTTP date (RFC 8594).', schema: text },
  link: { description: 'A page about the end of the model.', schema: text },
  etag: { description: 'Changes with the content.', schema: text },
  'cache-control': { description: 'How long the answer may be kept.', schema: text },
  'content-range': { description: 'The bytes that were sent, and the length.', schema: text },
  location: { description: 'The address to open next.', schema: text },
  'x-accel-buffering': {
    description: 'Only on streams: keeps reverse proxies from buffering them.',
    schema: Type.Literal('no'),
  },
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

export function headerOf(name: HeaderName): Header {
  return isStandard(name) ? otherHeaders[name] : ownHeaders[name];
}

function isStandard(name: HeaderName): name is StandardHeader {
  return name in otherHeaders;
}
