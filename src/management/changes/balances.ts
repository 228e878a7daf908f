// Credits, debits and payment decisions by operators. The ledger writes an entry and its audit row
// in one transaction.
import { ApiError } from '../../canonical/errors.ts';
import type { Mode } from '../../terms/mode.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import type { Decision, PaymentListing, Payments } from '../../domain/billing/payments.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import type { AdminLedger } from '../../domain/ledger/open-ledger.ts';
import { balanceMaxMicros } from '../../domain/ledger/limits.ts';
import { findAdjustment } from '../../domain/ledger/reports/queries.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { formatUsd, type Micros } from '../../lib/money.ts';
import { noSuchAccount } from './accounts.ts';

export type Adjustment = {
  readonly kind: 'credit' | 'debit';
  readonly accountId: string;
  readonly mode: Mode;
  /** Positive. A debit may take the balance below zero. */
  readonly amountMicros: Micros;
  readonly note: string;
  /** Booked only once under the same id. Default: a new id. */
  readonly entryId?: string;
};

export type Booked = { readonly entryId: string; readonly availableMicros: Micros };

/**
 * Credits or debits an account. Durable when it resolves. Returns null when an entry with this id
 * exists with another kind, amount or note. Throws ApiError 404, or 409 beyond the largest balance.
 */
export async function adjustBalance(
  changes: AuditedChanges,
  ledger: Pick<AdminLedger, 'submit'>,
  { kind, accountId, mode, amountMicros, note, entryId = newIdWithPrefix('ent') }: Adjustment,
): Promise<Booked | null> {
  const after = { entry_id: entryId, mode, amount_micros: amountMicros, note };
  const auditRow = changes.rowOf({
    action: `account.${kind}`,
    subject: accountId,
    accountId,
    after,
  });
  const ledgerId = ledgerIdOf(accountId, mode);
  const outcome = await ledger.submit({
    type: kind,
    entryId,
    ledgerId,
    amountMicros,
    note,
    auditRow,
  });
  if (outcome.type === 'unknown-ledger') throw noSuchAccount();
  if (outcome.type === 'balance-too-large') throw balanceTooLarge(kind, outcome.leftMicros);
  if (outcome.type !== 'credited' && outcome.type !== 'debited')
    throw new Error(`the ledger answered a ${kind} with ${outcome.type}`);
  const booked = await findAdjustment(changes.unrecorded.read, { entryId, kind });
  if (booked?.amountMicros !== amountMicros || booked.note !== note) return null;
  return { entryId, availableMicros: outcome.availableMicros };
}

/** Says why an adjustment does not fit, and what would. */
function balanceTooLarge(kind: Adjustment['kind'], leftMicros: Micros): ApiError {
  const [limit, other] = kind === 'credit' ? ['$', 'debit'] : ['-$', 'credit'];
  const message =
    `This ${kind} would take the balance beyond ${limit}${formatUsd(balanceMaxMicros)}. Nothing was booked. ` +
    `At most $${formatUsd(leftMicros)} can be ${kind}ed now; for more, ${other} the account first.`;
  return new ApiError('conflict', message, { param: 'amount_micros' });
}

/**
 * Decides on a payment that matched no top-up. Throws ApiError 409 when there is nothing to decide.
 */
export async function decidePayment(
  changes: AuditedChanges,
  payments: Payments,
  { paymentId, decision }: { readonly paymentId: string; readonly decision: Decision },
): Promise<PaymentListing> {
  const payment = await payments.resolve(
    paymentId,
    decision,
    async (write, { account_id: accountId, decision: kind, note }) => {
      const after = { decision: kind, account: accountId, note };
      await changes.note(
        { write },
        { action: `payment.${decision.kind}`, subject: paymentId, accountId, after },
      );
    },
  );
  if (payment) return payment;
  throw new ApiError(
    'conflict',
    'This payment needs no decision: it was decided already, or cannot be credited in dollars.',
  );
}
