// Hours of the week in UTC: 0 begins on Sunday at midnight.

export const weekdays = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
] as const;

/** Formats an hour of the week: `Monday 13:00 UTC`. */
export function weekHourText(hour: number): string {
  return `${weekdays[Math.floor(hour / 24)]} ${String(hour % 24).padStart(2, '0')}:00 UTC`;
}
