// Every endpoint of the admin API.
import { accountsEndpoints } from './accounts.ts';
import { keysEndpoints } from './keys.ts';
import { pricesEndpoints } from './prices.ts';
import { reportsEndpoints } from './reports.ts';
import { telemetryEndpoints } from './telemetry.ts';
import { usersEndpoints } from './users.ts';

export const adminContract = {
  ...accountsEndpoints,
  ...keysEndpoints,
  ...usersEndpoints,
  ...reportsEndpoints,
  ...pricesEndpoints,
  ...telemetryEndpoints,
};
