// Charges as a file, and days with repeated answers.
import type { usageEndpoints } from '../contract/usage.ts';
import { sumActivity } from '../../domain/activity/queries.ts';
import { sendUsageFile } from './usage-file.ts';
import type { Handlers } from '../handlers.ts';
import { toCacheDays } from './uncharged.ts';
import { checkDays } from './days.ts';

export const usageHandlers: Handlers<typeof usageEndpoints> = {
  'GET /accounts/:account/usage.csv': ({ context, params, query, reply }) =>
    sendUsageFile(context, reply, { accountId: params.account, query }),

  'GET /accounts/:account/cache-days': async ({ context, account, query: { mode, from, to } }) => {
    checkDays(from, to);
    const query = {
      accountId: account.accountId,
      mode,
      fromDay: from,
      toDay: to,
      by: 'day',
    } as const;
    return { data: toCacheDays(await sumActivity(context.database.read, query)) };
  },
};
