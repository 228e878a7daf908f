// The handler of each call of the contract.
import { accountsHandlers } from './accounts/accounts.ts';
import { adminKeysHandlers } from './accounts/admin-keys.ts';
import { alertsHandlers } from './accounts/alerts.ts';
import { auditHandlers } from './accounts/audit-log.ts';
import { autoTopUpHandlers } from './accounts/auto-top-up.ts';
import { batchesHandlers } from './accounts/batches.ts';
import { billingHandlers } from './accounts/billing.ts';
import { keysHandlers } from './accounts/keys.ts';
import { membersHandlers } from './accounts/members.ts';
import { ownKeysHandlers } from './accounts/own-keys.ts';
import { paymentsHandlers } from './accounts/payments.ts';
import { telemetryHandlers } from './accounts/telemetry.ts';
import { usersHandlers } from './accounts/users.ts';
import type { contract } from './contract/contract.ts';
import type { Handlers } from './handlers.ts';
import { analyticsHandlers } from './reports/analytics.ts';
import { modelsHandlers } from './reports/models.ts';
import { overviewHandlers } from './reports/overview.ts';
import { reportsHandlers } from './reports/reports.ts';
import { requestHandlers } from './reports/requests.ts';
import { searchHandlers } from './reports/search.ts';
import { settingsHandlers } from './settings/settings.ts';
import { serviceHandlers } from './reports/service.ts';
import { usageHandlers } from './reports/usage.ts';
import { authHandlers } from './sign-in/auth.ts';
import { deviceLoginsHandlers } from './sign-in/device-logins.ts';
import { passkeysHandlers } from './sign-in/passkeys.ts';
import { profileHandlers } from './sign-in/profile.ts';
import { sessionHandlers } from './sign-in/session.ts';

export const handlers: Handlers<typeof contract> = {
  ...accountsHandlers,
  ...adminKeysHandlers,
  ...alertsHandlers,
  ...analyticsHandlers,
  ...auditHandlers,
  ...authHandlers,
  ...autoTopUpHandlers,
  ...batchesHandlers,
  ...billingHandlers,
  ...deviceLoginsHandlers,
  ...keysHandlers,
  ...membersHandlers,
  ...modelsHandlers,
  ...overviewHandlers,
  ...ownKeysHandlers,
  ...passkeysHandlers,
  ...paymentsHandlers,
  ...profileHandlers,
  ...reportsHandlers,
  ...requestHandlers,
  ...searchHandlers,
  ...serviceHandlers,
  ...settingsHandlers,
  ...sessionHandlers,
  ...telemetryHandlers,
  ...usageHandlers,
  ...usersHandlers,
};
