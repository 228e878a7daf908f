// What a stream costs while it is open and silent: the memory of the process with many, less without, by the number.
import type { Child } from './child.ts';
import { connectClient, type Client, type Target } from './client.ts';
import { silentStream } from './workloads.ts';

export type OpenStreams = { readonly count: number; readonly rssBytesBefore: number; readonly rssBytesEach: number };

const atOnce = 50;
const settleMs = 500;

/** `child` should be new, or what it has freed since its start hides what the streams take. */
export async function measureOpenStreams(child: Child, { key, count }: { key: string; count: number }): Promise<OpenStreams> {
  const target: Target = { port: child.port, request: silentStream.asked, key };
  const close = await openStreams(target, atOnce);
  const before = await settledRssBytes(child);
  const closeMany = await openStreams(target, count);
  const after = await settledRssBytes(child);
  close();
  closeMany();
  return { count, rssBytesBefore: before, rssBytesEach: (after - before) / count };
}

async function openStreams(target: Target, count: number): Promise<() => void> {
  const clients: Client[] = [];
  while (clients.length < count) {
    const some = await Promise.all(Array.from({ length: Math.min(atOnce, count - clients.length) }, () => connectClient(target)));
    await Promise.all(some.map((client) => client.open()));
    clients.push(...some);
  }
  return () => {
    for (const client of clients) client.close();
  };
}

async function settledRssBytes(child: Child): Promise<number> {
  await new Promise((resolve) => {
    setTimeout(resolve, settleMs);
  });
  return (await child.usage()).rssBytes;
}
