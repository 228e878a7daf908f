// Decides how far an account is trusted: whether it stays within its loss budget, also with all that
// runs at once, and whether it has ever paid. For an active account the database is read at most
// every five seconds, and again after this process books a loss that the account could provoke.
import { ApiError } from '../../canonical/errors.ts';
import type { RequestEvent } from '../../events/request-events.ts';
import type { ObservedRequest, RequestListener } from '../../events/request-listener.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { type LedgerId, ledgerIdOf } from '../../domain/ledger/commands.ts';
import type { LossStanding } from '../../domain/ledger/reports/loss-budget.ts';
import type { StandingReads } from '../../domain/ledger/reports/standing-reads.ts';
import { dayOf } from '../../lib/utc-time.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { formatUsd, type Micros } from '../../lib/money.ts';
import type { NameLocks } from '../../lib/name-locks.ts';
import { RecentReads } from '../../lib/recent-reads.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';

type Key = Pick<ApiKey, 'accountId' | 'mode'>;
type Options = StandingReads & {
  readonly shared: {
    readonly nameLocks: NameLocks;
    /** `noteLoss`: tells the other threads of the process. */
    readonly threads: {
      readonly count: number;
      readonly noteLoss: (ledgerId: LedgerId) => void;
    };
  };
  readonly log: Pick<Logger, 'warn'>;
  readonly clock: Clock;
};

const keptForMs = 5_000;
const noRisk = () => {};

export class AccountTrust implements RequestListener {
  readonly #losses: RecentReads<LedgerId, LossStanding>;
  readonly #paid: RecentReads<LedgerId, boolean>;
  readonly #options: Options;
  /** Amounts held by running requests whose time limit may end before their answer does. */
  readonly #riskedMicros = new Map<LedgerId, number>();
  /** The last loss that is being booked. */
  readonly #booking = new Map<LedgerId, Promise<unknown>>();
  /** The day of the last warning to the operator, by account. */
  readonly #warnedOn = new Map<string, string>();

  constructor(options: Options) {
    const { readLosses, readPaid, clock } = options;
    this.#options = options;
    this.#paid = new RecentReads({ read: readPaid, keptForMs, clock });
    this.#losses = new RecentReads({ read: readLosses, keptForMs, clock });
  }

