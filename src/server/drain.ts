// Shuts down the HTTP side, from the signal to the last connection, in an order that loses no
// accepted request.
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/schema.ts';
import type { ActiveRuns } from '../gateway/active-runs.ts';
import { type Clock, timeLimit } from '../lib/clock.ts';
import type { Lifecycle } from './context.ts';

/** The longest time between two `/readyz` requests of a load balancer. */
const balancerPatienceMs = 60_000;
/** The time for aborted requests to inform their clients. */
const lastWordsMs = 5_000;
const sweepMs = 20;
/** The time after the last connection, for all that is left. */
const closingMs = 10_000;

type Drained = {
  readonly lifecycle: Lifecycle;
  readonly runs: ActiveRuns;
  readonly clock: Clock;
  readonly settings: Pick<Config['server'], 'shutdown_delay_ms' | 'shutdown_timeout_ms'>;
};

/**
 * Shuts the server down. Resolves when nothing runs and nobody is connected. Requests that still
 * run at the deadline are aborted.
 */
export async function drain(
  server: FastifyInstance,
  { lifecycle, runs, clock, settings }: Drained,
): Promise<void> {
  const startMs = clock.elapsedMs();
  const deadlineMs = startMs + settings.shutdown_timeout_ms;
  lifecycle.phase = 'leaving';
  const isBalanced = startMs - lifecycle.readinessAskedMs < balancerPatienceMs;
  const delayMs = Math.min(settings.shutdown_delay_ms, settings.shutdown_timeout_ms);
  if (isBalanced && delayMs > 0) await clock.sleep(delayMs);
  // Accept the connections that wait in the system's queue first; closing the port would reset
  // them.
  await setImmediate();
  lifecycle.phase = 'draining';
  const closed = server.close();
  await runs.whenIdle(deadlineMs - clock.elapsedMs());
  runs.endAll();
  await runs.whenIdle(lastWordsMs);
  // A connection that becomes idle after the server began to close would stay open until its client
  // closes it.
  const stopSweeping = clock.every(sweepMs, () => server.server.closeIdleConnections());
  await Promise.race([closed, timeLimit(clock, lastWordsMs)]);
  stopSweeping();
  // Node does not count a connection without any request as idle. Some clients open one in advance.
  server.server.closeAllConnections();
}

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
