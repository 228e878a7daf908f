// Runs a request under its hold. However it ends, the run is closed, and a hold that an unexpected
// error left open is released.
import { zeroMicros } from '../../lib/money.ts';
import type { Run } from '../active-runs.ts';
import type { Audience } from '../audience.ts';
import type { Gateway } from '../gateway.ts';
import type { OpenHold } from './open-hold.ts';

type ToRun = Audience & {
  readonly gateway: Gateway;
  readonly hold: OpenHold;
  /** True when the run continues after its client has left; left out: it is stopped. */
  readonly runsToEnd?: boolean;
};

export async function runHeld<T>(held: ToRun, action: (run: Run) => Promise<T>): Promise<T> {
  const run = held.gateway.runs.open();
  if (!held.runsToEnd) run.watch(held);
  try {
    return await action(run);
  } catch (error) {
    // Every expected end has already ended the hold.
    if (!held.hold.hasEnded) await held.hold.release(zeroMicros);
    throw error;
  } finally {
    run.close();
  }
}
