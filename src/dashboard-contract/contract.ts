// Every endpoint of the dashboard's API.
import { billingEndpoints } from './billing.ts';
import { keysEndpoints } from './keys.ts';
import { modelsEndpoints } from './models.ts';
import { operatorEndpoints } from './operator.ts';

export const contract = {
  ...billingEndpoints,
  ...keysEndpoints,
  ...modelsEndpoints,
  ...operatorEndpoints,
};

/** What the web app imports. */
export type Contract = typeof contract;
