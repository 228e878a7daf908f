// Measures the peers in rounds. In each round they take turns in a new random order, so that other
// load on the machine affects all of them alike.
import { setTimeout } from 'node:timers/promises';
import { quantile } from '../statistics.ts';
import type { Contestant, Plan } from './inside.ts';
import { closedLoad, openLoad, type Asked, type Outcome } from './load.ts';
import type { PeerPlay } from './peer.ts';
import { treeCpuMicros } from './process-tree.ts';

export type Figures = {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly firstByteP50Ms: number;
  /** CPU of the whole process tree for a right answer. */
  readonly cpuMicros: number;
  /** CPU of the peer's own database server for an answer. */
  readonly databaseCpuMicros: number;
  readonly asked: number;
  readonly wrong: number;
  readonly unanswered: number;
  readonly firstFault: string | null;
};

/** Figures of one round by the name of the load. */
type Turn = Readonly<Record<string, Figures>>;
/** One round: the turn of each peer. */
export type Round = Readonly<Record<string, Turn>>;

export const wholeClients = 64;
export const streamClients = 16;
/** A peer that fell behind may work on for as long before the next turn. */
const settleMsMax = 15_000;

export async function warmUp(
  contestants: readonly Contestant[],
  { warmUpMs: durationMs }: Plan,
): Promise<void> {
  for (const contestant of contestants) {
    await closedLoad(askedOf(contestant, 'whole'), { clients: wholeClients, durationMs });
    await closedLoad(askedOf(contestant, 'paced'), { clients: streamClients, durationMs });
  }
}

export async function measureRounds(
  contestants: readonly Contestant[],
  plan: Plan,
): Promise<Round[]> {
  const rounds: Round[] = [];
  while (rounds.length < plan.rounds) {
    const turns: [string, Turn][] = [];
    for (const contestant of shuffled(contestants)) {
      turns.push([contestant.name, await measureTurn(contestant, plan)]);
    }
    rounds.push(Object.fromEntries(turns));
    console.error(`round ${rounds.length} of ${plan.rounds}`);
  }
  return rounds;
}

export function askedOf({ running, requestFor, key }: Contestant, play: PeerPlay): Asked {
  return { port: running.port, request: requestFor(play), key, play };
}

/** Returns the name of the open load in a turn. */
export function openName(perSecond: number): string {
  return `open-${perSecond}`;
}

async function measureTurn(contestant: Contestant, plan: Plan): Promise<Turn> {
  const durationMs = plan.closedMs;
  const whole = askedOf(contestant, 'whole');
  const paced = askedOf(contestant, 'paced');
  const turn: Record<string, Figures> = {
    closed: await measure(contestant, () =>
      closedLoad(whole, { clients: wholeClients, durationMs }),
    ),
    stream: await measure(contestant, () =>
      closedLoad(paced, { clients: streamClients, durationMs }),
    ),
  };
  for (const perSecond of plan.rates)
    turn[openName(perSecond)] = await measure(contestant, () =>
      openLoad(whole, { perSecond, durationMs: plan.openMs }),
    );
  return turn;
}

async function measure(contestant: Contestant, load: () => Promise<Outcome>): Promise<Figures> {
  await settle(contestant);
  const before = cpuOf(contestant);
  const outcome = await load();
  const after = cpuOf(contestant);
  const { asked, answered, elapsedMs, wholeMs, firstByteMs, wrong, unanswered, firstFault } =
    outcome;
  return {
    requestsPerSecond: (answered / elapsedMs) * 1_000,
    p50Ms: quantile(wholeMs, 0.5),
    p99Ms: quantile(wholeMs, 0.99),
    firstByteP50Ms: quantile(firstByteMs, 0.5),
    cpuMicros: (after.own - before.own) / answered,
    databaseCpuMicros: (after.database - before.database) / answered,
    asked,
    wrong,
    unanswered,
    firstFault,
  };
}

/** Waits until the peer is nearly idle, so that a backlog does not count in the next figures. */
async function settle(contestant: Contestant): Promise<void> {
  const windowMs = 250;
  for (let waitedMs = 0; waitedMs < settleMsMax; waitedMs += windowMs) {
    const before = cpuOf(contestant);
    await setTimeout(windowMs);
    const after = cpuOf(contestant);
    const busyMicros = after.own - before.own + after.database - before.database;
    if (busyMicros < windowMs * 1_000 * 0.1) return;
  }
}

function cpuOf({ running, databasePid }: Contestant): { own: number; database: number } {
  return {
    own: treeCpuMicros(running.pid),
    database: databasePid === undefined ? 0 : treeCpuMicros(databasePid),
  };
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .toSorted((left, right) => left.order - right.order)
    .map(({ item }) => item);
}
