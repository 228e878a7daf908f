// Caches balances for answers that cost nothing but report the balance. Concurrent callers share
// one read. A balance is read again after a command of this process, and after a second, because
// another process may have changed it.
import type { Command, LedgerId } from '../domain/ledger/commands.ts';
import type { Balance } from '../domain/ledger/reports/queries.ts';
import type { Clock } from '../lib/clock.ts';
import { RecentReads } from '../lib/recent-reads.ts';

type RecentBalancesOptions = {
  readonly read: (ledgerId: LedgerId) => Promise<Balance | null>;
  readonly clock: Clock;
};

const keptForMs = 1_000;

export class RecentBalances {
  readonly #balances: RecentReads<LedgerId, Balance>;

  constructor({ read, clock }: RecentBalancesOptions) {
    this.#balances = new RecentReads({ read, keptForMs, clock });
  }

  /** Returns null when the ledger does not exist. */
  read(ledgerId: LedgerId): Balance | null | Promise<Balance | null> {
    return this.#balances.read(ledgerId);
  }

  /** Call when a command of this process has ended, whatever came of it. */
  noteEnd(command: Command): void {
    if ('ledgerId' in command) this.#balances.forget(command.ledgerId);
    else this.#balances.forgetAll();
  }
}
