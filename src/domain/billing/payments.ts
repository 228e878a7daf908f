// Records Stripe's payment events and books them in the ledger. One transaction stores an event,
// computes what the payment is worth now, and writes the difference to earlier decisions as
// bookings. Each booking goes to the ledger under its own entry id until it succeeds. So
// duplicates, retries, any order and any number of gateways credit a payment once.
import { sql, type Selectable, type SqlBool, type Transaction } from 'kysely';
import { contains } from '../../db/contains.ts';
import type { Database } from '../../db/database.ts';
import type { Db, Tables } from '../../db/schema.ts';
import type { Place } from '../../db/search-steps.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Micros, micros, zeroMicros } from '../../lib/money.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import { type Part, type PaymentEvent, positionOf } from './position.ts';
import type { PaidCheckout, PaymentUpdate } from './read-event.ts';
import { camelCase, snakeCase } from '../../lib/snake-case.ts';

type Adjustment = {
  readonly type: 'credit' | 'debit';
  readonly entryId: string;
  readonly ledgerId: `${string}:live`;
  readonly amountMicros: Micros;
  readonly note: string;
};

/** The part of the ledger that is used here. The same entry id changes a balance once. */
export type AdjustmentLedger = {
  readonly submit: (adjustment: Adjustment) => Promise<{ readonly type: string }>;
};

/** Called in the transaction that decides on a booking, for the audit log. */
export type RecordBooking = (
  transaction: Transaction<Tables>,
  booking: {
    readonly accountId: string;
    readonly paymentId: string;
    readonly part: Part;
    readonly deltaMicros: Micros;
  },
) => Promise<void>;

type PaymentsOptions = {
  readonly database: Database;
  readonly ledger: AdjustmentLedger;
  readonly recordBooking: RecordBooking;
  readonly clock: Clock;
};

/** The prefix of payments' entry ids in the ledger. */
export const paymentEntryPrefix = 'stripe:';
const notes: Readonly<Record<Part, Readonly<Record<'credit' | 'debit', string>>>> = {
  payment: { credit: 'top-up by card', debit: 'top-up taken back' },
  refund: { credit: 'refund of a top-up that failed', debit: 'refund of a top-up' },
  dispute: { credit: 'disputed top-up given back', debit: 'disputed top-up' },
};

export class Payments {
  readonly #options: PaymentsOptions;