  /** Returns true when the account never had money other than a sign-up credit. */
  async isUnpaid({ accountId, mode }: Key): Promise<boolean> {
    return mode === 'live' && !(await this.#paid.read(ledgerIdOf(accountId, mode)));
  }

  /**
   * Throws ApiError `loss_budget_exceeded` when the account may start nothing new. `riskMicros`: the
   * loss if the request's time ends before its answer does. While the risks of running requests use
   * up the budget, no other is taken: throws `rate_limit_exceeded`. Returns the function that gives
   * the risk back.
   */
  async admit({ accountId, mode }: Key, riskMicros: Micros): Promise<() => void> {
    if (mode !== 'live') return noRisk;
    const ledgerId = ledgerIdOf(accountId, mode);
    const standing = await this.#losses.read(ledgerId);
    if (standing?.isExceeded) {
      this.#warn(accountId, standing);
      throw refusalOf(standing);
    }
    if (riskMicros === 0) return noRisk;
    // Each thread has its part of what is left: they do not know each other's risks.
    const { count } = this.#options.shared.threads;
    const riskedMicros = (this.#riskedMicros.get(ledgerId) ?? 0) * count;
    if (standing && standing.causedMicros + riskedMicros > standing.budgetMicros)
      throw tooManyLongAnswers();
    this.#addRisk(ledgerId, riskMicros);
    return () => this.#addRisk(ledgerId, 0 - riskMicros);
  }

  /**
   * Books a loss that the account could provoke: `book` is told whether the budget has room for it.
   * One at a time for each account, so that no burst passes the budget.
   */
  async bookInTurn<T>(
    { accountId, mode }: Key,
    book: (isWithinBudget: boolean) => Promise<T>,
  ): Promise<T> {
    if (mode !== 'live') return book(true);
    const ledgerId = ledgerIdOf(accountId, mode);
    const earlier = this.#booking.get(ledgerId);
    const booking = (async () => {
      await earlier?.catch(() => {});
      // Alone among the other threads of the process, too.
      const { signal } = new AbortController();
      const { nameLocks } = this.#options.shared;
      const giveBack = await nameLocks.take(`loss ${ledgerId}`, { signal, onAwaited: () => {} });
      try {
        this.forget(ledgerId);
        const standing = await this.#losses.read(ledgerId);
        return await book(!standing?.isExceeded);
      } finally {
        giveBack?.();
      }
    })();
    this.#booking.set(ledgerId, booking);
    try {
      return await booking;
    } finally {
      if (this.#booking.get(ledgerId) === booking) this.#booking.delete(ledgerId);
    }
  }

  #addRisk(ledgerId: LedgerId, micros: number): void {
    const riskedMicros = (this.#riskedMicros.get(ledgerId) ?? 0) + micros;
    if (riskedMicros > 0) this.#riskedMicros.set(ledgerId, riskedMicros);
    else this.#riskedMicros.delete(ledgerId);
  }

  hear(event: RequestEvent, { fields: { accountId, mode } }: ObservedRequest): void {
    if (!accountId || !mode || !isCausedLoss(event)) return;
    const ledgerId = ledgerIdOf(accountId, mode);
    this.forget(ledgerId);
    this.#options.shared.threads.noteLoss(ledgerId);
  }

  /** Call after another thread of the process has booked one. */
  forget(ledgerId: LedgerId): void {
    this.#losses.forget(ledgerId);
  }

  /** Warns the operator, at most once a day for each account. */
  #warn(accountId: string, { causedMicros, budgetMicros }: LossStanding): void {
    const { clock, log } = this.#options;
    const day = dayOf(clock.nowMs());
    if (this.#warnedOn.get(accountId) === day) return;
    this.#warnedOn.set(accountId, day);
    log.warn(
      {
        account_id: accountId,
        provoked_loss_micros: causedMicros,
        loss_budget_micros: budgetMicros,
      },
      'an account has exceeded its loss budget: its new live requests are refused (docs/limits.md)',
    );
  }
}

/** True when a loss was booked that the account could provoke. */
function isCausedLoss(event: RequestEvent): boolean {
  if (event.type === 'lost') return event.isCausedByAccount;
  if (event.type !== 'settled' || !event.settled) return false;
  const { settled } = event;
  return settled.kind === 'charged' ? settled.lossMicros > 0 : settled.isCausedByAccount;
}

function tooManyLongAnswers(): ApiError {
  return new ApiError(
    'rate_limit_exceeded',
    'Requests without `stream` whose answers may take longer than the time limit use up the loss budget of this account. ' +
      'Wait until one of them ends, send `stream: true`, or ask for fewer output tokens.',
    { param: 'stream', retryAfterSeconds: 60 },
  );
}

function refusalOf({ causedMicros, budgetMicros, resetsAtMs }: LossStanding): ApiError {
  const resetsAt = isoTimeOf(resetsAtMs);
  const message =
    `In the last 30 days this account's requests have cost the operator $${formatUsd(causedMicros)} that nobody paid: ` +
    `answers that could not be delivered, or costs beyond its balance and caps. Its loss budget of $${formatUsd(budgetMicros)} is exceeded. ` +
    `New requests are refused until ${resetsAt} at the latest, or until the operator of this service forgives the losses.`;
  const details = {
    limit: 'loss_budget',
    provoked_loss_micros: causedMicros,
    loss_budget_micros: budgetMicros,
    resets_at: resetsAt,
  };
  return new ApiError('loss_budget_exceeded', message, { details });
}
