import { setImmediate } from 'node:timers/promises';

/** Tells whether a promise has not settled by now. */
export function isPending(promise: Promise<unknown>): Promise<boolean> {
  const settled = () => false;
  return Promise.race([promise.then(settled, settled), setImmediate(true)]);
}
