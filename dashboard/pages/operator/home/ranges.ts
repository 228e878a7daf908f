// The ranges of UTC days that the home offers.

export const ranges = {
  today: 'Today',
  '7d': '7 days',
  '30d': '30 days',
  month: 'This month',
} as const;
export type RangeName = keyof typeof ranges;

export function isRange(name: string | undefined): name is RangeName {
  return name !== undefined && Object.hasOwn(ranges, name);
}

const dayMs = 86_400_000;

/** Returns the first and the last UTC day; the last is today. */
export function rangeOf(
  name: RangeName,
  now: Date,
): { readonly from: string; readonly to: string } {
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const to = dayOf(now.getTime());
  switch (name) {
    case 'today':
      return { from: to, to };
    case '7d':
      return { from: dayOf(now.getTime() - 6 * dayMs), to };
    case '30d':
      return { from: dayOf(now.getTime() - 29 * dayMs), to };
    case 'month':
      return { from: `${to.slice(0, 7)}-01`, to };
  }
}
