// Ranges of UTC days in the address: `?days=7`, or `?from=2026-11-01&to=2026-11-21`.
import type { Search } from './url-state.ts';

export type DayRange = { readonly from: string; readonly to: string };

/** Days that end today. */
export const presetDays = [1, 7, 30, 90, 365] as const;
const presetDefault = 30;

/** Returns the last `days` UTC days, including today. */
export function lastDays(days: number, nowMs: number): DayRange {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  return { from: day(nowMs - (days - 1) * 86_400_000), to: day(nowMs) };
}

/** Ignores invalid values. `preset`: null for days that were chosen one by one. */
export function readRange(
  search: Search,
  nowMs: number,
): { readonly range: DayRange; readonly preset: number | null } {
  const [from, to] = [readDay(search.from), readDay(search.to)];
  if (from !== undefined && to !== undefined && from <= to)
    return { range: { from, to }, preset: null };
  const preset = presetDays.find((days) => String(days) === search.days) ?? presetDefault;
  return { range: lastDays(preset, nowMs), preset };
}

export function readDay(text: string | undefined): string | undefined {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : undefined;
}
