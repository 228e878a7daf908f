// The end of the HTTP side: from the signal to the last connection, in the order that loses no request that was accepted.
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/schema.ts';
import type { ActiveRuns } from '../gateway/active-runs.ts';
import { type Clock, timeLimit } from '../lib/clock.ts';
import type { Lifecycle } from './context.ts';

/** Whoever has not asked `/readyz` for so long decides nothing by it. */
const balancerPatienceMs = 60_000;
/** How long ended requests may take to say so to their clients. */
const lastWordsMs = 5_000;
const sweepMs = 20;

type Drained = {
  readonly lifecycle: Lifecycle;
  readonly runs: ActiveRuns;
  readonly clock: Clock;
  readonly settings: Pick<Config['server'], 'shutdown_delay_ms' | 'shutdown_timeout_ms'>;
};

/** Resolves when nothing runs and nobody is connected; what still ran at the deadline was ended. */
export async function drain(server: FastifyInstance, { lifecycle, runs, clock, settings }: Drained): Promise<void> {
  const startMs = clock.elapsedMs();
  const deadlineMs = startMs + settings.shutdown_timeout_ms;
  lifecycle.phase = 'leaving';
  const isBalanced = startMs - lifecycle.readinessAskedMs < balancerPatienceMs;
  const delayMs = Math.min(settings.shutdown_delay_ms, settings.shutdown_timeout_ms);
  if (isBalanced && delayMs > 0) await clock.sleep(delayMs);
  // Connections that wait in the system's queue are taken in this turn; closing the port would reset them.
  await setImmediate();
  lifecycle.phase = 'draining';
  const closed = server.close();
  await runs.whenIdle(deadlineMs - clock.elapsedMs());
  runs.endAll();
  await runs.whenIdle(lastWordsMs);
  // A connection that falls idle after the server has begun to close would stay open until its client gives it up.
  const stopSweeping = clock.every(sweepMs, () => server.server.closeIdleConnections());
  await Promise.race([closed, timeLimit(clock, lastWordsMs)]);
  stopSweeping();
  // Connections on which no request ever came are not idle to Node. Some clients open one in advance.
  server.server.closeAllConnections();
}
