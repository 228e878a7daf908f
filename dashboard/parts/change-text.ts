// Formats how a figure has changed.

/** `+12%`, `−40%`, `×3.1`; '' when there is nothing to compare with, `unchanged` for the same. */
export function changeText(now: number, before: number): string {
  if (before === 0) return '';
  if (now === before) return 'unchanged';
  const ratio = now / before;
  if (ratio >= 3) return `×${ratio.toLocaleString(undefined, { maximumFractionDigits: 1 })}`;
  const percent = Math.round((ratio - 1) * 100);
  return percent === 0 ? 'unchanged' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)}%`;
}
