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
 * Reports the medians of rounds in which the servers take turns on one core, with the same requests
 * and answers, head and body. The clients never sleep: on a virtual machine, a write that wakes its
 * reader takes up to 20 µs, which is the work of neither server. Clients of the bare server are so
 * busy that they would not sleep in any case.
 */
export async function benchHits(
  { dataDir, key, start }: Installation,
  durationMs: number,
): Promise<string> {
  const gateway = await start();
  const answersPath = join(dataDir, 'answers.json');
  writeFileSync(answersPath, JSON.stringify(await readAnswers(gateway.port, key)));
  const startFixed = (script: string) =>
    startChild({
      script: join(import.meta.dirname, script),
      scriptArguments: [answersPath],
      core: 'contestant',
    });
  const bare = await startFixed('bare.ts');
  const fastify = await startFixed('fastify.ts');
  const rows: string[][] = [];
  for (const { name, asked } of hits) {
    const fixed = { ...asked, path: `/${name}` };
    const contestants = [
      { child: bare, target: { port: bare.port, key, request: fixed } },
      { child: fastify, target: { port: fastify.port, key, request: fixed } },
      { child: gateway, target: { port: gateway.port, key, request: asked } },
    ];
    // Warm-up: V8 compiles the code of all.
    for (const one of contestants) await measure(one, durationMs * warmUps);
    const measured: Measured[][] = [];
    for (let round = 0; round < rounds; round++) {
      const figures: Measured[] = [];
      for (const one of contestants) figures.push(await measure(one, durationMs));
      measured.push(figures);
    }
    rows.push(describe(name, measured));
  }
  await Promise.all([bare.stop(), fastify.stop(), gateway.stop()]);
  return formatTable(
    [
      'answered again',
      'bare /s',
      'gateway /s',
      'bare CPU',
      'Fastify CPU',
      'gateway CPU',
      'of bare',
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

type Contestant = { readonly child: Child; readonly target: Target };
async function measure({ child, target }: Contestant, durationMs: number): Promise<Measured> {
  return underLoad(target, { clients, durationMs, awake: true }, async (load) => {
    const before = await child.usage();
    const { elapsedMs, wholeMs } = await load();
    const after = await child.usage();
    return {
      perSecond: (wholeMs.length / elapsedMs) * 1_000,
      cpuMicros: (after.cpuMicros - before.cpuMicros) / wholeMs.length,
    };
  });
}

/** Each round has the figures of the bare server, Fastify and the gateway. */
function describe(name: string, measured: readonly (readonly Measured[])[]): string[] {
  const middle = (pick: (round: readonly Measured[]) => number) => median(measured.map(pick));
  const rate = (index: number) => middle((round) => round[index]!.perSecond).toFixed(0);
  const cpu = (index: number) => `${middle((round) => round[index]!.cpuMicros).toFixed(0)} µs`;
  const share = middle((round) => round[0]!.cpuMicros / round[2]!.cpuMicros);
  return [name, rate(0), rate(2), cpu(0), cpu(1), cpu(2), `${(share * 100).toFixed(0)} %`];
}
