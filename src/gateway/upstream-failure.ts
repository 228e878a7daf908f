// What can go wrong with an upstream, in the terms of the canonical failure. The messages are for the operator.
import type { UpstreamFailure } from '../canonical/event.ts';

/** Thrown by the chunks of a stream that does not come to its proper end. */
export class UpstreamBroken extends Error {
  readonly failure: UpstreamFailure;

  constructor(failure: UpstreamFailure, options?: ErrorOptions) {
    super(failure.message, options);
    this.failure = failure;
  }
}

export function makeFailure(kind: Exclude<UpstreamFailure['kind'], 'status'>, message: string): UpstreamFailure {
  return { kind, status: null, message, retryAfterSeconds: null };
}

export const stopped: UpstreamFailure = makeFailure('connection', 'the gateway stopped the request');
export const overdue: UpstreamFailure = makeFailure('timeout', 'the answer took longer than `total_ms` allows');
export const unanswered: UpstreamFailure = makeFailure('timeout', 'no answer came within `first_byte_ms`');
export const silent: UpstreamFailure = makeFailure('timeout', 'the answer fell silent for longer than its timeouts allow');

/**
 * The failure behind an error of undici or of the system. `hasAnswered`: the head of an answer had come, so that it broke off rather
 * than never began.
 */
export function failureOf(error: Error, hasAnswered: boolean): UpstreamFailure {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return makeFailure('unreadable', 'the headers of the answer are too large');
  const message = [code, messageOf(error)].filter((word) => word !== '').join(': ');
  if (hasAnswered) return makeFailure('broken-stream', message);
  // A head that contradicts itself, say by two lengths, is an answer too.
  const isNonsense = error.name === 'HTTPParserError' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
  return makeFailure(isNonsense ? 'unreadable' : 'connection', message);
}

/** Whether the request itself could not be written, say for a line break in a key: our fault or the configuration's. */
export function isOurs(error: Error): boolean {
  return 'code' in error && error.code === 'UND_ERR_INVALID_ARG';
}

/** Several addresses that all refuse come as one error without a message of its own. */
function messageOf(error: Error): string {
  if (error.message !== '') return error.message;
  const cause: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return cause instanceof Error ? cause.message : '';
}

const retryAfterMax = 24 * 60 * 60;

/**
 * How long an upstream asks to wait, in whole seconds; null when it does not say. `Retry-After` is a number of seconds or a date;
 * `retry-after-ms` is what OpenAI and Azure send beside it, and finer.
 */
export function readRetryAfterSeconds(headers: AnswerHeaders, nowMs: number): number | null {
  const ms = first(headers['retry-after-ms']);
  const value = first(headers['retry-after']);
  if (ms !== undefined && isNumber(ms)) return clampSeconds(Number(ms) / 1_000);
  if (value === undefined) return null;
  if (isNumber(value)) return clampSeconds(Number(value));
  const date = /^[a-z]{3}/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : clampSeconds((date - nowMs) / 1_000);
}

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The first value of a header, however often it was sent. */
export function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function isNumber(text: string): boolean {
  return /^\d+(?:\.\d+)?$/.test(text.trim());
}

function clampSeconds(seconds: number): number {
  return Math.min(Math.max(Math.ceil(seconds), 0), retryAfterMax);
}
