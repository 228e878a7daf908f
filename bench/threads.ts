// `npm run bench -- --threads`: what HTTP threads cost. Gateways with one, two and four threads take
// turns on all cores, beside the upstream and the clients. So compare the CPU of a request; the
// throughput is that of a machine that everybody shares.
import type { Child } from './child.ts';
import { installGateway, type Installation } from './gateway.ts';
import { underLoad } from './load.ts';
import { median } from './statistics.ts';
import { formatTable } from './table.ts';
import { wholeAnswers } from './workloads.ts';

/** Clients for each thread, so that every thread has the same load. */
const clients = 64;
const threadCounts = [1, 2, 4];
const rounds = 7;
/** For each thread, because each compiles its own code. */
const warmUps = 20_000;

type Contestant = {
  readonly threads: number;
  readonly installation: Installation;
  readonly gateway: Child;
  readonly cpuMicros: number[];
  readonly perSecond: number[];
};

export async function benchThreads(upstreamPort: number, durationMs: number): Promise<string> {
  const contestants: Contestant[] = [];
  for (const threads of threadCounts) {
    const installation = installGateway(upstreamPort, { threads });
    const gateway = await installation.start({ core: 'any' });
    contestants.push({ threads, installation, gateway, cpuMicros: [], perSecond: [] });
  }
  for (const contestant of contestants) {
    for (let sent = 0; sent < warmUps * contestant.threads;)
      sent += (await measure(contestant, durationMs)).requests;
  }
  for (let round = 0; round < rounds; round++) {
    for (const contestant of contestants) {
      const { requests, cpuMicros, elapsedMs } = await measure(contestant, durationMs);
      contestant.cpuMicros.push(cpuMicros / requests);
      contestant.perSecond.push((requests * 1_000) / elapsedMs);
    }
  }
  const one = median(contestants[0]!.cpuMicros);
  const rows = contestants.map(({ threads, cpuMicros, perSecond }) => [
    String(threads),
    `${median(cpuMicros).toFixed(0)} µs`,
    `${((median(cpuMicros) / one) * 100).toFixed(0)} %`,
    median(perSecond).toFixed(0),
  ]);
  for (const { gateway, installation } of contestants) {
    await gateway.stop();
    installation.remove();
  }
  return formatTable(['threads', 'CPU a chat', 'of one thread', 'chats /s'], rows);
}

async function measure(
  { threads, gateway, installation: { key } }: Contestant,
  durationMs: number,
) {
  const { asked: request } = wholeAnswers.find(({ name }) => name === 'chat')!;
  const target = { port: gateway.port, key, request };
  return underLoad(target, { clients: clients * threads, durationMs }, async (load) => {
    const before = await gateway.usage();
    const { wholeMs, elapsedMs } = await load();
    const after = await gateway.usage();
    return {
      requests: wholeMs.length,
      cpuMicros: after.cpuMicros - before.cpuMicros,
      elapsedMs,
    };
  });
}
