// Throttles key guessing by client address: after some wrong keys, further ones from that address
// are refused without a lookup. Valid keys still work: at once if this gateway has seen them
// before, else within a small allowance, because neighbours share an address.
import { clientGroupOf } from '../../lib/addresses.ts';
import { MemoryRates } from './rates.ts';

export type FailedKeys = {
  /** Returns 0 if an unknown key may be looked up, else the seconds to wait. */
  readonly secondsToWait: (address: string) => number;
  /** Notes a wrong key. Returns 0, or the seconds to wait if it exceeded the limit. */
  readonly note: (address: string) => number;
};

/** Lookups per minute for an address that has used up its wrong keys. */
const allowancePerMinute = 30;
/**
 * Beyond this the oldest are dropped: an attacker with that many addresses cannot be throttled by
 * address, and must not fill the memory.
 */
const addressesMax = 20_000;
const everySeconds = 60;

/** `failuresPerMinute` null means no limit. */
export function createFailedKeys(
  failuresPerMinute: number | null,
  nowMs: () => number,
): FailedKeys {
  if (failuresPerMinute === null) return { secondsToWait: () => 0, note: () => 0 };
  const failures = new MemoryRates(nowMs, addressesMax);
  const allowance = new MemoryRates(nowMs, addressesMax);
  const failuresOf = (address: string) => ({
    id: clientGroupOf(address),
    perMinute: failuresPerMinute,
  });
  const waitOf = (left: number) =>
    Math.max(1, Math.ceil(((1 - left) * everySeconds) / failuresPerMinute));
  return {
    secondsToWait(address) {
      const { left } = failures.take(failuresOf(address), 0);
      if (left >= 1) return 0;
      const allowed = allowance.take(
        { id: clientGroupOf(address), perMinute: allowancePerMinute },
        1,
      );
      return allowed.isGranted ? 0 : waitOf(left);
    },
    note(address) {
      const { isGranted, left } = failures.take(failuresOf(address), 1);
      return isGranted ? 0 : waitOf(left);
    },
  };
}
