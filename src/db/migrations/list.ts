// All migrations in order, under the same names for both databases. The list is static, so that a
// missing file fails at every start and is found before a release. A released migration is never
// edited: the next one corrects it. Migrations only run forward.
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

export type Migrations = Readonly<Record<string, Migration>>;

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
} satisfies Migrations;

const postgres: Readonly<Record<keyof typeof sqlite, Migration>> = {
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
};

export const migrations: Readonly<Record<'sqlite' | 'postgres', Migrations>> = { sqlite, postgres };
