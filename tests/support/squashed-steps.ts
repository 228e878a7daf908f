// The record of a database from before the migrations were squashed: the same tables, made in steps.
import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import { migrations } from '../../src/db/migrations/list.ts';

export const steps = `0001-foundation 0002-extensions 0003-web-searches 0004-prices
  0005-idempotent-responses 0006-cached-responses 0007-limits 0008-images 0009-activity 0010-sign-in
  0011-audit-log 0012-billing 0013-disabled-keys 0014-proofs 0015-likely-costs 0016-secrets
  0017-provoked-losses 0018-card-fees 0019-admin-keys 0020-smaller-rows 0021-sealed-days
  0022-charge-partitions 0024-request-history 0025-earlier-keys 0026-account-telemetry 0027-tags
  0028-activity-hours 0030-loss-index 0031-key-scopes 0032-members 0033-passkeys 0034-kept-bodies
  0035-tag-records`.split(/\s+/);

/** Replaces the first schema, in what a migrated database has recorded, by these names. */
export async function recordSteps({ write }: Database, names: readonly string[]): Promise<void> {
  await sql`delete from kysely_migration`.execute(write);
  const later = Object.keys(migrations.sqlite).filter((name) => name !== '0035-first-schema');
  for (const name of [...names, ...later])
    await sql`insert into kysely_migration (name, timestamp)
      values (${name}, '2026-11-26T00:00:00.000Z')`.execute(write);
}
