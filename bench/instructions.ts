// `npm run bench -- --instructions`: instructions that a request costs, outside the kernel, counted
// by Linux's `perf`. Times vary several-fold with what else a machine does; these figures vary by a
// few percent, so they show whether a change helped.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createDatabase } from '../tests/support/postgres.ts';
import { startChild, type Child } from './child.ts';
import type { Target } from './client.ts';
import { installGateway, type Installation } from './gateway.ts';
import { hits, readAnswers } from './hits.ts';
import { underLoad } from './load.ts';
import { formatTable } from './table.ts';
import { streams, wholeAnswers } from './workloads.ts';

const clients = 64;
/** Enough for V8 to have compiled what is hot. */
const warmUpRequests = { whole: 15_000, stream: 1_500 };
const measuredMs = 4_000;
const perfArguments = ['stat', '-x,', '-e', 'instructions:u'];
/** `perf` counts from some time after it was started. */
const perfStartMs = 300;

type Row = {
  readonly name: string;
  readonly warmUps: number;
  readonly servers: readonly { readonly child: Child; readonly target: Target }[];
};

/**
 * Compares the gateway with the relay, for repeated answers with a bare server, and a gateway on
 * SQLite with one on PostgreSQL.
 */
export async function benchInstructions(
  { start, key, dataDir }: Installation,
  upstreamPort: number,
): Promise<string> {
  const trial = spawnSync('perf', [...perfArguments, 'true'], { encoding: 'utf8' });
  if (trial.status !== 0)
    throw new Error('This needs `perf` of Linux, with permission to count (perf_event_paranoid).');
  if (trial.stderr.includes('not supported'))
    throw new Error('The processor of this machine does not let `perf` count instructions.');
  const gateway = await start();
  const relay = await startChild({
    script: join(import.meta.dirname, 'relay.ts'),
    scriptArguments: [`http://127.0.0.1:${upstreamPort}`],
    core: 'contestant',
  });
  const answersPath = join(dataDir, 'answers.json');
  writeFileSync(answersPath, JSON.stringify(await readAnswers(gateway.port, key)));
  const bare = await startChild({
    script: join(import.meta.dirname, 'bare.ts'),
    scriptArguments: [answersPath],
    core: 'contestant',
  });
  const targetOf = (child: Child, request: Target['request']) => ({
    child,
    target: { port: child.port, key, request },
  });
  const relayed = (warmUps: number) => (workload: (typeof streams)[number]) => ({
    name: workload.name,
    warmUps,
    servers: [targetOf(relay, workload.relayed), targetOf(gateway, workload.asked)],
  });
  const rows: Row[] = [
    ...wholeAnswers.map(relayed(warmUpRequests.whole)),
    ...streams.filter(({ play }) => play === 'burst').map(relayed(warmUpRequests.stream)),
    ...hits.map(({ name, asked }) => ({
      name,
      warmUps: warmUpRequests.whole,
      servers: [targetOf(bare, { ...asked, path: `/${name}` }), targetOf(gateway, asked)],
    })),
  ];
  const cells: string[][] = [];
  for (const row of rows) cells.push(await describeRow(row));
  await Promise.all([gateway.stop(), relay.stop(), bare.stop()]);
  return [
    formatTable(['workload', 'relay or bare', 'gateway', 'ratio'], cells),
    formatTable(['workload', 'SQLite', 'PostgreSQL', 'ratio'], await describeStores(upstreamPort)),
  ].join('\n\n');
}

/** Without PostgreSQL's own server, which is another process. */
async function describeStores(upstreamPort: number): Promise<string[][]> {
  const installations = [
    installGateway(upstreamPort),
    installGateway(upstreamPort, { databaseUrl: await createDatabase() }),
  ];
  const gateways = await Promise.all(installations.map(({ start }) => start()));
  const row = ({ name, asked }: (typeof wholeAnswers)[number]): Row => ({
    name,
    warmUps: warmUpRequests.whole,
    servers: installations.map(({ key }, index) => {
      const child = gateways[index]!;
      return { child, target: { port: child.port, key, request: asked } };
    }),
  });
  const cells = [await describeRow(row(wholeAnswers[0]!))];
  for (const gateway of gateways) await gateway.stop();
  for (const installation of installations) installation.remove();
  return cells;
}

async function describeRow({ name, warmUps, servers }: Row): Promise<string[]> {
  const counts: number[] = [];
  for (const { child, target } of servers) {
    await warmUp(target, warmUps);
    counts.push(await countInstructions(child, target));
  }
  const [other, gateway] = counts as [number, number];
  const thousands = (count: number) => `${Math.round(count / 1_000)} k`;
  return [name, thousands(other), thousands(gateway), `${((other / gateway) * 100).toFixed(0)} %`];
}

async function warmUp(target: Target, requests: number): Promise<void> {
  for (let done = 0; done < requests;) {
    done += await underLoad(
      target,
      { clients, durationMs: 2_000 },
      async (load) => (await load()).wholeMs.length,
    );
  }
}

/** Returns the instructions of all of the process's threads for one request. */
async function countInstructions(child: Child, target: Target): Promise<number> {
  return underLoad(target, { clients, durationMs: measuredMs }, async (load) => {
    const perf = spawn('perf', [...perfArguments, '-p', String(child.pid)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    perf.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await setTimeout(perfStartMs);
    const { wholeMs } = await load();
    perf.kill('SIGINT');
    await once(perf, 'exit');
    return Number.parseInt(output, 10) / wholeMs.length;
  });
}
