// The steps that the first schema replaces. Databases made before the migrations were squashed have
// recorded them instead of it. One with all of them has the same tables; one with fewer must be
// upgraded through the last commit that still knew the steps.
import { DatabaseUnusable } from '../database-error.ts';

const lastCommit = '1573b74';
const firstSchema = '0035-first-schema';

const steps = `0001-foundation 0002-extensions 0003-web-searches 0004-prices
  0005-idempotent-responses 0006-cached-responses 0007-limits 0008-images 0009-activity 0010-sign-in
  0011-audit-log 0012-billing 0013-disabled-keys 0014-proofs 0015-likely-costs 0016-secrets
  0017-provoked-losses 0018-card-fees 0019-admin-keys 0020-smaller-rows 0021-sealed-days
  0022-charge-partitions 0024-request-history 0025-earlier-keys 0026-account-telemetry 0027-tags
  0028-activity-hours 0030-loss-index 0031-key-scopes 0032-members 0033-passkeys 0034-kept-bodies
  0035-tag-records`.split(/\s+/);

/** Two steps had other numbers at first. */
const formerNames: Readonly<Record<string, string>> = {
  '0019-smaller-rows': '0020-smaller-rows',
  '0020-admin-keys': '0019-admin-keys',
};

/**
 * Returns the recorded migrations with the first schema in the place of its steps. Throws for a
 * database that has only some of the steps.
 */
export function withoutSteps(recorded: readonly string[]): readonly string[] {
  const names = new Set(recorded.map((name) => formerNames[name] ?? name));
  const missing = steps.filter((step) => !names.has(step));
  if (missing.length === steps.length) return recorded;
  if (missing.length > 0)
    throw new DatabaseUnusable(
      `The database is too old for this version of Tollgate: it lacks the migration ${missing[0]}. Upgrade it through the commit ${lastCommit}, the last before the migrations were squashed: check that out, run "npx tollgate migrate" there, then start this version (docs/upgrading.md).`,
    );
  return [firstSchema, ...[...names].filter((name) => !steps.includes(name))];
}
