// Formats and parses price multipliers. The API has millionths; people read a factor.
const one = 1_000_000;

/** `×1`, `×0.9`, `×1.25` */
export function multiplierText(ppm: number): string {
  return `×${ppm / one}`;
}

/** For a form field: without the multiplication sign. */
export function multiplierField(ppm: number): string {
  return String(ppm / one);
}

/**
 * Parses typed text. Returns null unless it is a number from 0 to 1000 with at most six decimals.
 */
export function ppmFromText(text: string): number | null {
  const match = /^[×x]?\s*(\d{1,4})(?:\.(\d{0,6}))?$/i.exec(text.trim());
  if (!match) return null;
  const ppm = Number(match[1]) * one + Number((match[2] ?? '').padEnd(6, '0'));
  return ppm <= 1_000 * one ? ppm : null;
}
