import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../lib/clock.ts';

/** Work at a stretch, before other requests have their turn. */
const turnMs = 10;

/** Lets other requests run between the items, each of which is long work. */
export async function* inTurns<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  clock: Clock,
): AsyncGenerator<Item> {
  let turnEndsMs = 0;
  for await (const item of items) {
    yield item;
    if (clock.elapsedMs() < turnEndsMs) continue;
    await setImmediate();
    turnEndsMs = clock.elapsedMs() + turnMs;
  }
}
