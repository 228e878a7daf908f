// Payments that were not credited automatically, and what operators decide about them.
import { Type } from 'typebox';
import { endpoint } from './endpoint.ts';

type OperatorPayment = {
  /** Stripe's. */
  readonly id: string;
  readonly account_id: string | null;
  readonly amount_micros: number | null;
  /** `usd`; only that can be assigned. */
  readonly currency: string | null;
  readonly problem: 'unknown-account' | 'wrong-amount' | 'wrong-currency' | null;
  readonly decision: 'assigned' | 'dismissed' | null;
  readonly note: string | null;
  readonly paid_at: string | null;
};

const Note = Type.String({ minLength: 1, maxLength: 500 });

export const operatorPaymentsEndpoints = {
  /** Returns the last hundred payments, waiting ones first. */
  'GET /operator/payments': endpoint<{
    readonly is_configured: boolean;
    readonly data: readonly OperatorPayment[];
  }>()({
    access: 'operator',
  }),
  /** Credits the account with what was paid, less what was refunded or disputed since. */
  'POST /operator/payments/:payment/assign': endpoint<OperatorPayment>()({
    access: 'operator',
    body: Type.Object({ account: Type.String({ minLength: 1 }), note: Note }),
  }),
  'POST /operator/payments/:payment/dismiss': endpoint<OperatorPayment>()({
    access: 'operator',
    body: Type.Object({ note: Note }),
  }),
};
