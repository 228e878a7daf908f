// How many pictures are drawn at once. Each takes tens of megabytes while it is drawn, and a processor's whole attention.

const places = 2;
let taken = 0;
const waiting: (() => void)[] = [];

/** First come, first served. Rejects with the signal's reason when it is aborted while waiting; what has begun runs on. */
export async function inTurn<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (taken < places) taken++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    signal?.throwIfAborted();
    return await work();
  } finally {
    // The place goes to the next one as it is.
    const next = waiting.shift();
    if (next) next();
    else taken--;
  }
}
