// Charges the saved cards of accounts whose balance is low. An attempt is a row of `top_ups`, written
// before Stripe is asked: it bears the idempotency key, counts against the month's ceiling, and an index
// keeps a second one away until it is settled. When the outcome is unknown, Stripe is asked what became
// of that attempt; no other is made. Payments are credited by payments.ts alone.
import { type Selectable, sql, type Transaction } from 'kysely';
import type { Database } from '../../db/database.ts';
import type { Db, Tables } from '../../db/schema.ts';
import type { Clock } from '../../lib/clock.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import { type Micros, micros } from '../../lib/money.ts';
import { hourMs, monthOf, monthStartMs } from '../../lib/utc-time.ts';
import type { CardProblem } from '../../terms/card-problem.ts';
import type { ChargeAnswer } from './card-charges.ts';
import { type CardFee, cardFeeMicros } from './card-fee.ts';
import type { Payments, RecordBooking } from './payments.ts';
import { isAway, type SavedCard, type StripeClient } from './stripe-client.ts';
import type { TopUp } from './top-ups.ts';

/** What Tollgate did by itself. */
export type AutoTopUpNote = { readonly accountId: string } & (
  | { readonly kind: 'card'; readonly card: Pick<SavedCard, 'brand' | 'last4'> }
  | { readonly kind: 'start'; readonly topUp: TopUp }
  /** `topUp.id`: that of the payment, where an operator assigned one that paid no top-up. */
  | {
      readonly kind: 'fail';
      readonly topUp: Pick<TopUp, 'id' | 'amount_micros'>;
      readonly problem: CardProblem;
    }
  | { readonly kind: 'ceiling'; readonly ceilingMicros: Micros; readonly month: string }
);

/** Called in the transaction of what is noted, for the audit log and the alerts. */
export type NoteAutoTopUp = (
  transaction: Transaction<Tables>,
  note: AutoTopUpNote,
) => Promise<void>;

type AutoTopUpsOptions = {
  readonly database: Database;
  readonly stripe: StripeClient;
  readonly fee: CardFee;
  readonly payments: Payments;
  readonly note: NoteAutoTopUp;
  readonly log: Logger;
  readonly clock: Clock;
};

/** An automatic top-up that is not settled. */
export type Attempt = TopUp & { readonly customer_id: string; readonly card_id: string };

/** Younger attempts are still being made by the process that began them. */
const graceMs = 60_000;
/** For so long an attempt is repeated under its key. Stripe keeps keys for a day. */
const repeatedMs = hourMs;
const accountsPerRead = 200;

export class AutoTopUps {
  readonly #options: AutoTopUpsOptions;

  constructor(options: AutoTopUpsOptions) {
    this.#options = options;
  }

