// Reads what an account's trustworthiness depends on: its provoked losses and its payments.
import type { Db } from '../../../db/schema.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { LedgerId } from '../commands.ts';
import { type LossLimits, type LossStanding, readLossStandings } from './loss-budget.ts';
import { hasPaid } from './queries.ts';

export type StandingReads = {
  readonly readLosses: (ledgerId: LedgerId) => Promise<LossStanding>;
  /** True when the account was ever credited more than a sign-up credit. */
  readonly readPaid: (ledgerId: LedgerId) => Promise<boolean>;
};

type Input = { readonly limits: LossLimits; readonly clock: Clock };

export function standingReads(db: Db, { limits, clock }: Input): StandingReads {
  return {
    readLosses: async (ledgerId) => {
      const standings = await readLossStandings(db, { ledgerId, limits, nowMs: clock.nowMs() });
      return standings.get(ledgerId)!;
    },
    readPaid: (ledgerId) => hasPaid(db, ledgerId),
  };
}
