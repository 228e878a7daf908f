// Checks the UTC days of a report.
import { invalidRequest } from '../../canonical/errors.ts';
import { parseUtcDay } from '../../lib/iso-time.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { checkOrder } from '../../server/usage-query.ts';

/** Throws ApiError `invalid_request` when the day does not exist. */
export function startOfDay(name: string, day: string): number {
  const startMs = parseUtcDay(day);
  if (startMs !== null) return startMs;
  throw invalidRequest(name, `\`${name}\` must be a calendar day, such as 2026-11-21.`);
}

type Days = { readonly from?: string; readonly to?: string };

/** Returns the times of days that both are included. Throws ApiError `invalid_request`. */
export function rangeOf({ from, to }: Days): { readonly fromMs?: number; readonly toMs?: number } {
  return checkOrder({
    fromMs: from === undefined ? undefined : startOfDay('from', from),
    toMs: to === undefined ? undefined : startOfDay('to', to) + dayMs,
  });
}

const daysMax = 366;

/** Returns the times of the days. Throws ApiError `invalid_request`. */
export function checkDays(
  from: string,
  to: string,
  max = daysMax,
): { readonly fromMs: number; readonly toMs: number } {
  const toMs = startOfDay('to', to) + dayMs;
  const fromMs = startOfDay('from', from);
  const days = (toMs - fromMs) / dayMs;
  if (days < 1 || days > max)
    throw invalidRequest('to', `\`to\` must be from 0 to ${max - 1} days after \`from\`.`);
  return { fromMs, toMs };
}
