// Reads `Retry-After`, which answers of providers and of receivers have.
const retryAfterMax = 24 * 60 * 60;

/**
 * Returns how long a server asks to wait, in whole seconds; null when it does not say.
 * `Retry-After` is a number of seconds or a date; OpenAI and Azure also send the finer
 * `retry-after-ms`.
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

/** Returns the first value of a repeated header. */
export function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function isNumber(text: string): boolean {
  return /^\d+(?:\.\d+)?$/.test(text.trim());
}

function clampSeconds(seconds: number): number {
  return Math.min(Math.max(Math.ceil(seconds), 0), retryAfterMax);
}
