// `npm run bench -- --hits`: how fast what is known already is answered, out of the cache and under an Idempotency-Key, against a bare
// `node:http` server that answers the same bytes and does nothing else.
import { join } from 'node:path';
import { requestBody } from './bodies.ts';
import { startChild, type Child } from './child.ts';
import type { Target } from './client.ts';
import type { Installation } from './gateway.ts';
import { underLoad } from './load.ts';
import { median } from './statistics.ts';
import { formatTable } from './table.ts';
import { modelFor, upstreamPath, type Request } from './workloads.ts';

/** `bare`: for the server that does nothing else. */
type Hit = { readonly name: string; readonly bare: Request; readonly asked: Request };
type Measured = { readonly perSecond: number; readonly cpuMicros: number };

const clients = 64;
const rounds = 5;
export const hits: readonly Hit[] = (['whole', 'burst'] as const).flatMap((play) => {
  const body = (fields: object) =>
    JSON.stringify({ ...(JSON.parse(requestBody('chat', modelFor(play, 'chat'), play === 'burst')) as object), ...fields });
  const path = '/v1/chat/completions';
  const bare = { path: upstreamPath(play, 'chat'), body: body({}) };
  const shape = play === 'whole' ? 'whole' : 'stream';
  return [
    { name: `cache-hit-${shape}`, bare, asked: { path, body: body({ temperature: 0 }) } },
    { name: `replay-${shape}`, bare, asked: { path, body: body({}), headers: { 'idempotency-key': `bench-${play}` } } },
  ];
});

/** Medians of rounds in which the two take turns on one core. */
export async function benchHits({ key, start }: Installation, durationMs: number): Promise<string> {
  const bareServer = await startChild({ script: join(import.meta.dirname, 'upstream.ts'), core: 'contestant' });
  const gateway = await start();
  const rows: string[][] = [];
  for (const { name, bare, asked } of hits) {
    const targets = [
      { child: bareServer, target: { port: bareServer.port, key, request: bare } },
      { child: gateway, target: { port: gateway.port, key, request: asked } },
    ];
    // The first fills the cache; the rest lets the code of both be compiled.
    for (const { child, target } of targets) await measure(child, target, durationMs * 2);
    const figures: Measured[][] = [];
    for (let round = 0; round < rounds; round++) {
      const both: Measured[] = [];
      for (const { child, target } of targets) both.push(await measure(child, target, durationMs));
      figures.push(both);
    }
    rows.push(describe(name, figures));
  }
  await Promise.all([bareServer.stop(), gateway.stop()]);
  return formatTable(['answered again', 'bare /s', 'gateway /s', 'of bare', 'bare CPU', 'gateway CPU', 'for the same CPU'], rows);
}

async function measure(child: Child, target: Target, durationMs: number): Promise<Measured> {
  return underLoad(target, { clients, durationMs }, async (load) => {
    const before = await child.usage();
    const { elapsedMs, wholeMs } = await load();
    const after = await child.usage();
    return {
      perSecond: (wholeMs.length / elapsedMs) * 1_000,
      cpuMicros: (after.cpuMicros - before.cpuMicros) / wholeMs.length,
    };
  });
}

function describe(name: string, figures: readonly Measured[][]): string[] {
  const middle = (pick: (both: Measured[]) => number) => median(figures.map(pick));
  const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
  return [
    name,
    middle(([bare]) => bare!.perSecond).toFixed(0),
    middle(([, gateway]) => gateway!.perSecond).toFixed(0),
    percent(middle(([bare, gateway]) => gateway!.perSecond / bare!.perSecond)),
    `${middle(([bare]) => bare!.cpuMicros).toFixed(0)} µs`,
    `${middle(([, gateway]) => gateway!.cpuMicros).toFixed(0)} µs`,
    percent(middle(([bare, gateway]) => bare!.cpuMicros / gateway!.cpuMicros)),
  ];
}
