import { setImmediate } from 'node:timers/promises';

/** Returns true while the promise has not settled. */
export function isPending(promise: Promise<unknown>): Promise<boolean> {
  const settled = () => false;
  return Promise.race([promise.then(settled, settled), setImmediate(true)]);
}
