// Resolves how long charges are kept, and where the files of removed days go.
import { resolve } from 'node:path';
import type { FieldValues } from './field-values.ts';
import type { RetentionConfig } from './schema.ts';

/** Throws ConfigError when charges shall be removed without an export. */
export function resolveRetention(
  { fields, faultAt }: FieldValues,
  cwd: string,
): RetentionConfig | null {
  const { charges_days: chargesDays, export_folder: folder } = fields.retention;
  if (chargesDays === null) return null;
  if (folder !== null) return { charges_days: chargesDays, export_folder: resolve(cwd, folder) };
  throw faultAt(['retention', 'export_folder'], {
    problem: 'is missing: charges are removed only after their export to a file',
    remedy: 'Write the folder for the files, or leave `charges_days` out to keep all charges.',
  });
}
