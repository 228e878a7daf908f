// Formats counts, shares and durations. Numbers follow the reader's locale; units are English.

/** `1,234,567` */
export function countText(count: number): string {
  return count.toLocaleString();
}

/** `1 input token`, `1,234 input tokens` */
export function countedText(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `1.2M`, for places where the exact count does not matter. */
export function shortCountText(count: number): string {
  return count.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 });
}

/** Formats a share from 0 to 1: `12.5%`. */
export function shareText(share: number): string {
  return share.toLocaleString(undefined, { style: 'percent', maximumFractionDigits: 1 });
}

/** `840 ms`, `12.4 s`, `3 min 5 s` */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000)
    return `${(ms / 1_000).toLocaleString(undefined, { maximumFractionDigits: 1 })} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** `812 bytes`, `256 KiB`, `1.5 MiB` */
export function byteText(bytes: number): string {
  if (bytes < 1_024) return `${countText(bytes)} bytes`;
  const [size, unit] = bytes < 1_048_576 ? [bytes / 1_024, 'KiB'] : [bytes / 1_048_576, 'MiB'];
  return `${size.toLocaleString(undefined, { maximumFractionDigits: 1 })} ${unit}`;
}
