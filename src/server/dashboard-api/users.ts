// Wires what knows of users to accounts and the ledger.
import { createAccountIn } from '../../accounts/manage-accounts.ts';
import { auditRowOf } from '../../audit/audit-log.ts';
import type { SendWarning } from '../../billing/low-balance.ts';
import type { Config } from '../../config/schema.ts';
import type { Database } from '../../db/database.ts';
import { ledgerIdOf, signUpCreditId, type Ledger } from '../../ledger/commands.ts';
import { createLedgers } from '../../ledger/create-ledgers.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { formatUsd, type Micros } from '../../lib/money.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { OwnChangeRow } from '../../users/audited-links.ts';
import { Authentication } from '../../users/authentication.ts';
import { createMailer, type Mailer } from '../../users/mail.ts';
import { listMembers } from '../../users/members.ts';
import { lowBalanceMail } from '../../users/messages.ts';
import { KnownDevices } from '../../users/known-devices.ts';
import type { CreditOnce, MakeAccount } from '../../users/own-account.ts';
import { AttemptLimits } from './attempt-limits.ts';

/** The people who use the dashboard. */
export type Users = {
  readonly authentication: Authentication;
  readonly attempts: AttemptLimits;
  readonly knownDevices: KnownDevices;
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
  readonly secrets: Secrets;
  readonly config: Config;
  readonly ledger: Ledger;
  readonly publicUrl: () => string;
  readonly log: Logger;
  readonly clock: Clock;
};

export function openUsers({ ledger, ...input }: UsersInput): Users {
  const creditOnce = creditOnceOn(ledger, input.clock);
  const ports = { makeAccount, creditOnce };
  const mailer = input.config.smtp && createMailer(input.config.smtp, input.log);
  return {
    ...ports,
    authentication: new Authentication({ ...input, ...ports, ownChangeRow: ownChangeRowAt(input.clock) }),
    attempts: new AttemptLimits(input.database, input.clock.nowMs),
    knownDevices: new KnownDevices(input.database, input.secrets),
    mailer,
    sendWarning: mailer && warnOwners(mailer, input),
    publicUrl: input.publicUrl,
  };
}

const makeAccount: MakeAccount = async (transaction, { name, nowMs }) => {
  const { id } = await createAccountIn(transaction, { name }, { createLedgers, nowMs });
  return id;
};

/** Where it came from is not known here: the sign-in library is between. */
function ownChangeRowAt(clock: Clock): OwnChangeRow {
  return ({ action, user: { id, email }, accountId = null, after }) => {
    const actor = { kind: 'user', id, name: email, address: null } as const;
    const change = { action, subject: accountId ?? id, before: null, after };
    return auditRowOf({ actor, change, accountId }, clock.nowMs());
  };
}

const signUpCredit = { kind: 'service', id: 'sign-up', name: 'Sign-up credit', address: null } as const;

/** The entry's id is made of the account's: the ledger takes it once. */
function creditOnceOn(ledger: Ledger, clock: Clock): CreditOnce {
  return async ({ accountId, amountMicros }) => {
    const after = { mode: 'live', amount_micros: amountMicros };
    const change = { action: 'account.credit', subject: accountId, before: null, after };
    const outcome = await ledger.submit({
      type: 'credit',
      entryId: signUpCreditId(accountId),
      ledgerId: ledgerIdOf(accountId, 'live'),
      amountMicros: amountMicros as Micros,
      note: 'sign-up credit',
      auditRow: auditRowOf({ actor: signUpCredit, change, accountId }, clock.nowMs()),
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
