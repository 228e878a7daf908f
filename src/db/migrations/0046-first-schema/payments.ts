// Card payments: domain/billing/.

/** The same as in terms/card-problem.ts. */
const cardProblem =
  "text VALUES ('declined', 'authentication-required', 'expired', 'refused', 'returned', 'no-answer')";

export const payments = {
  /**
   * Payments that owners requested. A payment belongs to the one whose checkout it was paid through. One
   * with a customer is an attempt that Tollgate started.
   */
  top_ups: {
    /** Also sent to Stripe, which returns it with the payment. */
    id: 'ID primary key',
    account_id: 'ID not null references accounts (id)',
    user_id: 'text not null',
    /** The amount to credit. */
    amount_micros: 'INT not null check (amount_micros > 0)',
    /** The card fee, paid in addition. */
    fee_micros: 'COUNT default 0',
    state: "text not null in ('open', 'processing', 'failed', 'expired', 'paid')",
    /**
     * Stripe's id of the checkout, or of the payment intent of an automatic top-up; null until Stripe
     * has answered.
     */
    checkout_id: 'ID',
    /** The payment page. */
    checkout_url: 'text',
    created_at_ms: 'INT not null',
    /** Stripe's ids of what an automatic top-up charges; null for one that an owner started. */
    customer_id: 'text',
    card_id: 'text',
    /** Why an automatic top-up failed. */
    problem: cardProblem,
    'index top_ups_by_account': '(account_id, created_at_ms desc, id desc)',
    // An account has one attempt that is not settled.
    'unique index top_ups_unsettled':
      "(account_id) where customer_id is not null and state in ('open', 'processing')",
    'kept as': 'ORDERED',
  },

  /** The saved card of an account, and when it is charged. */
  auto_top_ups: {
    account_id: 'ID primary key references accounts (id)',
    /** null: it is off. */
    threshold_micros: 'INT check (threshold_micros > 0)',
    amount_micros: 'INT check (amount_micros > 0)',
    /** The most that is charged in a UTC month, with fees. */
    ceiling_micros: 'INT check (ceiling_micros > 0)',
    /** The owner who turned it on last. */
    user_id: 'text',
    /** Stripe's id of the last checkout in which a card was to be saved. */
    checkout_id: 'ID',
    /** Stripe's ids; the card itself is only there. */
    customer_id: 'ID',
    card_id: 'ID',
    card_brand: 'text',
    card_last4: 'text',
    /** Until an owner acts. */
    paused_at_ms: 'INT',
    paused_reason: cardProblem,
    /** Raised by each attempt, which locks the row. */
    revision: 'INT not null default 0',
    'kept as': 'ORDERED',
  },

  /**
   * Payments at Stripe, possibly not completed: a refund or dispute can be reported before its
   * payment.
   */
  payments: {
    /** Stripe's id of the payment intent. */
    id: 'ID primary key',
    top_up_id: 'ID',
    /** null: not matched to an account. */
    account_id: 'ID references accounts (id)',
    /** This and the next two columns are null until the payment is known to be paid. */
    amount_micros: 'INT',
    /** The part that is not credited. */
    fee_micros: 'COUNT default 0',
    currency: 'text',
    paid_at_ms: 'INT',
    /** Why the payment was not credited automatically. */
    problem: "text in ('unknown-account', 'wrong-amount', 'wrong-currency')",
    /** The operator's decision about the problem. */
    decision: "text in ('assigned', 'dismissed')",
    decided_note: 'text',
    /** Raised by each decision about the payment, which locks its row. */
    revision: 'INT not null default 0',
    'index payments_undecided': '(paid_at_ms desc, id desc) where problem is not null',
    // The operator's list of all payments is read newest first.
    'index payments_by_time': '(paid_at_ms desc, id desc) where paid_at_ms is not null',
    'kept as': 'ORDERED',
  },

  /**
   * Stripe's events about payments, append-only. When another arrives, the bookings are recomputed from
   * all of them: domain/billing/position.ts.
   */
  payment_events: {
    /** Stripe's event id. */
    id: 'ID primary key',
    payment_id: 'ID not null references payments (id)',
    /** Stripe's event type: `charge.refunded`. */
    type: 'text not null',
    /** Stripe's id of the checkout, charge, refund or dispute. */
    object_id: 'text not null',
    /** The status of a dispute; null for other events. */
    status: 'text',
    amount_micros: 'COUNT',
    currency: 'text not null',
    /** When Stripe created the object. */
    began_at_ms: 'INT not null',
    /** The event's time at Stripe. */
    happened_at_ms: 'INT not null',
    received_at_ms: 'INT not null',
    'index payment_events_by_payment': '(payment_id)',
    'kept as': 'ORDERED',
  },

  /** Ledger bookings for payments: decided here first, then booked. */
  payment_bookings: {
    payment_id: 'ID not null references payments (id)',
    /** Starts at 1. */
    seq: 'INT not null',
    part: "text not null in ('payment', 'refund', 'dispute')",
    account_id: 'ID not null references accounts (id)',
    /** Positive for a credit, negative for a debit. */
    delta_micros: 'INT not null check (delta_micros <> 0)',
    decided_at_ms: 'INT not null',
    /** null until the ledger has confirmed it. */
    booked_at_ms: 'INT',
    'primary key': '(payment_id, seq)',
    'index payment_bookings_open': '(decided_at_ms) where booked_at_ms is null',
    'kept as': 'ORDERED',
  },
} as const;
