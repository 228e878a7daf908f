// Classifies an upstream's answer by its head and body: an answer, a stream, or a kind of failure.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { readTokenCount } from '../../canonical/usage.ts';
import { reportedError } from '../../formats/error-message.ts';
import { isObject, parseJson, withoutBom } from '../../lib/json.ts';
import { makeFailure, refusedOne } from '../../canonical/make-failure.ts';
import { first, readRetryAfterSeconds, type AnswerHeaders } from '../../lib/retry-after.ts';
import type { PassedLine } from '../request.ts';
import type { UpstreamCall, UpstreamReply } from '../../providers/upstream-call.ts';

export type AnswerHead = {
  readonly status: number;
  readonly statusText: string;
  readonly headers: AnswerHeaders;
};

/** What to do with the body after this head. */
type BodyPlan =
  | { readonly kind: 'stream' }
  /** Read it whole, up to this many bytes. */
  | { readonly kind: 'collect'; readonly bytesMax: number }
  | { readonly kind: 'refuse'; readonly failure: UpstreamFailure };

const longestAnswerBytes = 64 * 1024 * 1024;
const errorBytesMax = 64 * 1024;
/** Answers are written as JSON again, and V8's stack overflows at several thousand levels. */
const answerDepthMax = 1_000;
/**
 * A longer answer that is nested too deep is not even read for its usage: parsing a megabyte of
 * brackets takes 0.2 s.
 */
const deepBytesMax = 1024 * 1024;
/** Server-sent events, and AWS's binary ones. */
const eventTypes = ['text/event-stream', 'application/vnd.amazon.eventstream'];
/** Some hosts send events as plain bytes, or without a content type. */
const streamTypes = new Set([...eventTypes, 'text/plain', 'application/octet-stream', '']);

export function planBody(
  head: AnswerHead,
  { stream, answer, answerBytesMax = longestAnswerBytes }: UpstreamCall,
): BodyPlan {
  const encoding = first(head.headers['content-encoding'])?.toLowerCase() ?? 'identity';
  if (head.status >= 400) return { kind: 'collect', bytesMax: errorBytesMax };
  if (head.status >= 300) return { kind: 'refuse', failure: redirected(head) };
  if (encoding !== 'identity')
    return refuseBilled(`the answer is compressed (${encoding}) although that was not asked for`);
  if (answer === 'file') return { kind: 'stream' };
  const type = contentType(head.headers);
  if (!stream && eventTypes.includes(type))
    return refuseBilled('a stream came where JSON was asked for');
  if (stream && (answer === 'bytes' ? isAudio(type) : streamTypes.has(type)))
    return { kind: 'stream' };
  // JSON instead of a stream is an error with a status of success. It is read for its message or
  // its cost.
  return { kind: 'collect', bytesMax: answerBytesMax };
}

function isAudio(type: string): boolean {
  return type.startsWith('audio/') || ['application/octet-stream', ''].includes(type);
}

/** Bedrock's answers of some models count their tokens only here. */
const bedrockCount = 'x-amzn-bedrock-input-token-count';

/** Reads the answer of a batch API as if it had come over HTTP. */
export function readPassed(
  { status, body }: NonNullable<PassedLine['answer']>,
  nowMs: number,
): UpstreamReply<false> {
  const head = { status, statusText: '', headers: {} };
  return readBody(head, Buffer.from(JSON.stringify(body ?? null)), false, nowMs);
}

/** Reads a whole body. It may be cut off when the status already says that it is an error. */
export function readBody(
  head: AnswerHead,
  raw: Buffer,
  wantsStream: boolean,
  nowMs: number,
): UpstreamReply<false> {
  const bytes = withoutBom(raw);
  const parsed = parseJson(bytes, { depthMax: answerDepthMax });
  const body = parsed.ok ? parsed.value : bodyOf(bytes, head.status < 400 && parsed.isTooDeep);
  let failure: UpstreamFailure | null = null;
  if (head.status >= 400) failure = statusFailure(head, nowMs);
  else if (!parsed.ok) failure = noJson(bytes, parsed);
  else {
    const noStream = wantsStream ? `${describeType(head)} came where a stream was asked for` : null;
    const message = errorMessage(body) ?? noStream;
    if (message !== null) failure = makeFailure('unreadable', message);
  }
  if (failure) return { kind: 'failure', failure, body, requestSent: true };
  const inputTokens = readTokenCount(Number(first(head.headers[bedrockCount]) ?? NaN));
  return { kind: 'answer', body, ...(inputTokens !== null && { inputTokens }) };
}

/**
 * An object that is too deep, ends too early or is spoiled was an answer; a page of HTML is a
 * proxy's.
 */
function noJson(
  bytes: Buffer,
  { message, isTooDeep = false }: { readonly message: string; readonly isTooDeep?: boolean },
): UpstreamFailure {
  // Some hosts send empty lines while the model works.
  const wasAnswer = bytes.find((byte) => byte > 0x20) === 0x7b;
  const failure = makeFailure(
    wasAnswer && !isTooDeep ? 'broken-stream' : 'unreadable',
    `the answer is no JSON: ${message}`,
  );
  // It may be too deep, or too long, to be read for its cost.
  return wasAnswer && isTooDeep ? { ...failure, isBilled: true, isCausedByAccount: true } : failure;
}

/** An answer that is nested too deep to be passed on still shows its cost. */
function bodyOf(bytes: Buffer, isTooDeep = false): unknown {
  const parsed =
    isTooDeep && bytes.length <= deepBytesMax ? parseJson(bytes, { depthMax: Infinity }) : null;
  return parsed?.ok ? parsed.value : bytes.toString('utf8');
}

/**
 * Describes an error by its status. The wire format later finds the message in the body. A 403 with a
 * page comes from a firewall before the provider, which dislikes one request.
 */
function statusFailure(head: AnswerHead, nowMs: number): UpstreamFailure {
  const retryAfterSeconds = readRetryAfterSeconds(head.headers, nowMs);
  const said = describeStatus(head);
  const failure = { ...makeFailure(head.status, said), retryAfterSeconds };
  if (head.status !== 403 || contentType(head.headers) !== 'text/html') return failure;
  const message = `${said}, with a page: a firewall before the provider refuses the request`;
  return refusedOne({ ...failure, message });
}

/**
 * Redirects are not followed: they would carry the credential and the body to a host that nobody
 * configured.
 */
function redirected(head: AnswerHead): UpstreamFailure {
  const message = `${describeStatus(head)}: redirects are not followed; correct the provider's \`base_url\``;
  return makeFailure(head.status, message);
}

/** The provider has answered, in a form that was not asked for. */
function refuseBilled(message: string): BodyPlan {
  return { kind: 'refuse', failure: { ...makeFailure('unreadable', message), isBilled: true } };
}

function describeStatus({ status, statusText }: AnswerHead): string {
  return `HTTP ${status}${statusText === '' ? '' : ` ${statusText}`}`;
}

function describeType({ headers }: AnswerHead): string {
  return contentType(headers) || 'an answer without a content type';
}

function contentType(headers: AnswerHeaders): string {
  return (first(headers['content-type']) ?? '').split(';', 1)[0]!.trim().toLowerCase();
}

/**
 * Returns the message of an error with a status of success; null when there is none. Answers in
 * Responses have `error: null`.
 */
function errorMessage(body: unknown): string | null {
  const error = isObject(body) ? reportedError(body) : null;
  if (typeof error === 'string' && error !== '') return error;
  if (!isObject(error)) return null;
  return typeof error.message === 'string' && error.message !== ''
    ? error.message
    : 'the answer is an error without a message';
}
