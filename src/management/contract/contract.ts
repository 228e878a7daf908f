// Every call that manages accounts, and what each door has of it.
import { accountsEndpoints } from './accounts.ts';
import { adminKeysEndpoints } from './admin-keys.ts';
import { alertsEndpoints } from './alerts.ts';
import { analyticsEndpoints } from './analytics.ts';
import { auditEndpoints } from './audit-log.ts';
import { authEndpoints } from './auth.ts';
import { autoTopUpEndpoints } from './auto-top-up.ts';
import { batchesEndpoints } from './batches.ts';
import { billingEndpoints } from './billing.ts';
import { deviceLoginsEndpoints } from './device-logins.ts';
import { keyDoor, sessionDoor } from './doors.ts';
import type { Access } from './endpoint.ts';
import { keysEndpoints } from './keys.ts';
import { membersEndpoints } from './members.ts';
import { modelsEndpoints } from './models.ts';
import { overviewEndpoints } from './overview.ts';
import { ownKeysEndpoints } from './own-keys.ts';
import { paymentsEndpoints } from './payments.ts';
import { passkeysEndpoints, profileEndpoints } from './profile.ts';
import { reportsEndpoints } from './reports.ts';
import { requestEndpoints } from './requests.ts';
import { searchEndpoints } from './search.ts';
import { serviceEndpoints } from './service.ts';
import { settingsEndpoints } from './settings.ts';
import { sessionEndpoints } from './session.ts';
import { telemetryEndpoints } from './telemetry.ts';
import { usageEndpoints } from './usage.ts';
import { usersEndpoints } from './users.ts';

export const contract = {
  ...accountsEndpoints,
  ...keysEndpoints,
  ...usersEndpoints,
  ...membersEndpoints,
  ...reportsEndpoints,
  ...modelsEndpoints,
  ...telemetryEndpoints,
  ...adminKeysEndpoints,
  ...alertsEndpoints,
  ...analyticsEndpoints,
  ...auditEndpoints,
  ...authEndpoints,
  ...autoTopUpEndpoints,
  ...batchesEndpoints,
  ...billingEndpoints,
  ...deviceLoginsEndpoints,
  ...overviewEndpoints,
  ...ownKeysEndpoints,
  ...passkeysEndpoints,
  ...paymentsEndpoints,
  ...profileEndpoints,
  ...requestEndpoints,
  ...searchEndpoints,
  ...serviceEndpoints,
  ...settingsEndpoints,
  ...sessionEndpoints,
  ...usageEndpoints,
};

export const dashboardCalls = sessionDoor(contract);
export const adminCalls = keyDoor(contract);

type DashboardName<Name extends string, E> =
  | (E extends { readonly access: Access } ? Name : never)
  | (E extends { readonly operator: true } ? BelowOperator<Name> : never);
type BelowOperator<Name extends string> = Name extends `${infer Method} ${infer Path}`
  ? `${Method} /operator${Path}`
  : never;

/** The types that the web app imports: the calls of the dashboard's API. */
export type Contract = {
  readonly [
    Name in keyof typeof contract as DashboardName<Name, (typeof contract)[Name]>
  ]: (typeof contract)[Name];
};
