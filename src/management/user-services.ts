// Wires users to accounts, the ledger and e-mail.
import { auditRowOf } from '../domain/audit/audit-log.ts';
import { AuditedChanges } from '../domain/audit/audited-changes.ts';
import { signUpCreditId, type Ledger } from '../domain/ledger/commands.ts';
import type { AddressRates } from '../domain/limits/address-rates.ts';
import type { Clock } from '../lib/clock.ts';
import { micros } from '../lib/money.ts';
import type { OwnChangeRow } from '../domain/users/library-adapter.ts';
import { Authentication, type AuthenticationInput } from '../domain/users/authentication.ts';
import { createMailer, type Mailer } from '../domain/users/mail.ts';
import { KnownDevices } from '../domain/users/known-devices.ts';
import type { CreditOnce, MakeAccount } from '../domain/users/own-account.ts';
import { Challenges } from '../domain/users/passkeys/challenges.ts';
import { Passkeys } from '../domain/users/passkeys/passkeys.ts';
import { openAccount } from './changes/accounts.ts';
import { adjustBalance } from './changes/balances.ts';
import { AttemptLimits } from './sign-in/attempt-limits.ts';

/** Services for the dashboard's users. */
export type Users = {
  readonly authentication: Authentication;
  readonly attempts: AttemptLimits;
  readonly knownDevices: KnownDevices;
  readonly passkeys: Passkeys;
  /** Proofs of a fresh sign-in at the identity provider. */
  readonly proofs: Challenges;
  /** null without a mail server. */
  readonly mailer: Mailer | null;
  /** The address where browsers reach the dashboard, without a slash at its end. */
  readonly publicUrl: () => string;
  readonly makeAccount: MakeAccount;
  readonly creditOnce: CreditOnce;
};

type UsersInput = Omit<AuthenticationInput, 'makeAccount' | 'creditOnce' | 'ownChangeRow'> & {
  readonly ledger: Ledger;
  readonly addressRates: AddressRates;
};

export function openUsers({ ledger, addressRates, ...input }: UsersInput): Users {
  const creditOnce = creditOnceOn(ledger, input);
  const ports = { makeAccount, creditOnce };
  const mailer = input.config.smtp && createMailer(input.config.smtp, input.log);
  return {
    ...ports,
    authentication: new Authentication({
      ...input,
      ...ports,
      ownChangeRow: ownChangeRowAt(input.clock),
    }),
    attempts: new AttemptLimits(input.database, addressRates, input.clock.nowMs),
    knownDevices: new KnownDevices(input.database, input.secrets),
    passkeys: new Passkeys({ ...input, serviceName: input.config.service.name }),
    proofs: new Challenges(input.secrets),
    mailer,
    publicUrl: input.publicUrl,
  };
}

const makeAccount: MakeAccount = async (transaction, { name, nowMs }) => {
  const { id } = await openAccount(transaction, { name }, nowMs);
  return id;
};

/** The client's address is null, because the sign-in library does not pass it on. */
function ownChangeRowAt(clock: Clock): OwnChangeRow {
  return ({ action, user: { id, email }, accountId = null, after }) => {
    const actor = { kind: 'user', id, name: email, address: null } as const;
    const change = { action, subject: accountId ?? id, after };
    return auditRowOf({ actor, change, accountId }, clock.nowMs());
  };
}

const signUpCredit = {
  kind: 'service',
  id: 'sign-up',
  name: 'Sign-up credit',
  address: null,
} as const;

/** The entry's id is derived from the account's, so the ledger books the credit once. */
function creditOnceOn(
  ledger: Ledger,
  { database, clock }: Pick<UsersInput, 'database' | 'clock'>,
): CreditOnce {
  const changes = new AuditedChanges({ database, actorOf: () => signUpCredit, clock });
  return async ({ accountId, amountMicros }) => {
    const credit = {
      kind: 'credit',
      accountId,
      mode: 'live',
      amountMicros: micros(amountMicros),
      note: 'sign-up credit',
    } as const;
    await adjustBalance(changes, ledger, { ...credit, entryId: signUpCreditId(accountId) });
  };
}
