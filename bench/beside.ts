// The CPU of a request in two gateways that take turns on one core, in short rounds. `npm run bench
// -- --beside <checkout>`: another checkout that is built, and this one; `--stores`: SQLite and
// PostgreSQL.
import { resolve } from 'node:path';
import { createDatabase } from '../tests/support/postgres.ts';
import type { Child } from './child.ts';
import { type GatewayOptions, installGateway, type Installation } from './gateway.ts';
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

export function benchBeside(
  upstreamPort: number,
  checkout: string,
  durationMs: number,
): Promise<string> {
  const pair = { there: { checkout: resolve(checkout) }, here: {} };
  return benchPair(upstreamPort, pair, durationMs);
}

export async function benchStores(upstreamPort: number, durationMs: number): Promise<string> {
  const pair = { SQLite: {}, PostgreSQL: { databaseUrl: await createDatabase() } };
  return benchPair(upstreamPort, pair, durationMs);
}

async function benchPair(
  upstreamPort: number,
  pair: Readonly<Record<string, GatewayOptions>>,
  durationMs: number,
): Promise<string> {
  const contestants: Contestant[] = [];
  for (const options of Object.values(pair)) {
    const installation = installGateway(upstreamPort, options);
    contestants.push({ installation, gateway: await installation.start() });
  }
  const bursts = streams.filter(({ play }) => play === 'burst');
  const rows: string[][] = [];
  for (const { name, asked } of [...wholeAnswers, ...bursts, ...hits])
    for (const clients of name === 'chat' ? [64, 8, 1] : [64]) {
      const load = { asked, clients, durationMs };
      const figures = await inTurn(contestants, load);
      const [one, other] = figures.map((all) => ({
        cpu: median(all.map(({ cpuMicros }) => cpuMicros)),
        rate: median(all.map(({ perSecond }) => perSecond)),
      }));
      rows.push([
        name,
        String(clients),
        `${one!.cpu.toFixed(0)} µs`,
        `${other!.cpu.toFixed(0)} µs`,
        `${((other!.cpu / one!.cpu) * 100).toFixed(0)} %`,
        one!.rate.toFixed(0),
        other!.rate.toFixed(0),
      ]);
    }
  for (const { gateway, installation } of contestants) {
    await gateway.stop();
    installation.remove();
  }
  const [one, other] = Object.keys(pair);
  return formatTable(
    ['workload', 'clients', `CPU ${one}`, `CPU ${other}`, `of ${one}`, `${one} /s`, `${other} /s`],
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
