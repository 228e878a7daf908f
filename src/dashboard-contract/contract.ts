// Every endpoint of the dashboard's API.
import { operatorEndpoints } from './operator.ts';

export const contract = {
  ...operatorEndpoints,
};

/** What the web app imports. */
export type Contract = typeof contract;
