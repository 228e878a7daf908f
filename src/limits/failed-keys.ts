// Guessing keys is slowed down, by address: after some wrong ones, further ones from there are refused unseen. Whoever has a right key is let
// through: at once if this gateway has seen it before, else by a small allowance, since neighbours behind one address share its fate.
import { clientGroupOf } from '../lib/addresses.ts';
import { MemoryRates } from './rates.ts';

export type FailedKeys = {
  /** Whether a key that is not known may be looked for; 0, or the seconds to wait. */
  readonly secondsToWait: (address: string) => number;
  /** The key was wrong. Whether that was one too many, and the seconds to wait then, else 0. */
  readonly note: (address: string) => number;
};

/** Looks for a right key, a minute, from an address whose wrong keys are used up. */
const allowancePerMinute = 30;
/** Beyond it the oldest are forgotten: an attacker with so many addresses is not to be had by them, and must not fill the memory. */
const addressesMax = 20_000;
const everySeconds = 60;

/** `failuresPerMinute`: null for no limit. */
export function createFailedKeys(failuresPerMinute: number | null, nowMs: () => number): FailedKeys {
  if (failuresPerMinute === null) return { secondsToWait: () => 0, note: () => 0 };
  const failures = new MemoryRates(nowMs, addressesMax);
  const allowance = new MemoryRates(nowMs, addressesMax);
  const failuresOf = (address: string) => ({ id: clientGroupOf(address), perMinute: failuresPerMinute });
  const waitOf = (left: number) => Math.max(1, Math.ceil(((1 - left) * everySeconds) / failuresPerMinute));
  return {
    secondsToWait(address) {
      const { left } = failures.take(failuresOf(address), 0);
      if (left >= 1) return 0;
      const allowed = allowance.take({ id: clientGroupOf(address), perMinute: allowancePerMinute }, 1);
      return allowed.isGranted ? 0 : waitOf(left);
    },
    note(address) {
      const { isGranted, left } = failures.take(failuresOf(address), 1);
      return isGranted ? 0 : waitOf(left);
    },
  };
}
