// Mixed good and faulty traffic for FAULT_SOAK_MINUTES: every answer passes the checks of
// fault-table.test.ts, heap and handles do not grow, and the books are consistent at the end. Runs
// below five minutes print their figures without judging them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startFaultProgram, type FaultGateway } from '../../support/fault-gateway.ts';
import { metricsToken } from '../../support/gateway.ts';
import { allCells, newLane, problemOf, type Cell, type Lane } from '../../support/fault-table.ts';
import { slopePerHour, type Sample } from '../../support/heap-slope.ts';
import { inspectable, openLiveHeap, type LiveHeap } from '../../support/live-heap.ts';
import type { Program } from '../../support/program.ts';
import { openHandles } from '../../support/process-memory.ts';
import { Random } from '../../support/random.ts';

const minutes = Number(process.env['FAULT_SOAK_MINUTES'] ?? 0.1);
const lanesCount = 24;
const isJudged = minutes >= 5;
/** The warm-up share of the time: connection pools and the replay memory (at most 32 MiB) fill. */
const warmUpShare = 0.5;
const sampleMs = Math.min(5_000, (minutes * 60_000) / 20);
const heapSlopeMax = 20_000_000;
/** A few keep-alive connections between the two programs are not a leak. */
const keptHandlesMax = 10;
/** Longer than the 75 s for which the gateway keeps a client's connection open. */
const keepAliveMs = 85_000;

let faulty: FaultGateway<Program>;
let lanes: Lane[];
let heap: LiveHeap;

before(async () => {
  faulty = await startFaultProgram({ log: { level: 'error' } }, inspectable);
  heap = await openLiveHeap(faulty.gateway.program);
  lanes = await Promise.all(Array.from({ length: lanesCount }, () => newLane(faulty)));
});
after(async () => {
  heap.close();
  await faulty.stop();
});

test(`${minutes} minutes of good and faulty traffic leave no wrong charge or leak`, async (t) => {
  const startHandles = handles();
  const problems: string[] = [];
  const endMs = performance.now() + minutes * 60_000;
  const sampling = takeSamples(endMs);
  const counts = await Promise.all(
    lanes.map((lane, index) =>
      runLane(lane, { endMs, random: new Random(`lane ${index}`), problems }),
    ),
  );
  const samples = await sampling;
  if (isJudged) await sleep(keepAliveMs);
  const endHandles = handles();
  const settled = samples.filter(({ ms }) => ms >= samples[0]!.ms + minutes * 60_000 * warmUpShare);
  const slope = slopePerHour(settled);
  t.diagnostic(
    `${counts.reduce((sum, count) => sum + count, 0)} cells, ${problems.length} problems; live heap ${mb(samples[0]!.value)} MB at the start, ` +
      `${mb(settled[0]!.value)} MB after warm-up, ${mb(settled.at(-1)!.value)} MB at the end, slope ${mb(slope)} MB/h; handles ${startHandles} at the start, ${endHandles} at the end`,
  );
  assert.deepEqual(problems, []);
  assert.equal(
    (await faulty.gateway.get('/readyz', { key: metricsToken })).json<{ running: number }>()
      .running,
    0,
  );
  if (!isJudged) return;
  assert.equal(faulty.server.busySockets, 0);
  assert.ok(slope < heapSlopeMax, `the heap climbs by ${mb(slope)} MB an hour`);
  assert.ok(
    endHandles <= startHandles + keptHandlesMax,
    `${endHandles - startHandles} handles were left open`,
  );
});

type Running = { readonly endMs: number; readonly random: Random; readonly problems: string[] };

/** Two of three cells are good; the rest have any fault. Returns the number of cells run. */
async function runLane(lane: Lane, { endMs, random, problems }: Running): Promise<number> {
  const all = allCells().filter(({ fault }) => !fault.isHeavy);
  const [good, bad] = [all.filter(isGood), all.filter((cell) => !isGood(cell))];
  let count = 0;
  for (; performance.now() < endMs && problems.length < 20; count++) {
    const cell = {
      ...random.pick(random.chance(2 / 3) ? good : bad),
      id: `cell-${lane.account}-${count}`,
    };
    const problem = await problemOf(lane, cell);
    if (problem)
      problems.push(
        `${cell.fault.name}, ${cell.pair.name}, ${cell.stream ? 'stream' : 'whole'}: ${problem}`,
      );
  }
  return count;
}

const isGood = ({ fault }: Cell): boolean => fault.name === 'none';

async function takeSamples(endMs: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (; performance.now() < endMs; await sleep(sampleMs))
    samples.push({ ms: performance.now(), value: await heap.bytes() });
  return samples;
}

const handles = (): number => openHandles(faulty.gateway.program.pid);
const mb = (bytes: number): string => (bytes / 1_000_000).toFixed(1);
