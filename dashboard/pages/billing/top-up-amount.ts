// What an amount to pay in must be, in words for its field.
import { microsFromText, usdText } from '../../parts/money-text.ts';

const microsPerCent = 10_000;

/** null: it can be paid. */
export function topUpProblem(text: string, bounds: { readonly min_micros: number; readonly max_micros: number }): string | null {
  const micros = microsFromText(text);
  if (micros === null) return 'Enter an amount in US dollars, such as 25 or 12.50.';
  if (micros < bounds.min_micros) return `The least is ${usdText(bounds.min_micros)}.`;
  if (micros > bounds.max_micros) return `The most is ${usdText(bounds.max_micros)}.`;
  return micros % microsPerCent === 0 ? null : 'Cards are charged in whole cents.';
}
