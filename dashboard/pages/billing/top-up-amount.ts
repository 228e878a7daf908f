// Validation of a top-up amount, and its card fee.
import { microsFromText, usdText } from '../../parts/money-text.ts';

const microsPerCent = 10_000;

/** Returns the problem for the amount field; null when the amount is valid. */
export function topUpProblem(
  text: string,
  bounds: { readonly min_micros: number; readonly max_micros: number },
): string | null {
  const micros = microsFromText(text);
  if (micros === null) return 'Enter an amount in US dollars, such as 25 or 12.50.';
  if (micros < bounds.min_micros) return `The minimum is ${usdText(bounds.min_micros)}.`;
  if (micros > bounds.max_micros) return `The maximum is ${usdText(bounds.max_micros)}.`;
  return micros % microsPerCent === 0 ? null : 'Enter an amount in whole cents.';
}

type Fee = { readonly ppm: number; readonly fixed_micros: number };

/**
 * Returns the card fee, for display. The gateway computes the same. The percentage is rounded up to
 * a whole cent. `amountMicros`: whole cents.
 */
export function feeMicros(amountMicros: number, { ppm, fixed_micros: fixedMicros }: Fee): number {
  const cents = Math.ceil(((amountMicros / microsPerCent) * ppm) / 1_000_000);
  return cents * microsPerCent + fixedMicros;
}
