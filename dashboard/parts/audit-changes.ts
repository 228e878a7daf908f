// Formats the changes in an audit entry, field by field.
import { usdText } from './money-text.ts';
import { multiplierText } from './multiplier-text.ts';

type FieldChange = {
  readonly field: string;
  /** Null when the field did not exist. */
  readonly before: string | null;
  readonly after: string | null;
};

/**
 * Lists the fields after the change first, then removed ones. Skips fields that are empty on both
 * sides.
 */
export function changesOf(before: unknown, after: unknown): FieldChange[] {
  const [old, current] = [fieldsOf(before), fieldsOf(after)];
  const names = [...new Set([...Object.keys(current), ...Object.keys(old)])];
  return names
    .filter((name) => !(isEmpty(old[name]) && isEmpty(current[name])))
    .map((name) => ({
      field: labelOf(name),
      before: textOf(old, name),
      after: textOf(current, name),
    }));
}

/** Missing, null, or an empty object or list. */
function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

/** `daily_cap_micros` → `daily cap` */
function labelOf(name: string): string {
  return name.replace(/_(?:micros|ppm|at)$/, '').replaceAll('_', ' ');
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

function textOf(fields: Readonly<Record<string, unknown>>, name: string): string | null {
  if (!(name in fields)) return null;
  const value = fields[name];
  if (value === null) return 'none';
  if (typeof value === 'number' && name.endsWith('_micros')) return usdText(value);
  if (typeof value === 'number' && name.endsWith('_ppm')) return multiplierText(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
