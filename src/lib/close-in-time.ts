// Ends a process or a thread in a bounded time.
import { type Clock, timeLimit } from './clock.ts';

/** The time after the last connection, for all that is left. */
const closingMs = 10_000;

type Closing = readonly (readonly { readonly close: () => unknown }[])[];

/**
 * Closes groups of parts, one group after the other, then the stores. What hangs keeps nobody waiting
 * longer than `closingMs`, and no later group from closing; the ledger tries to write until then.
 */
export async function closeInTime({
  parts,
  stores,
  clock,
}: {
  readonly parts: Closing;
  readonly stores: Closing;
  readonly clock: Clock;
}): Promise<void> {
  const isLate = timeLimit(clock, closingMs);
  const shareMs = closingMs / 2 / parts.length;
  const limits = parts.map((_, index) => timeLimit(clock, (index + 1) * shareMs));
  for (const [index, group] of parts.entries())
    await Promise.race([closeAll([group]), limits[index]]);
  await Promise.race([closeAll(stores), isLate]);
}

async function closeAll(groups: Closing): Promise<void> {
  for (const group of groups) await Promise.all(group.map((part) => part.close()));
}
