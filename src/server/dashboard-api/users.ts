// Wires what knows of users to accounts and the ledger.
import { createAccountIn } from '../../accounts/manage-accounts.ts';
import type { SendWarning } from '../../billing/low-balance.ts';
import type { Config } from '../../config/schema.ts';
import type { Database } from '../../db/database.ts';
import { ledgerIdOf, type Ledger } from '../../ledger/commands.ts';
import { createLedgers } from '../../ledger/create-ledgers.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { formatUsd, type Micros } from '../../lib/money.ts';
import { Authentication } from '../../users/authentication.ts';
import { createMailer, type Mailer } from '../../users/mail.ts';
import { listMembers } from '../../users/members.ts';
import { lowBalanceMail } from '../../users/messages.ts';
import type { CreditOnce, MakeAccount } from '../../users/own-account.ts';
import { AttemptLimits } from './attempt-limits.ts';

/** The people who use the dashboard. */
export type Users = {
  readonly authentication: Authentication;
  readonly attempts: AttemptLimits;
  /** null: there is no mail server. */
  readonly mailer: Mailer | null;
  /** Where browsers reach the dashboard, without a slash at its end. */
  readonly publicUrl: () => string;
  readonly makeAccount: MakeAccount;
  readonly creditOnce: CreditOnce;
  /** Tells the owners of an account; null: there is no mail server. */
  readonly sendWarning: SendWarning | null;
};

type UsersInput = {
  readonly database: Database;
  readonly secret: Uint8Array;
  readonly config: Config;
  readonly ledger: Ledger;
  readonly publicUrl: () => string;
  readonly log: Logger;
  readonly clock: Clock;
};

export function openUsers({ ledger, ...input }: UsersInput): Users {
  const creditOnce = creditOnceOn(ledger);
  const ports = { makeAccount, creditOnce };
  const mailer = input.config.smtp && createMailer(input.config.smtp, input.log);
  return {
    ...ports,
    authentication: new Authentication({ ...input, ...ports }),
    attempts: new AttemptLimits(input.database, input.clock.nowMs),
    mailer,
    sendWarning: mailer && warnOwners(mailer, input),
    publicUrl: input.publicUrl,
  };
}

const makeAccount: MakeAccount = (transaction, { name, nowMs }) =>
  createAccountIn(transaction, { name }, { createLedgers, nowMs });

/** The entry's id is made of the account's: the ledger takes it once. */
function creditOnceOn(ledger: Ledger): CreditOnce {
  return async ({ accountId, amountMicros }) => {
    const outcome = await ledger.submit({
      type: 'credit',
      entryId: `signup-${accountId}`,
      ledgerId: ledgerIdOf(accountId, 'live'),
      amountMicros: amountMicros as Micros,
      note: 'sign-up credit',
    });
    if (outcome.type !== 'credited') throw new Error(`the ledger answered a credit with ${outcome.type}`);
  };
}

function warnOwners(mailer: Mailer, { database, publicUrl }: Pick<UsersInput, 'database' | 'publicUrl'>): SendWarning {
  return async ({ accountId, accountName, balanceMicros, thresholdMicros }) => {
    const mail = lowBalanceMail({
      accountName,
      balance: `$${formatUsd(balanceMicros)}`,
      threshold: `$${formatUsd(thresholdMicros)}`,
      link: `${publicUrl()}/billing?account=${accountId}`,
    });
    const owners = (await listMembers(database, accountId)).filter(({ role }) => role === 'owner');
    await Promise.all(owners.map(({ email }) => mailer.send({ to: email, ...mail })));
  };
}
