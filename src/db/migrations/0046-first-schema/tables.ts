// All tables, in the order of their references. schema.ts of db/ derives their types.
import { accounts } from './accounts.ts';
import { activity } from './activity.ts';
import { administration } from './administration.ts';
import { alerts } from './alerts.ts';
import { batches } from './batches.ts';
import { ledger } from './ledger.ts';
import { payments } from './payments.ts';
import { responses } from './responses.ts';
import { users } from './users.ts';

export const tables = {
  ...accounts,
  ...ledger,
  ...responses,
  ...activity,
  ...users,
  ...administration,
  ...alerts,
  ...payments,
  ...batches,
};
