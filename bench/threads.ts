// `npm run bench -- --threads`: what HTTP threads cost. Gateways with one, two and four threads take
// turns on all cores, beside the upstream and the clients. So compare the CPU of a request; the
// throughput is that of a machine that everybody shares. Two processes with one thread each, which
// share nothing, show what of the difference is the machine's.
import type { Child } from './child.ts';
import { installGateway, type Installation } from './gateway.ts';
import { underLoad } from './load.ts';
import { median } from './statistics.ts';
import { formatTable } from './table.ts';
import { wholeAnswers } from './workloads.ts';

/** Clients for each thread, so that every thread has the same load. */
const clients = 64;
const shapes = [
  { name: '1 thread', processes: 1, threads: 1 },
  { name: '2 processes, 1 thread each', processes: 2, threads: 1 },
  { name: '2 threads', processes: 1, threads: 2 },
  { name: '4 threads', processes: 1, threads: 4 },
] as const;
const rounds = 7;
/** For each thread, because each compiles its own code. */
const warmUps = 20_000;

type Running = { readonly installation: Installation; readonly gateway: Child };
type Contestant = {
  readonly name: string;
  readonly threads: number;
  readonly processes: readonly Running[];
  readonly cpuMicros: number[];
  readonly perSecond: number[];
};

export async function benchThreads(upstreamPort: number, durationMs: number): Promise<string> {
  const contestants: Contestant[] = [];
  for (const { name, threads, processes } of shapes) {
    const running: Running[] = [];
    for (let index = 0; index < processes; index++) {
      const installation = installGateway(upstreamPort, { threads });
      running.push({ installation, gateway: await installation.start({ core: 'any' }) });
    }
    contestants.push({ name, threads, processes: running, cpuMicros: [], perSecond: [] });
  }
  for (const contestant of contestants) {
    const { threads, processes } = contestant;
    for (let sent = 0; sent < warmUps * threads * processes.length;)
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
  const rows = contestants.map(({ name, cpuMicros, perSecond }) => [
    name,
    `${median(cpuMicros).toFixed(0)} µs`,
    `${((median(cpuMicros) / one) * 100).toFixed(0)} %`,
    median(perSecond).toFixed(0),
  ]);
  for (const { gateway, installation } of contestants.flatMap(({ processes }) => processes)) {
    await gateway.stop();
    installation.remove();
  }
  return formatTable(['gateway', 'CPU a chat', 'of one thread', 'chats /s'], rows);
}

/** Loads all processes of the contestant at once. */
async function measure({ threads, processes }: Contestant, durationMs: number) {
  const loads = await Promise.all(processes.map((one) => measureOne(one, threads, durationMs)));
  return {
    requests: sum(loads.map(({ requests }) => requests)),
    cpuMicros: sum(loads.map(({ cpuMicros }) => cpuMicros)),
    elapsedMs: Math.max(...loads.map(({ elapsedMs }) => elapsedMs)),
  };
}

async function measureOne(
  { gateway, installation: { key } }: Running,
  threads: number,
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

function sum(numbers: readonly number[]): number {
  return numbers.reduce((one, other) => one + other, 0);
}
