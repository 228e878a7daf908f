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
