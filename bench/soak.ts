// `npm run bench -- --soak [--minutes 30]`: memory over time under mixed load, on both stores at
// once, with the program's default threads. Writes the samples and a plot to `soak/`. The heap is
// measured after a garbage collection in every thread, while no request is under way: it varies by
// many megabytes otherwise.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '../tests/support/postgres.ts';
import type { Child } from './child.ts';
import { connectClient } from './client.ts';
import { installGateway, type Installation } from './gateway.ts';
import { hits } from './hits.ts';
import { median } from './statistics.ts';
import { formatTable } from './table.ts';
import { streams, wholeAnswers } from './workloads.ts';

/** Clients of each kind of request, and how long each pauses between two. */
const clientsOfEach = 3;
const pauseMs = 400;
const sampleMs = 15_000;
/** V8 compiles and caches fill in the first part, which does not count. */
const warmUpPart = 1 / 3;
const folder = join(import.meta.dirname, 'soak');

type Sample = {
  readonly minute: number;
  readonly heapMb: number;
  readonly rssMb: number;
  readonly threads: number;
};
type Soaked = { readonly name: string; readonly requests: number; readonly samples: Sample[] };

export async function benchSoak(upstreamPort: number, minutes: number): Promise<string> {
  const stores = { SQLite: undefined, PostgreSQL: await createDatabase() };
  const soaked = await Promise.all(
    Object.entries(stores).map(async ([name, databaseUrl]) => {
      const installation = installGateway(upstreamPort, { databaseUrl, threads: 'auto' });
      const gateway = await installation.start({ core: 'any' });
      const result = await soak(gateway, installation, minutes);
      await gateway.stop();
      installation.remove();
      return { name, ...result };
    }),
  );
  mkdirSync(folder, { recursive: true });
  for (const { name, samples } of soaked)
    writeFileSync(join(folder, `${name.toLowerCase()}.csv`), csvOf(samples));
  writeFileSync(join(folder, 'memory.svg'), plot(soaked, minutes));
  const rows = soaked.map(({ name, requests, samples }) => {
    const settled = samples.filter(({ minute }) => minute >= minutes * warmUpPart);
    const slope = (of: 'heapMb' | 'rssMb') => `${slopePerHour(settled, of).toFixed(1)} MB/h`;
    const last = settled.at(-1)!;
    return [
      name,
      String(requests),
      `${last.heapMb.toFixed(0)} MB`,
      slope('heapMb'),
      `${last.rssMb.toFixed(0)} MB`,
      slope('rssMb'),
    ];
  });
  return formatTable(['store', 'requests', 'heap', 'slope', 'resident', 'slope'], rows);
}

async function soak(
  gateway: Child,
  { key }: Installation,
  minutes: number,
): Promise<Omit<Soaked, 'name'>> {
  const startMs = performance.now();
  const elapsed = () => (performance.now() - startMs) / 60_000;
  let requests = 0;
  const underWay = new Set<object>();
  let gate = Promise.resolve();
  const kinds = [...wholeAnswers, ...streams, ...hits].map(({ asked }) => asked);
  const clients = kinds.flatMap((request) =>
    Array.from({ length: clientsOfEach }, async () => {
      const client = await connectClient({ port: gateway.port, key, request });
      while (elapsed() < minutes) {
        await gate;
        underWay.add(client);
        await client.send();
        underWay.delete(client);
        requests += 1;
        await sleep(pauseMs * (0.5 + Math.random()));
      }
      client.close();
    }),
  );
  const samples: Sample[] = [];
  while (elapsed() < minutes) {
    await sleep(sampleMs);
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    while (underWay.size > 0) await sleep(50);
    samples.push({ minute: elapsed(), ...(await readMemory(gateway)) });
    resolve();
  }
  await Promise.all(clients);
  return { requests, samples };
}

async function readMemory(gateway: Child): Promise<Omit<Sample, 'minute'>> {
  const { bytes, threads } = await gateway.liveHeap();
  const { rssBytes } = await gateway.usage();
  return { heapMb: bytes / 1e6, rssMb: rssBytes / 1e6, threads };
}

/** Theil–Sen: the median slope of all pairs, which outliers do not move. */
function slopePerHour(samples: readonly Sample[], of: 'heapMb' | 'rssMb'): number {
  const slopes = samples.flatMap((one, index) =>
    samples
      .slice(index + 1)
      .map((other) => ((other[of] - one[of]) / (other.minute - one.minute)) * 60),
  );
  return median(slopes);
}

function csvOf(samples: readonly Sample[]): string {
  const lines = samples.map(
    ({ minute, heapMb, rssMb, threads }) =>
      `${minute.toFixed(2)},${heapMb.toFixed(3)},${rssMb.toFixed(1)},${threads}\n`,
  );
  return `minute,heap_mb,resident_mb,threads\n${lines.join('')}`;
}

const size = { width: 720, height: 360, left: 50, bottom: 30 };
const colors = ['#1c7ed6', '#e8590c'];

/** Draws the heap in use after a collection, and the resident memory (dashed). */
function plot(soaked: readonly Soaked[], minutes: number): string {
  const { width, height, left, bottom } = size;
  const most = Math.max(...soaked.flatMap(({ samples }) => samples.map(({ rssMb }) => rssMb)));
  const top = Math.ceil((most * 1.15) / 100) * 100;
  const x = (minute: number) => left + (minute / minutes) * (width - left - 10);
  const y = (mb: number) => height - bottom - (mb / top) * (height - bottom - 10);
  const line = (samples: readonly Sample[], of: 'heapMb' | 'rssMb', style: string) => {
    const points = samples.map((one) => `${x(one.minute).toFixed(1)},${y(one[of]).toFixed(1)}`);
    return `<polyline fill="none" ${style} points="${points.join(' ')}"/>`;
  };
  const drawn = soaked.map(({ name, samples }, index) => {
    const stroke = `stroke="${colors[index]}"`;
    return [
      line(samples, 'heapMb', `${stroke} stroke-width="2.5"`),
      line(samples, 'rssMb', `${stroke} stroke-width="1.2" stroke-dasharray="4 3"`),
      `<text x="${left + 10 + index * 110}" y="22" fill="${colors[index]}">${name}</text>`,
    ].join('\n');
  });
  const grid = Array.from({ length: top / 100 + 1 }, (_, index) => index * 100).map(
    (mb) =>
      `<line x1="${left}" x2="${width - 10}" y1="${y(mb)}" y2="${y(mb)}" stroke="#ddd"/>` +
      `<text x="4" y="${y(mb) + 4}">${mb} MB</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    ...grid,
    ...drawn,
    `<text x="${left}" y="${height - 8}">0</text>`,
    `<text x="${width - 80}" y="${height - 8}">${minutes} minutes</text>`,
    '</svg>\n',
  ].join('\n');
}
