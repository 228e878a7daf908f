// Loaded into each measured process, and into its threads, before their own code. Reports the
// process's CPU time and memory when the bench asks, and exits when the bench is gone.
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread, threadId } from 'node:worker_threads';

/** A thread's announcement, the request for its heap, and its answer. */
type Message =
  | { readonly kind: 'started'; readonly thread: number }
  | { readonly kind: 'collect' }
  | { readonly kind: 'heap'; readonly thread: number; readonly bytes: number };

const channel = new BroadcastChannel('bench-threads');
channel.unref();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is a channel, not a window
const tell = (message: Message) => channel.postMessage(message);
/** Bytes in use after the last collection, by thread; null while a thread has not answered. */
const heaps = new Map<number, number | null>();

channel.addEventListener('message', (event) => {
  const data = (event as MessageEvent).data as Message;
  if (isMainThread && data.kind !== 'collect')
    heaps.set(data.thread, data.kind === 'heap' ? data.bytes : null);
  if (!isMainThread && data.kind === 'collect')
    void collect().then((bytes) => tell({ kind: 'heap', thread: threadId, bytes }));
});

if (isMainThread) {
  process.on('message', (question: 'usage' | 'live-heap') => {
    if (question === 'usage') reportUsage();
    else void reportLiveHeap();
  });
  process.on('disconnect', () => process.exit(1));
  // The channel must not keep a process alive that wants to exit.
  process.channel?.unref();
} else tell({ kind: 'started', thread: threadId });

function reportUsage(): void {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicros: user + system, rssBytes: process.memoryUsage.rss() });
}

const answersMs = 10_000;

/** Reports what all threads use after a collection: heap and buffers. A thread that ended counts no more. */
async function reportLiveHeap(): Promise<void> {
  for (const thread of heaps.keys()) heaps.set(thread, null);
  tell({ kind: 'collect' });
  const own = await collect();
  const isMissing = () => [...heaps.values()].includes(null);
  for (let waitedMs = 0; waitedMs < answersMs && isMissing(); waitedMs += 100) await sleep(100);
  for (const [thread, bytes] of heaps) if (bytes === null) heaps.delete(thread);
  const bytes = [...heaps.values()].reduce<number>((sum, one) => sum + (one ?? 0), own);
  process.send?.({ bytes, threads: 1 + heaps.size });
}

/** Returns the bytes in use. The second collection frees what finalizers let go. */
async function collect(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  gc();
  await sleep(10);
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
