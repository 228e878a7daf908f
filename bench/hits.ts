// `npm run bench -- --hits`: how fast the gateway serves cache hits and idempotent replays, against
// a bare `node:http` server that sends the same bytes, and Fastify doing the same.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requestBody } from './bodies.ts';
import { startChild, type Child } from './child.ts';
import type { Target } from './client.ts';
import type { FixedAnswer } from './fixed-answers.ts';
import type { Installation } from './gateway.ts';
import { underLoad } from './load.ts';
import { median } from './statistics.ts';
import { formatTable } from './table.ts';
import { modelFor, type Request } from './workloads.ts';

type Hit = { readonly name: string; readonly asked: Request };
type Measured = { readonly perSecond: number; readonly cpuMicros: number };

const clients = 64;
/** Many short rounds, because the machine's speed changes from second to second. */
const rounds = 25;
const warmUps = 12;
export const hits: readonly Hit[] = (['whole', 'burst'] as const).flatMap((play) => {
  const body = (fields: object) =>
    JSON.stringify({
      ...(JSON.parse(requestBody('chat', modelFor(play, 'chat'), play === 'burst')) as object),
      ...fields,
    });
  const path = '/v1/chat/completions';
  const shape = play === 'whole' ? 'whole' : 'stream';
  return [
    { name: `cache-hit-${shape}`, asked: { path, body: body({ temperature: 0 }) } },
    {
      name: `replay-${shape}`,
      asked: { path, body: body({}), headers: { 'idempotency-key': `bench-${play}` } },
    },
  ];
});

/**
 * Reports the medians of rounds in which the servers take turns on one core, with the same
 * requests and answers, head and body. The bare server is measured twice: as fast as it can be, and
 * as slow as the gateway (`paced`). A client of a faster server never sleeps, so writing to it wakes
 * nobody; on a virtual machine a wake-up costs up to 10 µs, which is not the work of either.
 */
export async function benchHits(
  { dataDir, key, start }: Installation,
  durationMs: number,
): Promise<string> {
  const gateway = await start();
  const answersPath = join(dataDir, 'answers.json');
  writeFileSync(answersPath, JSON.stringify(await readAnswers(gateway.port, key)));
  const startFixed = (script: string, workMicros = 0) =>
    startChild({
      script: join(import.meta.dirname, script),
      scriptArguments: [answersPath, String(workMicros)],
      core: 'contestant',
    });
  const bareServer = await startFixed('bare.ts');
  const fastify = await startFixed('fastify.ts');
  const rows: string[][] = [];
  for (const { name, asked } of hits) {
    const fixed = { ...asked, path: `/${name}` };
    const contestant = (child: Child, request: Request, workMicros = 0) => ({
      target: { port: child.port, key, request },
      child,
      workMicros,
    });
    const unpaced = [
      contestant(bareServer, fixed),
      contestant(fastify, fixed),
      contestant(gateway, asked),
    ];
    // Warm-up: V8 compiles the code of all.
    const warm: Measured[] = [];
    for (const one of unpaced) warm.push(await measure(one, durationMs * warmUps));
    const workMicros = Math.round(warm[2]!.cpuMicros - warm[0]!.cpuMicros);
    const paced = contestant(await startFixed('bare.ts', workMicros), fixed, workMicros);
    await measure(paced, durationMs * warmUps);
    const figures: Measured[][] = [];
    for (let round = 0; round < rounds; round++) {
      const all: Measured[] = [];
      for (const one of [...unpaced, paced]) all.push(await measure(one, durationMs));
      figures.push(all);
    }
    await paced.child.stop();
    rows.push(describe(name, figures));
  }
  await Promise.all([bareServer.stop(), fastify.stop(), gateway.stop()]);
  return formatTable(
    [
      'answered again',
      'bare /s',
      'paced /s',
      'gateway /s',
      'bare CPU',
      'Fastify CPU',
      'paced bare CPU',
      'gateway CPU',
      'of bare',
      'of paced bare',
    ],
    rows,
  );
}

/** Records the gateway's repeated answers, by path of the bare server. */
export async function readAnswers(port: number, key: string): Promise<Record<string, FixedAnswer>> {
  const answers: Record<string, FixedAnswer> = {};
  for (const { name, asked } of hits) {
    const send = () =>
      fetch(`http://127.0.0.1:${port}${asked.path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
          ...asked.headers,
        },
        body: asked.body,
      });
    await (await send()).text();
    const known = await send();
    const headers = Object.fromEntries(
      [...known.headers].filter(([header]) => !writtenByNode.has(header)),
    );
    answers[`/${name}`] = { headers, body: await known.text() };
  }
  return answers;
}

const writtenByNode = new Set(['connection', 'date', 'keep-alive', 'transfer-encoding']);

type Contestant = {
  readonly child: Child;
  readonly target: Target;
  /** CPU time for each request that is not counted. */
  readonly workMicros: number;
};

async function measure(
  { child, target, workMicros }: Contestant,
  durationMs: number,
): Promise<Measured> {
  return underLoad(target, { clients, durationMs }, async (load) => {
    const before = await child.usage();
    const { elapsedMs, wholeMs } = await load();
    const after = await child.usage();
    return {
      perSecond: (wholeMs.length / elapsedMs) * 1_000,
      cpuMicros: (after.cpuMicros - before.cpuMicros) / wholeMs.length - workMicros,
    };
  });
}

function describe(name: string, figures: readonly Measured[][]): string[] {
  const middle = (pick: (all: Measured[]) => number) => median(figures.map(pick));
  const rate = (index: number) => middle((all) => all[index]!.perSecond).toFixed(0);
  const cpu = (index: number) => `${middle((all) => all[index]!.cpuMicros).toFixed(0)} µs`;
  const share = (index: number) =>
    `${(middle((all) => all[index]!.cpuMicros / all[2]!.cpuMicros) * 100).toFixed(0)} %`;
  return [name, rate(0), rate(3), rate(2), cpu(0), cpu(1), cpu(3), cpu(2), share(0), share(3)];
}
