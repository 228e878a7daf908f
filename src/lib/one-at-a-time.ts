/**
 * Returns a function that runs the task, one run at a time. All calls during a run share the next one,
 * so that at most one runs and one waits, however long a run takes.
 */
export function oneAtATime(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const run = () => {
    next = null;
    running = task().finally(() => {
      running = null;
    });
    return running;
  };
  return () => {
    // A run that has ended may have a next one that has not begun.
    if (!running) return next ?? run();
    next ??= running.then(run, run);
    return next;
  };
}
