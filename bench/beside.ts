// `npm run bench -- --beside <checkout>`: the CPU of a request in this checkout and in another one
// that is built. Their gateways take turns on one core, in short rounds.
import { resolve } from 'node:path';
import type { Child } from './child.ts';
import { installGateway, type Installation } from './gateway.ts';
import { hits } from './hits.ts';
import { underLoad } from './load.ts';
import { median } from './statistics.ts';
import { formatTable } from './table.ts';
import { type Request, streams, wholeAnswers } from './workloads.ts';

const rounds = 20;
const warmUps = 20;

type Contestant = { readonly installation: Installation; readonly gateway: Child };
type Figures = { readonly cpuMicros: number; readonly perSecond: number };
type Load = { readonly asked: Request; readonly clients: number; readonly durationMs: number };

export async function benchBeside(
  upstreamPort: number,
  checkout: string,
  durationMs: number,
): Promise<string> {
  const contestants: Contestant[] = [];
  for (const folder of [resolve(checkout), undefined]) {
    const installation = installGateway(upstreamPort, { checkout: folder });
    contestants.push({ installation, gateway: await installation.start() });
  }
  const bursts = streams.filter(({ play }) => play === 'burst');
  const rows: string[][] = [];
  for (const { name, asked } of [...wholeAnswers, ...bursts, ...hits])
    for (const clients of name === 'chat' ? [64, 8, 1] : [64]) {
      const load = { asked, clients, durationMs };
      const figures = await inTurn(contestants, load);
      const [there, here] = figures.map((all) => ({
        cpu: median(all.map(({ cpuMicros }) => cpuMicros)),
        rate: median(all.map(({ perSecond }) => perSecond)),
      }));
      rows.push([
        name,
        String(clients),
        `${there!.cpu.toFixed(0)} µs`,
        `${here!.cpu.toFixed(0)} µs`,
        `${((here!.cpu / there!.cpu) * 100).toFixed(0)} %`,
        there!.rate.toFixed(0),
        here!.rate.toFixed(0),
      ]);
    }
  for (const { gateway, installation } of contestants) {
    await gateway.stop();
    installation.remove();
  }
  return formatTable(
    ['workload', 'clients', 'CPU there', 'CPU here', 'of there', 'there /s', 'here /s'],
    rows,
  );
}

async function inTurn(contestants: readonly Contestant[], load: Load): Promise<Figures[][]> {
  for (const one of contestants)
    await measure(one, { ...load, durationMs: load.durationMs * warmUps });
  const figures = contestants.map((): Figures[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, one] of contestants.entries())
      figures[index]!.push(await measure(one, load));
  return figures;
}

async function measure(
  { gateway, installation: { key } }: Contestant,
  { asked, clients, durationMs }: Load,
): Promise<Figures> {
  const target = { port: gateway.port, key, request: asked };
  return underLoad(target, { clients, durationMs }, async (run) => {
    const before = await gateway.usage();
    const { elapsedMs, wholeMs } = await run();
    const after = await gateway.usage();
    return {
      cpuMicros: (after.cpuMicros - before.cpuMicros) / wholeMs.length,
      perSecond: (wholeMs.length / elapsedMs) * 1_000,
    };
  });
}