  constructor(options: PaymentsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the update and its bookings are durable. Throws when something could not be
   * written; Stripe must then send it again.
   */
  async record(update: PaymentUpdate): Promise<void> {
    const { write } = this.#options.database;
    if (update.kind === 'top-up') {
      await write
        .updateTable('top_ups')
        .set({ state: update.state })
        .where('id', '=', update.topUpId)
        .where('checkout_id', '=', update.checkoutId)
        .where('state', 'in', ['open', 'processing'])
        .execute();
      return;
    }
    await write.transaction().execute(async (transaction) => {
      await lockPayment(transaction, update.paymentId);
      await writeEvent(transaction, update, this.#options.clock.nowMs());
      if (update.checkout) await markPaid(transaction, update, update.checkout);
      await this.#decide(transaction, update.paymentId);
    });
    await this.#book(update.paymentId);
  }

  /**
   * Stores an operator's decision on a payment that was not credited automatically. Calls
   * `onDecided` in the same transaction. Returns the payment as it is now, or null when there is
   * nothing to decide.
   */
  async resolve(
    paymentId: string,
    decision: Decision,
    onDecided: (transaction: Transaction<Tables>, payment: PaymentListing) => Promise<void>,
  ): Promise<PaymentListing | null> {
    const resolved = await this.#options.database.write
      .transaction()
      .execute(async (transaction) => {
        await lockRow(transaction, paymentId);
        const payment = await findPayment(transaction, paymentId);
        if (!payment || !canDecide(payment, decision)) return null;
        const columns =
          decision.kind === 'assign'
            ? ({
                decision: 'assigned',
                account_id: decision.accountId,
                decided_note: decision.note,
              } as const)
            : ({ decision: 'dismissed', decided_note: decision.note } as const);
        await transaction
          .updateTable('payments')
          .set(columns)
          .where('id', '=', paymentId)
          .execute();
        if (payment.top_up_id !== null)
          await setTopUpState(
            transaction,
            payment.top_up_id,
            decision.kind === 'assign' ? 'paid' : 'failed',
          );
        const listing = toListing((await findPayment(transaction, paymentId))!);
        await onDecided(transaction, listing);
        await this.#decide(transaction, paymentId);
        return listing;
      });
    if (resolved) await this.#book(paymentId);
    return resolved;
  }

  /** Books decisions that were left by a gateway that ended before it booked them. */
  async bookPending(decidedBeforeMs: number): Promise<void> {
    const left = await this.#options.database.read
      .selectFrom('payment_bookings')
      .select('payment_id')
      .distinct()
      .where('booked_at_ms', 'is', null)
      .where('decided_at_ms', '<', decidedBeforeMs)
      .execute();
    for (const { payment_id } of left) await this.#book(payment_id);
  }

  async #decide(transaction: Transaction<Tables>, paymentId: string): Promise<void> {
    const payment = (await findPayment(transaction, paymentId))!;
    if (payment.account_id === null || payment.amount_micros === null || payment.currency === null)
      return;
    if (payment.problem !== null && payment.decision !== 'assigned') return;
    const events = await transaction
      .selectFrom('payment_events')
      .selectAll()
      .where('payment_id', '=', paymentId)
      .execute();
    const { amount_micros: amountMicros, fee_micros: feeMicros, currency } = payment;
    const position = positionOf({ amountMicros, feeMicros, currency }, events.map(toEvent));
    const decided = await transaction
      .selectFrom('payment_bookings')
      .selectAll()
      .where('payment_id', '=', paymentId)
      .execute();
    const { account_id: accountId } = payment;
    let seq = decided.length;
    for (const part of ['payment', 'refund', 'dispute'] as const) {
      const before = decided
        .filter((booking) => booking.part === part)
        .reduce((sum, booking) => sum + booking.delta_micros, 0);
      const deltaMicros = micros(position[part] - before);
      if (deltaMicros === 0) continue;
      seq += 1;
      await transaction
        .insertInto('payment_bookings')
        .values({
          payment_id: paymentId,
          seq,
          part,
          account_id: accountId,
          delta_micros: deltaMicros,
          decided_at_ms: this.#options.clock.nowMs(),
        })
        .execute();
      const booking = { accountId, paymentId, part, deltaMicros };
      await this.#options.recordBooking(transaction, booking);
    }
  }

  /** Books decisions in order, so that a refund is never booked before its payment. */
  async #book(paymentId: string): Promise<void> {
    const { database, ledger } = this.#options;
    const open = await database.read
      .selectFrom('payment_bookings')
      .selectAll()
      .where('payment_id', '=', paymentId)
      .where('booked_at_ms', 'is', null)
      .orderBy('seq')
      .execute();
    for (const booking of open) {
      const { type } = await ledger.submit(adjustmentOf(booking));
      if (type !== 'credited' && type !== 'debited')
        throw new Error(`the ledger answered a payment with ${type}`);
      await database.write
        .updateTable('payment_bookings')
        .set({ booked_at_ms: this.#options.clock.nowMs() })
        .where('payment_id', '=', paymentId)
        .where('seq', '=', booking.seq)
        .execute();
    }
  }
}

export type Decision =
  /** Credits the payment to an account. Only a payment in dollars can be assigned. */
  | { readonly kind: 'assign'; readonly accountId: string; readonly note: string }
  /** The payment is not ours, or was settled in another way. */
  | { readonly kind: 'dismiss'; readonly note: string };

export type PaymentListing = ReturnType<typeof toListing>;

type PaymentSearch = {
  /** The whole id of a payment or of its account, or a part of the account's name. */
  readonly text?: string | undefined;
  /** Only those that were not credited automatically, and on which nobody has decided. */
  readonly isWaiting?: boolean | undefined;
  readonly limit: number;
  readonly cursor: Place | null;
};

/** Returns a page of the payments that are known to be paid, newest first. */
export async function listPayments(
  read: Db,
  { text, isWaiting = false, limit, cursor }: PaymentSearch,
) {
  const rows = await read
    .selectFrom('payments')
    .leftJoin('accounts', 'accounts.id', 'payments.account_id')
    .selectAll('payments')
    .select((eb) => [
      'accounts.name as account_name',
      eb
        .selectFrom('payment_bookings')
        .select(({ fn }) => fn.sum<number | null>('delta_micros').as('returned'))
        .whereRef('payment_id', '=', 'payments.id')
        .where('part', '<>', 'payment')
        .as('returned'),
    ])
    .where('paid_at_ms', 'is not', null)
    .$if(isWaiting, (query) => query.where('problem', 'is not', null).where('decision', 'is', null))
    .$if(text !== undefined, (query) => query.where(isFound(text!)))
    .$if(cursor !== null, (query) =>
      query.where((eb) =>
        eb(
          eb.refTuple('payments.paid_at_ms', 'payments.id'),
          '<',
          eb.tuple(cursor!.createdAtMs, cursor!.id),
        ),
      ),
    )
    .orderBy('paid_at_ms', 'desc')
    .orderBy('payments.id', 'desc')
    .limit(limit + 1)
    .execute();
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    rows: shown.map((row) => ({
      ...toListing(row),
      account_name: row.account_name,
      fee_micros: row.fee_micros,
      returned_micros: Math.abs(row.returned ?? 0),
    })),
    next: rows.length > limit && last ? { createdAtMs: last.paid_at_ms!, id: last.id } : null,
  };
}

function isFound(text: string) {
  return sql<SqlBool>`(payments.id = ${text} or payments.account_id = ${text} or ${contains('accounts.name', text)})`;
}

type PaymentRow = Selectable<Tables['payments']>;

async function lockPayment(transaction: Transaction<Tables>, paymentId: string): Promise<void> {
  await transaction
    .insertInto('payments')
    .values({ id: paymentId })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  await lockRow(transaction, paymentId);
}

/** Locks the row: concurrent decisions on a payment wait here for each other. */
async function lockRow(transaction: Transaction<Tables>, paymentId: string): Promise<void> {
  await transaction
    .updateTable('payments')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('id', '=', paymentId)
    .execute();
}

async function findPayment(db: Db, paymentId: string): Promise<PaymentRow | undefined> {
  return db.selectFrom('payments').selectAll().where('id', '=', paymentId).executeTakeFirst();
}

async function writeEvent(
  transaction: Transaction<Tables>,
  { paymentId, event }: Extract<PaymentUpdate, { kind: 'payment' }>,
  nowMs: number,
): Promise<void> {
  await transaction
    .insertInto('payment_events')
    .values({
      ...snakeCase(event),
      payment_id: paymentId,
      received_at_ms: nowMs,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/**
 * Compares the paid amount with the requested one, because only an exact match is credited
 * automatically. A payment is marked paid once.
 */
async function markPaid(
  transaction: Transaction<Tables>,
  { paymentId, event }: Extract<PaymentUpdate, { kind: 'payment' }>,
  checkout: PaidCheckout,
): Promise<void> {
  const payment = (await findPayment(transaction, paymentId))!;
  if (payment.paid_at_ms !== null) return;
  const topUp = await findTopUpOf(transaction, checkout);
  const problem = !topUp
    ? 'unknown-account'
    : event.currency !== 'usd'
      ? 'wrong-currency'
      : event.amountMicros !== topUp.amount_micros + topUp.fee_micros
        ? 'wrong-amount'
        : null;
  // When the payment differs from the request, no part of it is known to be a fee. An operator
  // credits all of it.
  const feeMicros = problem === null ? topUp!.fee_micros : zeroMicros;
  const paid = {
    amount_micros: event.amountMicros,
    fee_micros: feeMicros,
    currency: event.currency,
    paid_at_ms: event.happenedAtMs,
  };
  await transaction
    .updateTable('payments')
    .set({ ...paid, problem, top_up_id: topUp?.id ?? null, account_id: topUp?.account_id ?? null })
    .where('id', '=', paymentId)
    .execute();
  if (!topUp) return;
  await setTopUpState(transaction, topUp.id, problem === null ? 'paid' : 'processing');
  // The event of an automatic one may come before the answer to its charge.
  await transaction
    .updateTable('top_ups')
    .set({ checkout_id: checkout.id })
    .where('id', '=', topUp.id)
    .execute();
}

/**
 * Finds the top-up that this checkout was made for. A payment made in another way with its
 * reference has not paid it. The payment of an automatic top-up is that of its customer.
 */
async function findTopUpOf(
  transaction: Transaction<Tables>,
  { id, reference, metadata, customerId }: PaidCheckout,
) {
  if (reference === null || reference !== metadata.topUpId || metadata.accountId === null)
    return undefined;
  return transaction
    .selectFrom('top_ups')
    .selectAll()
    .where('id', '=', reference)
    .where('account_id', '=', metadata.accountId)
    .where('customer_id', customerId === null ? 'is' : '=', customerId)
    .where((eb) =>
      eb.or([
        eb('checkout_id', '=', id),
        ...(customerId === null ? [] : [eb('checkout_id', 'is', null)]),
      ]),
    )
    .executeTakeFirst();
}

/** Only a payment opens a top-up again that was given up: its account may have a newer one by now. */
async function setTopUpState(
  transaction: Transaction<Tables>,
  topUpId: string,
  state: 'paid' | 'processing' | 'failed',
): Promise<void> {
  await transaction
    .updateTable('top_ups')
    .set({ state })
    .where('id', '=', topUpId)
    .$if(state !== 'paid', (query) => query.where('state', 'in', ['open', 'processing']))
    .execute();
}

function canDecide({ problem, decision, currency }: PaymentRow, { kind }: Decision): boolean {
  return problem !== null && decision === null && (kind === 'dismiss' || currency === 'usd');
}

function adjustmentOf({
  payment_id,
  seq,
  part,
  account_id,
  delta_micros,
}: Selectable<Tables['payment_bookings']>): Adjustment {
  const type = delta_micros > 0 ? 'credit' : 'debit';
  return {
    type,
    entryId: `${paymentEntryPrefix}${payment_id}:${seq}`,
    ledgerId: `${account_id}:live`,
    amountMicros: micros(Math.abs(delta_micros)),
    note: `${notes[part][type]} (${payment_id})`,
  };
}

function toEvent(row: Selectable<Tables['payment_events']>): PaymentEvent {
  const { payment_id: _payment, received_at_ms: _received, ...event } = row;
  return camelCase(event) as PaymentEvent;
}

function toListing(row: PaymentRow) {
  return {
    id: row.id,
    account_id: row.account_id,
    amount_micros: row.amount_micros,
    currency: row.currency,
    problem: row.problem,
    decision: row.decision,
    note: row.decided_note,
    paid_at: isoTimeOf(row.paid_at_ms),
  };
}
