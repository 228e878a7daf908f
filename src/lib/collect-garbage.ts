// Forces a garbage collection.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from './clock.ts';

let exposed: (() => void) | null = null;

/** Collects all garbage of this thread, which blocks it meanwhile. */
export function collectGarbage(): void {
  // V8 offers `gc` only in contexts that are created after its flag was set.
  if (!exposed) {
    setFlagsFromString('--expose-gc');
    exposed = runInNewContext('gc') as () => void;
  }
  exposed();
}

/** The start has ended by then, and its first requests are answered. */
const startMs = 5_000;

/**
 * Gives back what this thread needed only for its start, some 16 MB. An idle thread allocates so
 * little that V8 would keep it for ever: it enlarges its young generation during the start, and
 * shrinks it only after a full collection.
 */
export function collectAfterStart(clock: Clock): void {
  clock.after(startMs, collectGarbage);
}
