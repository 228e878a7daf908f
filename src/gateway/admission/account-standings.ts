// Decides how far an account is trusted: whether it stays within its loss budget, and whether it
// has ever paid. For an active account the database is read at most every five seconds, and again
// after this process books a loss that the account could provoke.
import { ApiError } from '../../canonical/errors.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import { type LedgerId, ledgerIdOf } from '../../domain/ledger/commands.ts';
import type { LossStanding } from '../../domain/ledger/reports/loss-budget.ts';
import type { StandingReads } from '../../domain/ledger/reports/standing-reads.ts';
import { dayOf } from '../../lib/utc-time.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { formatUsd } from '../../lib/money.ts';
import { RecentReads } from '../../lib/recent-reads.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';

type Key = Pick<ApiKey, 'accountId' | 'mode'>;
type Options = StandingReads & {
  /** Called with each loss that is noted, for the other threads of the process. */
  readonly onLoss: (ledgerId: LedgerId) => void;
  readonly log: Pick<Logger, 'warn'>;
  readonly clock: Clock;
};

const keptForMs = 5_000;

export class AccountStandings {
  readonly #losses: RecentReads<LedgerId, LossStanding | 'no-losses'>;
  readonly #paid: RecentReads<LedgerId, boolean>;
  readonly #onLoss: Options['onLoss'];
  readonly #log: Options['log'];
  readonly #clock: Clock;
  /** The day of the last warning to the operator, by account. */
  readonly #warnedOn = new Map<string, string>();

  constructor({ readLosses, readPaid, onLoss, log, clock }: Options) {
    this.#onLoss = onLoss;
    this.#log = log;
    this.#clock = clock;
    this.#paid = new RecentReads({ read: readPaid, keptForMs, clock });
    this.#losses = new RecentReads({
      read: async (id) => (await readLosses(id)) ?? 'no-losses',
      keptForMs,
      clock,
    });
  }

  /** Returns true when the account never had money other than a sign-up credit. */
  async isUnpaid({ accountId, mode }: Key): Promise<boolean> {
    return mode === 'live' && !(await this.#paid.read(ledgerIdOf(accountId, mode)));
  }

  /** Throws ApiError `loss_budget_exceeded` when the account may start nothing new. */
  async assertWithinLosses({ accountId, mode }: Key): Promise<void> {
    if (mode !== 'live') return;
    const standing = await this.#losses.read(ledgerIdOf(accountId, mode));
    if (standing === null || standing === 'no-losses' || !standing.isExceeded) return;
    this.#warn(accountId, standing);
    throw refusalOf(standing);
  }

  /** Call after booking a loss that the account could provoke. */
  noteLoss({ accountId, mode }: Key): void {
    const ledgerId = ledgerIdOf(accountId, mode);
    this.forget(ledgerId);
    this.#onLoss(ledgerId);
  }

  /** Call after another thread of the process has booked one. */
  forget(ledgerId: LedgerId): void {
    this.#losses.forget(ledgerId);
  }

  /** Warns the operator, at most once a day for each account. */
  #warn(accountId: string, { provokedMicros, budgetMicros }: LossStanding): void {
    const day = dayOf(this.#clock.nowMs());
    if (this.#warnedOn.get(accountId) === day) return;
    this.#warnedOn.set(accountId, day);
    this.#log.warn(
      {
        account_id: accountId,
        provoked_loss_micros: provokedMicros,
        loss_budget_micros: budgetMicros,
      },
      'an account has exceeded its loss budget: its new live requests are refused (docs/limits.md)',
    );
  }
}

function refusalOf({ provokedMicros, budgetMicros, resetsAtMs }: LossStanding): ApiError {
  const resetsAt = isoTimeOf(resetsAtMs);
  const message =
    `In the last 30 days this account's requests have cost the operator $${formatUsd(provokedMicros)} that nobody paid: ` +
    `answers that could not be delivered, or costs beyond its balance and caps. Its loss budget of $${formatUsd(budgetMicros)} is exceeded. ` +
    `New requests are refused until ${resetsAt} at the latest, or until the operator of this service forgives the losses.`;
  const details = {
    limit: 'loss_budget',
    provoked_loss_micros: provokedMicros,
    loss_budget_micros: budgetMicros,
    resets_at: resetsAt,
  };
  return new ApiError('loss_budget_exceeded', message, { details });
}
