// Formats money: whole microdollars in, text with every significant digit out.
const microsPerDollar = 1_000_000;

/** Formats the exact amount with two to six decimals: `$0.000123`, `$12.50`, `−$1,234.005`. */
export function usdText(micros: number): string {
  return signed(
    micros,
    (amount) =>
      dollars(Math.trunc(amount / microsPerDollar)) + decimals(amount % microsPerDollar, 6),
  );
}

/**
 * Formats a headline: whole cents, rounded to the nearest, a half to the even one. An amount that
 * would become zero shows as less than a cent: `$1,000.00`, `<$0.01`, `−<$0.01`. The exact amount
 * belongs beside it, on hover.
 */
export function shortUsdText(micros: number): string {
  return fixedUsdText(micros, 2);
}

/** Formats with a fixed number of decimals, 2 to 6, rounded like a headline. */
export function fixedUsdText(micros: number, digits: number): string {
  const unit = 10 ** (6 - digits);
  return signed(micros, (amount) => {
    const rounded = roundHalfEven(amount / unit) * unit;
    if (rounded === 0 && amount !== 0) return `<${fixedUsdText(unit, digits)}`;
    const rest = String(rounded % microsPerDollar).padStart(6, '0');
    return `${dollars(Math.trunc(rounded / microsPerDollar))}.${rest.slice(0, digits)}`;
  });
}

/** Returns the decimals that show every amount of a column exactly: 2 to 6. */
export function columnDigits(column: readonly (number | null | undefined)[]): number {
  const exact = [2, 3, 4, 5].find((digits) =>
    column.every((micros) => (micros ?? 0) % 10 ** (6 - digits) === 0),
  );
  return exact ?? 6;
}

/** Formats an amount with a fraction of a microdollar, to nine decimals: `$0.000000125`. */
export function fineUsdText(micros: number): string {
  const nanos = Math.round(micros * 1_000);
  return signed(nanos, (amount) => {
    const rest = String(amount % 1_000_000_000).padStart(9, '0');
    return `${dollars(Math.trunc(amount / 1_000_000_000))}.${rest.replace(/0{1,7}$/, '')}`;
  });
}

/**
 * Formats other currencies: `¥500`, `€12.50`, `KWD 1.250`. Payments are booked as if the currency's
 * smallest unit were a cent, so the number of decimals must be undone here. `currency`: lower-case
 * ISO 4217, as Stripe writes it.
 */
export function foreignText(micros: number, currency: string): string {
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency });
  const { maximumFractionDigits = 2 } = format.resolvedOptions();
  return format.format(micros / 10_000 / 10 ** maximumFractionDigits);
}

/**
 * Parses typed text such as `1,250.5`. Returns null for anything else, such as a comma for decimals
 * (`0,500`), or for more than six decimals.
 */
export function microsFromText(text: string): number | null {
  const match = /^\$?\s*([1-9]\d{0,2}(?:,\d{3})+|\d+)?(?:\.(\d{0,6}))?$/.exec(text.trim());
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

function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const part = value - below;
  if (part !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}
