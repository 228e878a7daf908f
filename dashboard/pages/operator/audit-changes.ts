// What an entry of the audit log says, field by field, as people read it.
import { usdText } from '../../parts/money-text.ts';
import { factorText } from './factor-text.ts';

export type FieldChange = {
  readonly field: string;
  /** null: there was nothing. */
  readonly before: string | null;
  readonly after: string | null;
};

/** In the order of the fields after the change, then those that are gone. Of something new, what it has not got says nothing. */
export function changesOf(before: unknown, after: unknown): FieldChange[] {
  const [old, current] = [fieldsOf(before), fieldsOf(after)];
  const names = [...new Set([...Object.keys(current), ...Object.keys(old)])];
  return names
    .filter((name) => !(isNothing(old[name]) && isNothing(current[name])))
    .map((name) => ({ field: labelOf(name), before: textOf(old, name), after: textOf(current, name) }));
}

/** Unset, or empty. */
function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** `daily_cap_micros` → `daily cap` */
function labelOf(name: string): string {
  return name.replace(/_(?:micros|ppm|at)$/, '').replaceAll('_', ' ');
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function textOf(fields: Readonly<Record<string, unknown>>, name: string): string | null {
  if (!(name in fields)) return null;
  const value = fields[name];
  if (value === null) return 'none';
  if (typeof value === 'number' && name.endsWith('_micros')) return usdText(value);
  if (typeof value === 'number' && name.endsWith('_ppm')) return factorText(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
