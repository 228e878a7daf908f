// Measures the memory of an open, silent stream: the process's memory with many streams, less the
// memory without, divided by their number.
import type { Child } from './child.ts';
import { connectClient, type Client, type Target } from './client.ts';
import { silentStream } from './workloads.ts';

export type OpenStreams = {
  readonly count: number;
  readonly rssBytesBefore: number;
  readonly rssBytesEach: number;
};

/**
 * How many are opened together. The first batch makes the process load and compile what streams
 * need.
 */
const atOnce = 50;
const settleMs = 500;

/**
 * `gateway` should be new: memory that it has freed since its start would hide what the streams
 * take.
 */
export async function measureOpenStreams(
  gateway: Child,
  { key, count }: { key: string; count: number },
): Promise<OpenStreams> {
  const target: Target = { port: gateway.port, request: silentStream.asked, key };
  const first = await openStreams(target, atOnce);
  const before = await settledRssBytes(gateway);
  const streams: Client[] = [];
  while (streams.length < count)
    streams.push(...(await openStreams(target, Math.min(atOnce, count - streams.length))));
  const after = await settledRssBytes(gateway);
  for (const client of [...first, ...streams]) client.close();
  return { count, rssBytesBefore: before, rssBytesEach: (after - before) / count };
}

async function openStreams(target: Target, count: number): Promise<Client[]> {
  const clients = await Promise.all(Array.from({ length: count }, () => connectClient(target)));
  await Promise.all(clients.map((client) => client.open()));
  return clients;
}

async function settledRssBytes(child: Child): Promise<number> {
  await new Promise((resolve) => {
    setTimeout(resolve, settleMs);
  });
  return (await child.usage()).rssBytes;
}