  /** Settles attempts whose outcome was unknown, then begins those that are due. */
  async check(): Promise<void> {
    const { database, stripe, clock } = this.#options;
    const unsettled = await selectUnsettled(database.read)
      .where('created_at_ms', '<=', clock.nowMs() - graceMs)
      .orderBy('created_at_ms')
      .execute();
    for (const attempt of unsettled as Attempt[])
      if (!(await this.#try(attempt, () => this.#ask(attempt)))) return;
    for (let after = ''; ;) {
      const low = await selectChargeable(database.read)
        .where(isLow)
        .where('account_id', '>', after)
        .orderBy('account_id')
        .limit(accountsPerRead)
        .execute();
      for (const { account_id: accountId } of low) {
        const attempt = await this.#begin(accountId);
        if (attempt && !(await this.#try(attempt, () => stripe.charge(attempt)))) return;
      }
      if (low.length < accountsPerRead) return;
      after = low.at(-1)!.account_id;
    }
  }

  /**
   * Stores the card that was saved at a checkout, unless another was begun or the card was removed. Stripe
   * forgets the one that it replaces.
   */
  async saveCard(checkoutId: string): Promise<void> {
    const { database, stripe, note, log } = this.#options;
    const known = await database.read
      .selectFrom('auto_top_ups')
      .select('card_id')
      .where('checkout_id', '=', checkoutId)
      .executeTakeFirst();
    if (!known) return;
    const { customerId, cardId, brand, last4 } = await stripe.readSavedCard(checkoutId);
    const isSaved = await database.write.transaction().execute(async (transaction) => {
      const saved = await transaction
        .updateTable('auto_top_ups')
        .set({ customer_id: customerId, card_id: cardId, card_brand: brand, card_last4: last4 })
        .set({ checkout_id: null, paused_at_ms: null, paused_reason: null })
        .where('checkout_id', '=', checkoutId)
        .returning('account_id')
        .executeTakeFirst();
      if (!saved) return false;
      await note(transaction, {
        kind: 'card',
        accountId: saved.account_id,
        card: { brand, last4 },
      });
      return true;
    });
    // Another checkout may have begun meanwhile: then the card before is still in force.
    if (!isSaved || known.card_id === null || known.card_id === cardId) return;
    await stripe
      .forgetCard(known.card_id)
      .catch((err: unknown) => log.warn({ err }, 'Stripe has not removed a replaced card'));
  }

  /** Returns false when Stripe is away, so that others need not be tried now. */
  async #try(attempt: Attempt, ask: () => Promise<ChargeAnswer | null>): Promise<boolean> {
    try {
      const answer = await ask();
      if (answer) await this.#settle(attempt, answer);
      return true;
    } catch (err) {
      const { log } = this.#options;
      log.error(
        { err, top_up: attempt.id },
        'an automatic top-up is not settled; Stripe is asked again',
      );
      return !isAway(err);
    }
  }

  /** Asks what became of an attempt. Repeats it only while its owner still wants it. */
  async #ask(attempt: Attempt): Promise<ChargeAnswer | null> {
    const { database, stripe, clock } = this.#options;
    const found = await stripe.findCharge(attempt);
    if (found) return found;
    if (clock.nowMs() - attempt.created_at_ms > repeatedMs)
      return { kind: 'failed', paymentId: null, problem: 'no-answer' };
    const wanted = selectChargeable(database.read, attempt.account_id);
    const isWanted = await wanted.where('card_id', '=', attempt.card_id).executeTakeFirst();
    // Stripe answers an error that it has saved under the key again. Its attempt must not stop others.
    if (isWanted) await this.#try(attempt, () => stripe.charge(attempt));
    return null;
  }

  /**
   * Writes an attempt. Returns null when none is due. Each step sees what was committed before it: first
   * the row is locked, then earlier attempts must be settled and booked, and only then is the balance read.
   */
  #begin(accountId: string): Promise<Attempt | null> {
    const { database, clock, fee, note } = this.#options;
    return database.write.transaction().execute(async (transaction) => {
      const nowMs = clock.nowMs();
      const settings = (await lockAutoTopUp(transaction, accountId))!;
      const open = selectUnsettled(transaction).where('account_id', '=', accountId);
      const booking = transaction
        .selectFrom('payment_bookings')
        .select('seq')
        .where('account_id', '=', accountId)
        .where('booked_at_ms', 'is', null);
      if ((await open.executeTakeFirst()) || (await booking.executeTakeFirst())) return null;
      const due = selectChargeable(transaction, accountId).where(isLow);
      if (!(await due.executeTakeFirst())) return null;
      const { amount_micros, ceiling_micros, customer_id, card_id, user_id } = settings;
      const feeMicros = cardFeeMicros(amount_micros!, fee);
      const spent = await chargedInMonth(transaction, accountId, nowMs);
      if (spent + amount_micros! + feeMicros > ceiling_micros!) {
        const month = monthOf(nowMs);
        await note(transaction, {
          kind: 'ceiling',
          accountId,
          ceilingMicros: ceiling_micros!,
          month,
        });
        return null;
      }
      const topUp = await transaction
        .insertInto('top_ups')
        .values({
          id: newIdWithPrefix('top'),
          account_id: accountId,
          user_id: user_id!,
          amount_micros: amount_micros!,
          fee_micros: feeMicros,
          state: 'open',
          created_at_ms: nowMs,
          customer_id,
          card_id,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await note(transaction, { kind: 'start', accountId, topUp });
      return topUp as Attempt;
    });
  }

  async #settle(attempt: Attempt, answer: ChargeAnswer): Promise<void> {
    if (answer.kind === 'paid') return this.#options.payments.record(answer.update);
    const { database, clock, note } = this.#options;
    await database.write.transaction().execute(async (transaction) => {
      const settled = await transaction
        .updateTable('top_ups')
        .set({
          state: answer.kind,
          ...(answer.paymentId !== null && { checkout_id: answer.paymentId }),
          ...(answer.kind === 'failed' && { problem: answer.problem }),
        })
        .where('id', '=', attempt.id)
        .where('state', 'in', ['open', 'processing'])
        .returningAll()
        .executeTakeFirst();
      // Another gateway may have told it already.
      if (!settled || answer.kind !== 'failed') return;
      const { problem } = answer;
      const paused = await transaction
        .updateTable('auto_top_ups')
        .set({ paused_at_ms: clock.nowMs(), paused_reason: problem })
        .where('account_id', '=', attempt.account_id)
        // The failure of a card says nothing about the one that replaced it.
        .where('card_id', '=', attempt.card_id)
        .where('threshold_micros', 'is not', null)
        .executeTakeFirst();
      if (paused.numUpdatedRows === 0n) return;
      const { account_id: accountId } = attempt;
      await note(transaction, { kind: 'fail', accountId, topUp: settled, problem });
    });
  }
}

type Returns = {
  readonly recordBooking: RecordBooking;
  readonly note: NoteAutoTopUp;
  readonly clock: Clock;
};

/**
 * Also pauses the automatic top-ups of an account whose payment was refunded or disputed: the lower balance
 * must not charge its card again.
 */
export function pausingOnReturns({ recordBooking, note, clock }: Returns): RecordBooking {
  return async (transaction, booking) => {
    await recordBooking(transaction, booking);
    const { accountId, paymentId, part, deltaMicros } = booking;
    if (part === 'payment' || deltaMicros > 0) return;
    const paused = await transaction
      .updateTable('auto_top_ups')
      .set({ paused_at_ms: clock.nowMs(), paused_reason: 'returned' })
      .where('account_id', '=', accountId)
      .where('threshold_micros', 'is not', null)
      .where('paused_at_ms', 'is', null)
      .executeTakeFirst();
    if (paused.numUpdatedRows === 0n) return;
    const payment = await transaction
      .selectFrom('payments')
      .selectAll()
      .where('id', '=', paymentId)
      .executeTakeFirstOrThrow();
    const { top_up_id, amount_micros, fee_micros } = payment;
    const topUp = {
      id: top_up_id ?? paymentId,
      amount_micros: micros(amount_micros! - fee_micros),
    };
    await note(transaction, { kind: 'fail', accountId, topUp, problem: 'returned' });
  };
}

const isLow = sql<boolean>`(select posted_micros - held_micros from ledgers where ledgers.id = auto_top_ups.account_id || ':live') < threshold_micros`;

/** Selects the accounts that can be charged. */
function selectChargeable(db: Db, accountId?: string) {
  return db
    .selectFrom('auto_top_ups')
    .innerJoin('accounts', 'accounts.id', 'account_id')
    .select('account_id')
    .where('frozen', '=', 0)
    .where('threshold_micros', 'is not', null)
    .where('card_id', 'is not', null)
    .where('paused_at_ms', 'is', null)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId!));
}

