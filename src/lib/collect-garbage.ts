// Forces a garbage collection.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from './clock.ts';

type Collect = (options: { type: 'major'; flavor: Flavor }) => void;

/** `last-resort` collects until nothing more is freed, and shrinks the heap, at twice the time. */
type Flavor = 'regular' | 'last-resort';

let exposed: Collect | null = null;

/** Collects all garbage of this thread, which blocks it meanwhile. */
export function collectGarbage(flavor: Flavor = 'regular'): void {
  // V8 offers `gc` only in contexts that are created after its flag was set.
  if (!exposed) {
    setFlagsFromString('--expose-gc');
    exposed = runInNewContext('gc') as Collect;
  }
  exposed({ type: 'major', flavor });
}

/** The start has ended by then, and its first requests are answered. */
const startMs = 5_000;

/**
 * Gives back what this thread needed only for its start, some 16 MB. An idle thread allocates so
 * little that V8 would keep it for ever: it enlarges its young generation during the start. A regular
 * collection shrinks it only if the thread allocated little of late, which a thread that has just
 * started did not.
 */
export function collectAfterStart(clock: Clock): void {
  clock.after(startMs, () => collectGarbage('last-resort'));
}
