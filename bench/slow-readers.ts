// Measures streams whose readers take a hundred bytes per second while the upstream is half a
// megabyte ahead. With unlimited data, the system's buffers for two thousand sockets would take
// gigabytes; tests/integration/stream-discipline.test.ts tests that with nine.
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { requestBytes, type Target } from './client.ts';
import type { Installation } from './gateway.ts';
import { formatTable } from './table.ts';
import { streamAhead } from './workloads.ts';

const bytesPerSecond = 100;
const seconds = 30;
/** How many are opened together. */
const atOnce = 50;

export async function benchSlowReaders(
  { key, start }: Installation,
  count: number,
): Promise<string> {
  const gateway = await start();
  const target: Target = { port: gateway.port, request: streamAhead.asked, key };
  const rssBytes = async () => (await gateway.usage()).rssBytes;
  const first = await openReaders(target, atOnce);
  const before = await rssBytes();
  const readers: Socket[] = [];
  while (readers.length < count)
    readers.push(...(await openReaders(target, Math.min(atOnce, count - readers.length))));
  let peak = before;
  let bytes = 0;
  for (let second = 0; second < seconds; second++) {
    for (const reader of readers)
      bytes += (reader.read(bytesPerSecond) as Buffer | null)?.length ?? 0;
    peak = Math.max(peak, await rssBytes());
    await new Promise((resolve) => {
      setTimeout(resolve, 1_000);
    });
  }
  const after = await rssBytes();
  const open = readers.filter((reader) => !reader.closed).length;
  for (const reader of [...first, ...readers]) reader.destroy();
  await gateway.stop();
  const megabytes = (value: number) => `${(value / 1e6).toFixed(0)} MB`;
  return formatTable(
    [
      'slow readers',
      'still open',
      'read each',
      'memory before',
      'peak',
      `after ${seconds} s`,
      'each at the peak',
    ],
    [
      [
        String(count),
        String(open),
        `${Math.round(bytes / count / seconds)} B/s`,
        megabytes(before),
        megabytes(peak),
        megabytes(after),
        `${((peak - before) / count / 1_024).toFixed(0)} KiB`,
      ],
    ],
  );
}

/** Opens sockets in paused mode. Resolves when the first bytes have arrived. */
async function openReaders(target: Target, count: number): Promise<Socket[]> {
  const readers = Array.from({ length: count }, () => connect(target.port, '127.0.0.1'));
  await Promise.all(
    readers.map(async (reader) => {
      reader.write(requestBytes(target));
      await once(reader, 'readable');
      reader.on('error', () => {});
    }),
  );
  return readers;
}
