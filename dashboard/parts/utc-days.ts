// Ranges of UTC days in the address: `?days=7`, or `?from=2026-11-01&to=2026-11-21`.
import type { Search } from './url-state.ts';

export type DayRange = { readonly from: string; readonly to: string };

/** Days that end today: as many, or since the first of the month. */
export type Preset = '1' | '7' | '30' | '90' | '365' | 'month';
export const presetDefault = '30';
const dayMs = 86_400_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Returns the last `days` UTC days, including today. */
export function lastDays(days: number, nowMs: number): DayRange {
  return { from: dayOf(nowMs - (days - 1) * dayMs), to: dayOf(nowMs) };
}

export function daysIn({ from, to }: DayRange): string[] {
  const count = (Date.parse(to) - Date.parse(from)) / dayMs + 1;
  return Array.from({ length: count }, (_, index) => dayOf(Date.parse(from) + index * dayMs));
}

/** Returns as many days before these. */
export function daysBefore({ from, to }: DayRange): DayRange {
  const lengthMs = Date.parse(to) - Date.parse(from) + dayMs;
  return { from: dayOf(Date.parse(from) - lengthMs), to: dayOf(Date.parse(from) - dayMs) };
}

/** Tells whether as many days before are whole: charges began on the first of them or before. */
export function isComparable(range: DayRange, beganOn: string | null | undefined): boolean {
  return typeof beganOn === 'string' && beganOn <= daysBefore(range).from;
}

/** Ignores invalid values. `preset`: null for days that were chosen one by one. */
export function readRange(
  search: Search,
  nowMs: number,
  presets: readonly Preset[],
): { readonly range: DayRange; readonly preset: Preset | null } {
  const [from, to] = [readDay(search.from), readDay(search.to)];
  if (from !== undefined && to !== undefined && from <= to)
    return { range: { from, to }, preset: null };
  const preset = presets.find((days) => days === search.days) ?? presetDefault;
  if (preset !== 'month') return { range: lastDays(Number(preset), nowMs), preset };
  const today = dayOf(nowMs);
  return { range: { from: `${today.slice(0, 7)}-01`, to: today }, preset };
}

export function readDay(text: string | undefined): string | undefined {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : undefined;
}
