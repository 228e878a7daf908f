// The CPU of a request in two gateways that take turns on one core, in short rounds. Two processes of
// one version differ by up to 30 %, so each is started several times. `npm run bench -- --beside
// <checkout>`: another checkout that is built, and this one; `--stores`: SQLite and PostgreSQL.
import { resolve } from 'node:path';
import { createDatabase } from '../tests/support/postgres.ts';
import type { Child } from './child.ts';
import { type GatewayOptions, installGateway, type Installation } from './gateway.ts';
import { hits } from './hits.ts';
import { underLoad } from './load.ts';
import { median } from './statistics.ts';
import { formatTable } from './table.ts';
import { type Request, streams, wholeAnswers } from './workloads.ts';

const starts = 5;
const rounds = 4;
const warmUps = 24;

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
  const bursts = streams.filter(({ play }) => play === 'burst');
  const loads = [...wholeAnswers, ...bursts, ...hits].flatMap(({ name, asked }) =>
    (name === 'chat' ? [64, 8, 1] : [64]).map((clients) => ({ name, asked, clients, durationMs })),
  );
  /** Of each load: the medians of each start, of both. */
  const figures = loads.map((): Figures[][] => [[], []]);
  for (let start = 0; start < starts; start++) {
    const contestants: Contestant[] = [];
    for (const options of Object.values(pair)) {
      const installation = installGateway(upstreamPort, options);
      contestants.push({ installation, gateway: await installation.start() });
    }
    for (const [index, load] of loads.entries())
      for (const [of, all] of (await inTurn(contestants, load)).entries())
        figures[index]![of]!.push(mediansOf(all));
    for (const { gateway, installation } of contestants) {
      await gateway.stop();
      installation.remove();
    }
  }
  const rows = loads.map(({ name, clients }, index) => {
    const all = figures[index]!;
    const [one, other] = all.map(mediansOf);
    return [
      name,
      String(clients),
      ...all.map((each) => rangeOf(each.map(({ cpuMicros }) => cpuMicros))),
      `${((other!.cpuMicros / one!.cpuMicros) * 100).toFixed(0)} %`,
      one!.perSecond.toFixed(0),
      other!.perSecond.toFixed(0),
    ];
  });
  const [one, other] = Object.keys(pair);
  return formatTable(
    ['workload', 'clients', `CPU ${one}`, `CPU ${other}`, `of ${one}`, `${one} /s`, `${other} /s`],
    rows,
  );
}

function mediansOf(all: readonly Figures[]): Figures {
  return {
    cpuMicros: median(all.map(({ cpuMicros }) => cpuMicros)),
    perSecond: median(all.map(({ perSecond }) => perSecond)),
  };
}

/** The median, then the lowest and the highest start. */
function rangeOf(micros: readonly number[]): string {
  const [low, middle, high] = [Math.min(...micros), median(micros), Math.max(...micros)].map(
    (value) => value.toFixed(0),
  );
  return `${middle} µs (${low}–${high})`;
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
