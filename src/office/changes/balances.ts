// Credits, debits and payment decisions by operators. The ledger writes an entry and its audit row
// in one transaction.
import type { Mode } from '../../canonical/mode.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import type { Decision, PaymentListing, Payments } from '../../domain/billing/payments.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import type { AdminLedger } from '../../domain/ledger/open-ledger.ts';
import { balanceMaxMicros } from '../../domain/ledger/limits.ts';
import { findAdjustment } from '../../domain/ledger/reports/queries.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { formatUsd, type Micros } from '../../lib/money.ts';

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

type AdjustmentOutcome =
  | { readonly kind: 'booked'; readonly entryId: string; readonly availableMicros: Micros }
  | { readonly kind: 'unknown-account' }
  /** The balance would be beyond the largest one. `leftMicros` would fit. Nothing was booked. */
  | { readonly kind: 'balance-too-large'; readonly leftMicros: Micros }
  /** An entry with this id exists, with another amount or note. Nothing was booked. */
  | { readonly kind: 'conflict' };

/** Credits or debits an account. Durable when it resolves. */
export async function adjustBalance(
  changes: AuditedChanges,
  ledger: Pick<AdminLedger, 'submit'>,
  { kind, accountId, mode, amountMicros, note, entryId = newIdWithPrefix('ent') }: Adjustment,
): Promise<AdjustmentOutcome> {
  const after = { entry_id: entryId, mode, amount_micros: amountMicros, note };
  const auditRow = changes.rowOf({
    action: `account.${kind}`,
    subject: accountId,
    accountId,
    before: null,
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
  if (outcome.type === 'unknown-ledger') return { kind: 'unknown-account' };
  if (outcome.type === 'balance-too-large')
    return { kind: outcome.type, leftMicros: outcome.leftMicros };
  if (outcome.type !== 'credited' && outcome.type !== 'debited')
    throw new Error(`the ledger answered a ${kind} with ${outcome.type}`);
  const booked = await findAdjustment(changes.database.read, { entryId, kind });
  if (booked?.amountMicros !== amountMicros || booked.note !== note) return { kind: 'conflict' };
  return { kind: 'booked', entryId, availableMicros: outcome.availableMicros };
}

/** Says why an adjustment does not fit, and what would. */
export function balanceTooLarge(kind: Adjustment['kind'], leftMicros: Micros): string {
  const [limit, other] = kind === 'credit' ? ['$', 'debit'] : ['-$', 'credit'];
  return (
    `This ${kind} would take the balance beyond ${limit}${formatUsd(balanceMaxMicros)}. Nothing was booked. ` +
    `At most $${formatUsd(leftMicros)} can be ${kind}ed now; for more, ${other} the account first.`
  );
}

/** Decides on a payment that matched no top-up. Returns null when there is nothing to decide. */
export function decidePayment(
  changes: AuditedChanges,
  payments: Payments,
  { paymentId, decision }: { readonly paymentId: string; readonly decision: Decision },
): Promise<PaymentListing | null> {
  return payments.resolve(
    paymentId,
    decision,
    async (write, { account_id: accountId, decision: kind, note }) => {
      const after = { decision: kind, account: accountId, note };
      await changes.note(
        { write },
        { action: `payment.${decision.kind}`, subject: paymentId, accountId, before: null, after },
      );
    },
  );
}
