// `npm run bench [-- --quick]`: what the gateway adds to a request, in one run against a bare relay and the upstream alone.
// `npm run bench -- --profile <workload>`: where its time goes. README.md says how to read both.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startChild } from './child.ts';
import { installGateway, type Installation } from './gateway.ts';
import { describeMachine } from './machine.ts';
import { measureAll, warmUp, type Plan } from './measure.ts';
import { measureOpenStreams } from './open-streams.ts';
import { profileGateway } from './profile.ts';
import { aimsReport, streamsReport, wholeAnswersReport } from './report.ts';
import { median } from './statistics.ts';
import { streams, wholeAnswers } from './workloads.ts';

type Scale = {
  readonly warmUp: Plan;
  readonly whole: Plan;
  readonly streams: Plan;
  readonly openStreams: number;
  readonly starts: number;
};

const full: Scale = {
  warmUp: { rounds: 1, durationMs: 700, clients: [64] },
  whole: { rounds: 3, durationMs: 600, clients: [1, 8, 64] },
  streams: { rounds: 2, durationMs: 500, clients: [1, 8, 64] },
  openStreams: 500,
  starts: 5,
};
const quick: Scale = {
  warmUp: { rounds: 1, durationMs: 250, clients: [32] },
  whole: { rounds: 1, durationMs: 250, clients: [1, 64] },
  streams: { rounds: 1, durationMs: 250, clients: [8] },
  openStreams: 200,
  starts: 3,
};

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false }, profile: { type: 'string' } } });
const upstream = await startChild({ script: join(import.meta.dirname, 'upstream.ts'), core: 'bench' });
const installation = installGateway(upstream.port);
console.log(`\n${describeMachine(installation.dataDir)}\n`);
try {
  if (options.profile === undefined) await compare(installation, options.quick ? quick : full);
  else console.log(await profileGateway(installation, options.profile));
} finally {
  await upstream.stop();
  installation.remove();
}

async function compare({ key, start }: Installation, scale: Scale): Promise<void> {
  const relayed = [`http://127.0.0.1:${upstream.port}`];
  const relay = await startChild({ script: join(import.meta.dirname, 'relay.ts'), scriptArguments: relayed, core: 'contestant' });
  const gateway = await start();
  const contestants = { upstream, relay, gateway, key };
  await warmUp(contestants, [...wholeAnswers, ...streams], scale.warmUp);
  const wholeRows = await measureAll(contestants, wholeAnswers, scale.whole);
  console.log(`${wholeAnswersReport(wholeRows)}\n`);
  const streamRows = await measureAll(contestants, streams, scale.streams);
  console.log(`${streamsReport(streamRows)}\n`);
  await Promise.all([relay.stop(), gateway.stop()]);
  const startMs = await measureStart(start, scale.starts);
  const openStreams = await measureOpen(start, { key, count: scale.openStreams });
  console.log(aimsReport({ wholeRows, streamRows, startMs, openStreams }));
}

/** From the start of the process until it listens, with its database in place: the median. */
async function measureStart(start: Installation['start'], times: number): Promise<number> {
  const measured: number[] = [];
  while (measured.length < times) {
    const startMs = performance.now();
    const gateway = await start();
    measured.push(performance.now() - startMs);
    await gateway.stop();
  }
  return median(measured);
}

async function measureOpen(start: Installation['start'], what: { key: string; count: number }) {
  const gateway = await start();
  const measured = await measureOpenStreams(gateway, what);
  await gateway.stop();
  return measured;
}
