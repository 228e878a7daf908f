// Every endpoint of the dashboard's API.
import { analyticsEndpoints } from './analytics.ts';
import { budgetsEndpoints } from './budgets.ts';
import { billingEndpoints } from './billing.ts';
import { keysEndpoints } from './keys.ts';
import { modelsEndpoints } from './models.ts';
import { authEndpoints } from './auth.ts';
import { operatorAccountsEndpoints } from './operator-accounts.ts';
import { operatorAdminKeysEndpoints } from './operator-admin-keys.ts';
import { operatorHomeEndpoints } from './operator-home.ts';
import { operatorKeysEndpoints } from './operator-keys.ts';
import { operatorPaymentsEndpoints } from './operator-payments.ts';
import { operatorServiceEndpoints } from './operator-service.ts';
import { operatorUsersEndpoints } from './operator-users.ts';
import { overviewEndpoints } from './overview.ts';
import { operatorEndpoints } from './operator.ts';
import { requestEndpoints } from './requests.ts';
import { searchEndpoints } from './search.ts';
import { sessionEndpoints } from './session.ts';
import { settingsEndpoints } from './settings.ts';
import { telemetryEndpoints } from './telemetry.ts';
import { usageEndpoints } from './usage.ts';

export const contract = {
  ...analyticsEndpoints,
  ...billingEndpoints,
  ...budgetsEndpoints,
  ...keysEndpoints,
  ...modelsEndpoints,
  ...authEndpoints,
  ...operatorEndpoints,
  ...overviewEndpoints,
  ...requestEndpoints,
  ...searchEndpoints,
  ...sessionEndpoints,
  ...settingsEndpoints,
  ...telemetryEndpoints,
  ...usageEndpoints,
  ...operatorAccountsEndpoints,
  ...operatorAdminKeysEndpoints,
  ...operatorHomeEndpoints,
  ...operatorKeysEndpoints,
  ...operatorPaymentsEndpoints,
  ...operatorServiceEndpoints,
  ...operatorUsersEndpoints,
};

/** The types that the web app imports. */
export type Contract = typeof contract;
