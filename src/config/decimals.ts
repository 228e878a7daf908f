// Amounts are stored exactly, so a number with more decimals than that is refused.
import type { FieldPath } from './config-error.ts';
import type { FaultAt } from './field-values.ts';

const words = { 4: 'four', 6: 'six' } as const;

type Rule = { readonly decimals?: keyof typeof words; readonly remedy: string };

/** Throws ConfigError for the first number in `values`, the fields at a path, with more decimals. */
export function checkDecimals(
  faultAt: FaultAt,
  values: object,
  at: FieldPath,
  { decimals = 6, remedy }: Rule,
): void {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== 'number' || Number(value.toFixed(decimals)) === value) continue;
    const problem = `must have at most ${words[decimals]} decimals; got ${value}`;
    throw faultAt([...at, name], { problem, remedy });
  }
}
