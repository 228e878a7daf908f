// Throttles key guessing by client address: after some wrong keys, further ones from that address
// are refused without a lookup. Valid keys still work: at once if this gateway has seen them
// before, else within a small allowance, because neighbours share an address.
import type { AddressRates } from './address-rates.ts';

export type FailedKeys = {
  /** Returns 0 if an unknown key may be looked up, else the seconds to wait. */
  readonly secondsToWait: (address: string) => Promise<number>;
  /** Notes a wrong key. Returns 0, or the seconds to wait if it exceeded the limit. */
  readonly note: (address: string) => Promise<number>;
};

/** Lookups per minute for an address that has used up its wrong keys. */
const allowancePerMinute = 30;
const everySeconds = 60;

/** `failuresPerMinute` null means no limit. */
export function createFailedKeys(
  failuresPerMinute: number | null,
  rates: AddressRates,
): FailedKeys {
  if (failuresPerMinute === null) return { secondsToWait: async () => 0, note: async () => 0 };
  const waitOf = (left: number) =>
    Math.max(1, Math.ceil(((1 - left) * everySeconds) / failuresPerMinute));
  return {
    async secondsToWait(address) {
      const { left } = await rates.take('wrong keys', address, failuresPerMinute, 0);
      if (left >= 1) return 0;
      const { isGranted } = await rates.take('lookups beyond', address, allowancePerMinute);
      return isGranted ? 0 : waitOf(left);
    },
    async note(address) {
      const { isGranted, left } = await rates.take('wrong keys', address, failuresPerMinute);
      return isGranted ? 0 : waitOf(left);
    },
  };
}
