// Forces a garbage collection.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

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

/**
 * Gives back what this thread needed only for its start, some 20 MB. An idle thread allocates so
 * little that V8 would keep it for ever: it enlarges its young generation during the start. A regular
 * collection shrinks it only if the thread allocated little of late. Called before the first request,
 * because V8 forgets the shapes of objects that are not in use, and slows the code that it compiled
 * for them.
 */
export function collectAfterStart(): void {
  // In a tick, so that Node's own ticks are in use: each request makes about ten.
  process.nextTick(collectGarbage, 'last-resort');
}
