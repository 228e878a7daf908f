// Compares the gateway, the relay and the bare upstream under the same load, then measures the idle
// gateway.
import { join } from 'node:path';
import { aimsReport } from './aims.ts';
import { startChild, type Child } from './child.ts';
import type { Installation } from './gateway.ts';
import type { LoadOptions } from './load.ts';
import { measureAll, warmUp, type Plan } from './measure.ts';
import { measureOpenStreams, type OpenStreams } from './open-streams.ts';
import { streamsReport, wholeAnswersReport } from './report.ts';
import { median } from './statistics.ts';
import { streams, wholeAnswers } from './workloads.ts';

export type Scale = {
  readonly warmUp: LoadOptions;
  readonly whole: Plan;
  readonly streams: Plan;
  readonly openStreams: number;
  readonly starts: number;
};

/** Prints each table as soon as it is complete. */
export async function compare(
  installation: Installation,
  upstream: Child,
  scale: Scale,
): Promise<void> {
  const { key, start } = installation;
  const relay = await startChild({
    script: join(import.meta.dirname, 'relay.ts'),
    scriptArguments: [`http://127.0.0.1:${upstream.port}`],
    core: 'contestant',
  });
  const gateway = await start();
  const contestants = { upstream, relay, gateway, key };
  // Paced streams run the same code as the others, but too rarely to warm it up.
  const warming = [...wholeAnswers, ...streams].filter(({ play }) => play !== 'paced');
  await warmUp(contestants, warming, scale.warmUp);
  const wholeRows = await measureAll(contestants, wholeAnswers, scale.whole);
  console.log(`${wholeAnswersReport(wholeRows)}\n`);
  const streamRows = await measureAll(contestants, streams, scale.streams);
  console.log(`${streamsReport(streamRows)}\n`);
  await Promise.all([relay.stop(), gateway.stop()]);
  const startMs = await measureStart(installation, scale.starts);
  const openStreams = await measureOpen(installation, scale.openStreams);
  console.log(aimsReport({ wholeRows, streamRows, startMs, openStreams }));
}

/**
 * Returns the median time from process start to listening, with an existing database and all cores
 * free.
 */
async function measureStart({ start }: Installation, times: number): Promise<number> {
  const measured: number[] = [];
  while (measured.length < times) {
    const startMs = performance.now();
    const gateway = await start({ core: 'any' });
    measured.push(performance.now() - startMs);
    await gateway.stop();
  }
  return median(measured);
}

/** Returns what `count` silent streams take in a new process. */
export async function measureOpen(
  { key, start }: Installation,
  count: number,
): Promise<OpenStreams> {
  const gateway = await start();
  const measured = await measureOpenStreams(gateway, { key, count });
  await gateway.stop();
  return measured;
}
