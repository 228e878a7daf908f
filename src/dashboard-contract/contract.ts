// Every endpoint of the dashboard's API.
import { modelsEndpoints } from './models.ts';
import { operatorEndpoints } from './operator.ts';

export const contract = {
  ...modelsEndpoints,
  ...operatorEndpoints,
};

/** What the web app imports. */
export type Contract = typeof contract;
