// Resolves card payments: both secrets or neither, and amounts that Stripe can charge.
import { checkDecimals } from './decimals.ts';
import type { FieldValues } from './field-values.ts';
import type { ConfigFile, StripeConfig } from './schema.ts';

type StripeEntry = ConfigFile['stripe'];

/**
 * Returns null when Stripe is not configured. Throws ConfigError for one secret without the other,
 * and for inconsistent amounts.
 */
export function resolveStripe(values: FieldValues): StripeConfig | null {
  const { secret_key, webhook_secret, top_up_usd, ...fees } = values.fields.stripe;
  checkAmounts(values, top_up_usd);
  checkDecimals(values.faultAt, { fee_percent: fees.fee_percent }, ['stripe'], {
    decimals: 4,
    remedy: 'It is in percent: 2.9 is 29 thousandths of the credit.',
  });
  if (secret_key === undefined && webhook_secret === undefined) return null;
  if (secret_key === undefined)
    throw missing(values, 'secret_key', 'the key that checkouts are made with');
  if (webhook_secret === undefined)
    throw missing(values, 'webhook_secret', 'payments are credited by signed events only');
  const choices = [...new Set(top_up_usd.choices)].toSorted((one, other) => one - other);
  return { secret_key, webhook_secret, ...fees, top_up_usd: { ...top_up_usd, choices } };
}

/** Payments with a test key are not real money but would become live balance. */
export function stripeWarnings({ secret_key: key }: StripeEntry): string[] {
  if (key === undefined || !/^[sr]k_test_/u.test(key)) return [];
  return ['stripe.secret_key is a key of test mode: top-ups are credited without anybody paying.'];
}

function checkAmounts(
  { faultAt }: FieldValues,
  { min, max, choices }: StripeEntry['top_up_usd'],
): void {
  const amounts = [
    ['min', min] as const,
    ['max', max] as const,
    ...choices.map((choice, index) => [index, choice] as const),
  ];
  for (const [name, amount] of amounts) {
    const path =
      typeof name === 'number'
        ? ['stripe', 'top_up_usd', 'choices', name]
        : ['stripe', 'top_up_usd', name];
    if (Number(amount.toFixed(2)) !== amount)
      throw faultAt(path, {
        problem: `must be whole cents; got ${amount}`,
        remedy: 'Write at most two decimals.',
      });
    if (amount < min || amount > max)
      throw faultAt(path, {
        problem: `must be from min (${min}) to max (${max}); got ${amount}`,
        remedy: 'Change it, or the bounds.',
      });
  }
}

function missing({ faultAt }: FieldValues, field: 'secret_key' | 'webhook_secret', what: string) {
  return faultAt(['stripe', field], {
    problem: `is required beside the other secret: ${what}`,
    remedy: 'Write both, or neither to leave topping up to the operator.',
  });
}
