// All migrations in order, under the same names for both databases. The list is static, so that a
// missing file fails at every start and is found before a release. A released migration is never
// edited: the next one corrects it. Migrations only run forward, and the version before must be able
// to serve beside each: docs/decisions/0013-upgrades.md has the rules.
import type { Migration } from 'kysely/migration';
import { foundation as foundationOnPostgres } from './0001-foundation-postgres.ts';
import { foundation } from './0001-foundation.ts';
import { extensions as extensionsOnPostgres } from './0002-extensions-postgres.ts';
import { extensions } from './0002-extensions.ts';
import { webSearches } from './0003-web-searches.ts';
import { prices, pricesOnPostgres } from './0004-prices.ts';
import { idempotentResponses, idempotentResponsesOnPostgres } from './0005-idempotent-responses.ts';
import { cachedResponses, cachedResponsesOnPostgres } from './0006-cached-responses.ts';
import { limits, limitsOnPostgres } from './0007-limits.ts';
import { images } from './0008-images.ts';
import { activity, activityOnPostgres } from './0009-activity.ts';
import { signIn, signInOnPostgres } from './0010-sign-in.ts';
import { auditLog, auditLogOnPostgres } from './0011-audit-log.ts';
import { billing, billingOnPostgres } from './0012-billing.ts';
import { disabledKeys, disabledKeysOnPostgres } from './0013-disabled-keys.ts';
import { proofs, proofsOnPostgres } from './0014-proofs.ts';
import { likelyCosts, likelyCostsOnPostgres } from './0015-likely-costs.ts';
import { secrets, secretsOnPostgres } from './0016-secrets.ts';
import { provokedLosses, provokedLossesOnPostgres } from './0017-provoked-losses.ts';
import { cardFees, cardFeesOnPostgres } from './0018-card-fees.ts';
import { adminKeys, adminKeysOnPostgres } from './0019-admin-keys.ts';
import { smallerRows, smallerRowsOnPostgres } from './0020-smaller-rows.ts';
import { sealedDays, sealedDaysOnPostgres } from './0021-sealed-days.ts';
import { chargePartitions, chargePartitionsOnPostgres } from './0022-charge-partitions.ts';
import { requestHistory, requestHistoryOnPostgres } from './0024-request-history.ts';
import { earlierKeys, earlierKeysOnPostgres } from './0025-earlier-keys.ts';
import { accountTelemetry, accountTelemetryOnPostgres } from './0026-account-telemetry.ts';
import { tags, tagsOnPostgres } from './0027-tags.ts';
import { activityHours, activityHoursOnPostgres } from './0028-activity-hours.ts';
import { lossIndex, lossIndexOnPostgres } from './0030-loss-index.ts';
import { keyScopes } from './0031-key-scopes.ts';
import { members, membersOnPostgres } from './0032-members.ts';
import { passkeys, passkeysOnPostgres } from './0033-passkeys.ts';
import { keptBodies, keptBodiesOnPostgres } from './0034-kept-bodies.ts';
import { tagRecords, tagRecordsOnPostgres } from './0035-tag-records.ts';

export type DatabaseMigration = Migration & {
  /**
   * On PostgreSQL: runs statement by statement, for `create index concurrently` and for changes in
   * batches. It must finish what an interrupted run has begun.
   */
  readonly outsideTransaction?: boolean;
};

export type Migrations = Readonly<Record<string, DatabaseMigration>>;

const sqlite = {
  '0001-foundation': foundation,
  '0002-extensions': extensions,
  '0003-web-searches': webSearches,
  '0004-prices': prices,
  '0005-idempotent-responses': idempotentResponses,
  '0006-cached-responses': cachedResponses,
  '0007-limits': limits,
  '0008-images': images,
  '0009-activity': activity,
  '0010-sign-in': signIn,
  '0011-audit-log': auditLog,
  '0012-billing': billing,
  '0013-disabled-keys': disabledKeys,
  '0014-proofs': proofs,
  '0015-likely-costs': likelyCosts,
  '0016-secrets': secrets,
  '0017-provoked-losses': provokedLosses,
  '0018-card-fees': cardFees,
  '0019-admin-keys': adminKeys,
  '0020-smaller-rows': smallerRows,
  '0021-sealed-days': sealedDays,
  '0022-charge-partitions': chargePartitions,
  '0024-request-history': requestHistory,
  '0025-earlier-keys': earlierKeys,
  '0026-account-telemetry': accountTelemetry,
  '0027-tags': tags,
  '0028-activity-hours': activityHours,
  '0030-loss-index': lossIndex,
  '0031-key-scopes': keyScopes,
  '0032-members': members,
  '0033-passkeys': passkeys,
  '0034-kept-bodies': keptBodies,
  '0035-tag-records': tagRecords,
} satisfies Migrations;

const postgres: Readonly<Record<keyof typeof sqlite, DatabaseMigration>> = {
  '0001-foundation': foundationOnPostgres,
  '0002-extensions': extensionsOnPostgres,
  '0003-web-searches': webSearches,
  '0004-prices': pricesOnPostgres,
  '0005-idempotent-responses': idempotentResponsesOnPostgres,
  '0006-cached-responses': cachedResponsesOnPostgres,
  '0007-limits': limitsOnPostgres,
  '0008-images': images,
  '0009-activity': activityOnPostgres,
  '0010-sign-in': signInOnPostgres,
  '0011-audit-log': auditLogOnPostgres,
  '0012-billing': billingOnPostgres,
  '0013-disabled-keys': disabledKeysOnPostgres,
  '0014-proofs': proofsOnPostgres,
  '0015-likely-costs': likelyCostsOnPostgres,
  '0016-secrets': secretsOnPostgres,
  '0017-provoked-losses': provokedLossesOnPostgres,
  '0018-card-fees': cardFeesOnPostgres,
  '0019-admin-keys': adminKeysOnPostgres,
  '0020-smaller-rows': smallerRowsOnPostgres,
  '0021-sealed-days': sealedDaysOnPostgres,
  '0022-charge-partitions': chargePartitionsOnPostgres,
  '0024-request-history': requestHistoryOnPostgres,
  '0025-earlier-keys': earlierKeysOnPostgres,
  '0026-account-telemetry': accountTelemetryOnPostgres,
  '0027-tags': tagsOnPostgres,
  '0028-activity-hours': activityHoursOnPostgres,
  '0030-loss-index': { ...lossIndexOnPostgres, outsideTransaction: true },
  '0031-key-scopes': keyScopes,
  '0032-members': membersOnPostgres,
  '0033-passkeys': passkeysOnPostgres,
  '0034-kept-bodies': keptBodiesOnPostgres,
  '0035-tag-records': tagRecordsOnPostgres,
};

export const migrations: Readonly<Record<'sqlite' | 'postgres', Migrations>> = { sqlite, postgres };

/** Names of migrations in databases of versions before the first release, and today's. */
export const formerNames: Readonly<Record<string, keyof typeof sqlite>> = {
  '0019-smaller-rows': '0020-smaller-rows',
  '0020-admin-keys': '0019-admin-keys',
};
