// Limits how many pictures are drawn at once. Each takes tens of megabytes and a whole CPU core
// while it is drawn.

const slots = 2;
let taken = 0;
const waiting: (() => void)[] = [];

/**
 * First come, first served. Rejects with the signal's reason when it aborts during the wait;
 * running work continues.
 */
export async function inTurn<Result>(
  work: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  if (taken < slots) taken++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    signal.throwIfAborted();
    return await work();
  } finally {
    // The next one inherits the slot.
    const next = waiting.shift();
    if (next) next();
    else taken--;
  }
}