function selectAttempts(db: Db) {
  return db.selectFrom('top_ups').selectAll('top_ups').where('customer_id', 'is not', null);
}

function selectUnsettled(db: Db) {
  return selectAttempts(db).where('state', 'in', ['open', 'processing']);
}

/** Returns what was charged to saved cards in the UTC month, with fees and what is not settled. */
export async function chargedInMonth(db: Db, accountId: string, nowMs: number): Promise<Micros> {
  const attempts = await selectAttempts(db)
    .leftJoin('payments', 'payments.id', 'top_ups.checkout_id')
    .where('top_ups.account_id', '=', accountId)
    // An operator's dismissal does not undo what the card has paid.
    .where((eb) => eb.or([eb('state', '<>', 'failed'), eb('paid_at_ms', 'is not', null)]))
    .where('created_at_ms', '>=', monthStartMs(nowMs))
    .execute();
  return micros(attempts.reduce((sum, one) => sum + one.amount_micros + one.fee_micros, 0));
}

export type AutoTopUpRow = Selectable<Tables['auto_top_ups']>;

export function findAutoTopUp(db: Db, accountId: string): Promise<AutoTopUpRow | undefined> {
  const query = db.selectFrom('auto_top_ups').selectAll();
  return query.where('account_id', '=', accountId).executeTakeFirst();
}

/** Returns the row as it is now. Others wait to change it until the transaction ends. */
export function lockAutoTopUp(
  transaction: Db,
  accountId: string,
): Promise<AutoTopUpRow | undefined> {
  return transaction
    .updateTable('auto_top_ups')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where('account_id', '=', accountId)
    .returningAll()
    .executeTakeFirst();
}

export function findLastAttempt(db: Db, accountId: string): Promise<TopUp | undefined> {
  return selectAttempts(db)
    .where('account_id', '=', accountId)
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}
