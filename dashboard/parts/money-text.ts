// Money as text: whole microdollars in, every digit that counts out.
const microsPerDollar = 1_000_000;

/** Exactly: `$0.000123`, `$12.50`, `−$1,234.005`. At least two decimals, at most six. */
export function usdText(micros: number): string {
  return signed(micros, (amount) => dollars(Math.trunc(amount / microsPerDollar)) + decimals(amount % microsPerDollar, 6));
}

/** For large figures: from a dollar on in whole cents, rounded towards zero, so that never more is shown than there is; exactly below. */
export function shortUsdText(micros: number): string {
  if (Math.abs(micros) < microsPerDollar) return usdText(micros);
  return usdText(Math.trunc(micros / 10_000) * 10_000);
}

/**
 * Of another currency than ours: `¥500`, `€12.50`, `KWD 1.250`. A payment's smallest units are booked as if they were cents, and a yen has none.
 * `currency`: ISO 4217, in lower case as Stripe writes it.
 */
export function foreignText(micros: number, currency: string): string {
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency });
  const { maximumFractionDigits = 2 } = format.resolvedOptions();
  return format.format(micros / 10_000 / 10 ** maximumFractionDigits);
}

/** Of a text that somebody typed, `1,250.5`; null where it is no amount, or has more than six decimals. */
export function microsFromText(text: string): number | null {
  const match = /^\$?\s*(\d{1,3}(?:,\d{3})+|\d+)?(?:\.(\d{0,6}))?$/.exec(text.trim());
  if (!match || (match[1] === undefined && !match[2])) return null;
  const whole = Number((match[1] ?? '0').replaceAll(',', ''));
  const micros = whole * microsPerDollar + Number((match[2] ?? '').padEnd(6, '0'));
  return Number.isSafeInteger(micros) ? micros : null;
}

function signed(micros: number, write: (amount: number) => string): string {
  return micros < 0 ? `−${write(-micros)}` : write(micros);
}

function dollars(whole: number): string {
  return `$${whole.toLocaleString('en-US')}`;
}

function decimals(rest: number, digits: number): string {
  return `.${String(rest)
    .padStart(digits, '0')
    .replace(/0{1,4}$/, '')}`;
}
