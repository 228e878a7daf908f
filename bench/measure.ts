// Compares contestants in rounds, taking turns, so that other load on the machine affects all of
// them alike.
import type { Child } from './child.ts';
import { underLoad, type LoadOptions } from './load.ts';
import { median, quantile } from './statistics.ts';
import type { Workload } from './workloads.ts';

const contestantNames = ['upstream', 'relay', 'gateway'] as const;
type ContestantName = (typeof contestantNames)[number];
export type Contestants = Readonly<Record<ContestantName, Child>> & { readonly key: string };

export type Figures = {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Time to the body's first byte. */
  readonly firstByteP50Ms: number;
  /** CPU time of the contestant's process, all threads. */
  readonly cpuMicrosPerRequest: number;
};

export type Row = {
  readonly workload: Workload;
  readonly clients: number;
  readonly figures: Readonly<Record<ContestantName, Figures>>;
};

export type Plan = {
  readonly rounds: number;
  readonly durationMs: number;
  readonly clients: readonly number[];
};

/** Returns one row per workload and number of clients, with the medians of the rounds. */
export async function measureAll(
  contestants: Contestants,
  workloads: readonly Workload[],
  plan: Plan,
): Promise<Row[]> {
  const cells = workloads.flatMap((workload) =>
    plan.clients.map((clients) => ({ workload, clients })),
  );
  const rounds: Row[][] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const rows: Row[] = [];
    for (const cell of cells) rows.push(await measureRow(contestants, cell, plan.durationMs));
    rounds.push(rows);
  }
  return cells.map((cell, index) => ({
    ...cell,
    figures: mediansOf(rounds.map((rows) => rows[index]!.figures)),
  }));
}

/** Warms up: V8 compiles the relay's and the gateway's code, and connections are opened. */
export async function warmUp(
  contestants: Contestants,
  workloads: readonly Workload[],
  { clients, durationMs }: LoadOptions,
) {
  for (const workload of workloads) {
    for (const name of ['relay', 'gateway'] as const)
      await measure(contestants, name, { workload, clients }, durationMs);
  }
}

async function measureRow(
  contestants: Contestants,
  cell: Omit<Row, 'figures'>,
  durationMs: number,
): Promise<Row> {
  const figures: [ContestantName, Figures][] = [];
  for (const name of contestantNames)
    figures.push([name, await measure(contestants, name, cell, durationMs)]);
  return { ...cell, figures: Object.fromEntries(figures) as Row['figures'] };
}

async function measure(
  contestants: Contestants,
  name: ContestantName,
  cell: Omit<Row, 'figures'>,
  durationMs: number,
): Promise<Figures> {
  const { [name]: child, key } = contestants;
  const request = name === 'gateway' ? cell.workload.asked : cell.workload.relayed;
  return underLoad(
    { port: child.port, request, key },
    { clients: cell.clients, durationMs },
    async (load) => {
      const before = await child.usage();
      const { elapsedMs, wholeMs, firstByteMs } = await load();
      const after = await child.usage();
      return {
        requestsPerSecond: (wholeMs.length / elapsedMs) * 1_000,
        p50Ms: quantile(wholeMs, 0.5),
        p99Ms: quantile(wholeMs, 0.99),
        firstByteP50Ms: quantile(firstByteMs, 0.5),
        cpuMicrosPerRequest: (after.cpuMicros - before.cpuMicros) / wholeMs.length,
      };
    },
  );
}

function mediansOf(rounds: readonly Row['figures'][]): Row['figures'] {
  const mediansFor = (name: ContestantName): Figures => {
    const figures = rounds.map((round) => round[name]);
    const fields = Object.keys(figures[0]!) as (keyof Figures)[];
    return Object.fromEntries(
      fields.map((field) => [field, median(figures.map((one) => one[field]))]),
    ) as Figures;
  };
  return Object.fromEntries(
    contestantNames.map((name) => [name, mediansFor(name)]),
  ) as Row['figures'];
}
