// The fee on a payment by card.
import type { Config } from '../../config/schema.ts';
import { micros, microsPerCent, type Micros } from '../../lib/money.ts';

/** `percent`: of the credit, with at most four decimals. */
export type CardFee = { readonly percent: number; readonly fixedCents: number };

export function feeOf(settings: NonNullable<Config['stripe']>): CardFee {
  return { percent: settings.fee_percent, fixedCents: settings.fee_fixed_cents };
}

/**
 * Returns the fee on a credit of whole cents. The percentage is rounded up to a whole cent once;
 * then the fixed part is added.
 * @example cardFeeMicros(micros(10_000_000), { percent: 2.9, fixedCents: 30 }) // $0.59
 */
export function cardFeeMicros(creditMicros: Micros, { percent, fixedCents }: CardFee): Micros {
  const parts = BigInt(creditMicros / microsPerCent) * BigInt(partsPerMillion(percent));
  const cents = Number((parts + 999_999n) / 1_000_000n) + fixedCents;
  return micros(cents * microsPerCent);
}

export function partsPerMillion(percent: number): number {
  return Math.round(percent * 10_000);
}
