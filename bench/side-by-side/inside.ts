// The measurement: runs in namespaces of its own (isolation.ts), so it reaches nothing but the
// peers and the upstream. Takes its plan as JSON.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { peers } from '../peers/all.ts';
import { startChild } from '../child.ts';
import { describeMachine } from '../machine.ts';
import { booksReport, compareBooks, type BooksRow } from './books.ts';
import type { OpenPeer, Peer, Running } from './peer.ts';
import { describePeers, figuresReport } from './report.ts';
import { measureRounds, warmUp } from './rounds.ts';

export type Plan = {
  /** What is installed, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** The other peers, each with the reason. */
  readonly skipped: Readonly<Record<string, string>>;
  readonly rounds: number;
  /** Requests a second of the open load. */
  readonly rates: readonly number[];
  readonly warmUpMs: number;
  readonly closedMs: number;
  readonly openMs: number;
  /** Where to write every round's figures; null for nowhere. */
  readonly out: string | null;
};

export type Contestant = OpenPeer & {
  readonly name: string;
  readonly upstreamKey: string;
  /** Replaced after a restart. */
  running: Running;
};

const plan = JSON.parse(process.argv[2]!) as Plan;
const folder = makeFolder(join(tmpdir(), 'tollgate-peers-'));
console.log(`\n${describeMachine(folder)}`);
console.log('Network: none but the loopback interface, for peers, clients and upstream.\n');
console.log(describePeers(peers, plan));

const upstream = await startChild({
  script: join(import.meta.dirname, '..', 'upstream.ts'),
  core: 'bench',
});
const contestants: Contestant[] = [];
for (const peer of peers) if (plan.versions[peer.name] !== undefined) await add(peer);
await warmUp(contestants, plan);
const figures = await measureRounds(contestants, plan);
console.log(figuresReport(figures, plan));
const books: BooksRow[] = [];
for (const contestant of contestants) await compare(contestant);
console.log(booksReport(books));
if (plan.out !== null)
  writeFileSync(plan.out, `${JSON.stringify({ plan, figures, books }, null, 2)}\n`);
for (const { running, close } of contestants) {
  await running.stop();
  close?.();
}
await upstream.stop();
rmSync(folder, { recursive: true, force: true });
process.exit();

/** A peer that does not start is reported, and the others are measured. */
async function add({ name, open }: Peer): Promise<void> {
  const dataDir = makeFolder(join(folder, `${name}-`));
  const upstreamKey = `bench-${name}`;
  const site = { upstreamPort: upstream.port, upstreamKey, dataDir };
  try {
    const opened = await open(site, plan.versions[name]!);
    contestants.push({ name, upstreamKey, running: await opened.start(), ...opened });
  } catch (error) {
    console.log(`SKIPPED ${name}: it does not start: ${(error as Error).message}\n`);
  }
}

async function compare(contestant: Contestant): Promise<void> {
  try {
    books.push(...(await compareBooks(contestant, upstream.port)));
  } catch (error) {
    console.log(`FAILED ${contestant.name}: its books: ${(error as Error).message}\n`);
  }
}

/** PostgreSQL runs as another user than root, so that user must reach its folder. */
function makeFolder(prefix: string): string {
  const made = mkdtempSync(prefix);
  chmodSync(made, 0o755);
  return made;
}
