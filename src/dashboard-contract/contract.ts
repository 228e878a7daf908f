// Every endpoint of the dashboard's API.
import { billingEndpoints } from './billing.ts';
import { keysEndpoints } from './keys.ts';
import { modelsEndpoints } from './models.ts';
import { authEndpoints } from './auth.ts';
import { operatorEndpoints } from './operator.ts';
import { sessionEndpoints } from './session.ts';
import { settingsEndpoints } from './settings.ts';
import { usageEndpoints } from './usage.ts';

export const contract = {
  ...billingEndpoints,
  ...keysEndpoints,
  ...modelsEndpoints,
  ...authEndpoints,
  ...operatorEndpoints,
  ...sessionEndpoints,
  ...settingsEndpoints,
  ...usageEndpoints,
};

/** What the web app imports. */
export type Contract = typeof contract;
