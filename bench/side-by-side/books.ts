// Compares what a peer booked with what the upstream served it: after the rounds, and again after
// `kill -9` under load and a restart.
import { setTimeout } from 'node:timers/promises';
import { chatUsage } from '../bodies.ts';
import { formatTable } from '../table.ts';
import type { Served } from '../upstream.ts';
import type { Contestant } from './inside.ts';
import { closedLoad } from './load.ts';
import type { Book } from './peer.ts';
import { askedOf, wholeClients } from './rounds.ts';

export type BooksRow = {
  readonly name: string;
  readonly when: 'after the rounds' | 'kill -9';
  /** Answers that the upstream sent to their end. */
  readonly served: number;
  /** Answers that the clients had; null where they were not counted. */
  readonly received: number | null;
  /** Null for a peer that keeps no books. */
  readonly book: Book | null;
};

const killAfterMs = 2_000;
/** Peers that write their books late get this long after the last new entry. */
const quietMs = 7_000;
const none: Book = {
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  chargedRequests: 0,
  lostRequests: 0,
};

export async function compareBooks(
  contestant: Contestant,
  upstreamPort: number,
): Promise<BooksRow[]> {
  const { name, upstreamKey, readBook, crashQuietMs = quietMs } = contestant;
  const servedNow = () => readServed(upstreamPort, upstreamKey);
  if (readBook === null) {
    const served = await servedNow();
    return [{ name, when: 'after the rounds', served, received: null, book: null }];
  }
  const before = await settledBook(readBook, quietMs);
  const servedBefore = await servedNow();
  const received = await killUnderLoad(contestant);
  const after = await settledBook(readBook, crashQuietMs);
  const served = (await servedNow()) - servedBefore;
  return [
    { name, when: 'after the rounds', served: servedBefore, received: null, book: before },
    { name, when: 'kill -9', served, received, book: difference(after, before) },
  ];
}

/** Returns how many right answers the clients had before the kill, and one after the restart. */
async function killUnderLoad(contestant: Contestant): Promise<number> {
  const killed = new AbortController();
  const load = closedLoad(
    askedOf(contestant, 'whole'),
    { clients: wholeClients, durationMs: 10 * killAfterMs },
    killed.signal,
  );
  await setTimeout(killAfterMs);
  await contestant.running.kill();
  // The clients read what was still on its way to them.
  await setTimeout(200);
  killed.abort();
  const { answered } = await load;
  contestant.running = await contestant.start();
  const again = await closedLoad(askedOf(contestant, 'whole'), { clients: 1, durationMs: 1 });
  if (again.wrong > 0) throw new Error(`${contestant.name} after the restart: ${again.firstFault}`);
  return answered + again.answered;
}

/** Reads the book until it has not changed for a while. */
async function settledBook(readBook: () => Book, restMs: number): Promise<Book> {
  let book = readBook();
  for (let sinceMs = performance.now(); performance.now() - sinceMs < restMs;) {
    await setTimeout(1_000);
    const next = readBook();
    if (JSON.stringify(next) !== JSON.stringify(book)) sinceMs = performance.now();
    book = next;
  }
  return book;
}

async function readServed(upstreamPort: number, key: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${upstreamPort}/served`);
  const served = (await response.json()) as Served;
  return served[`Bearer ${key}`]?.answered ?? 0;
}

function difference(after: Book, before: Book): Book {
  return Object.fromEntries(
    Object.keys(none).map((name) => {
      const field = name as keyof Book;
      const value = after[field];
      return [field, value === null ? null : value - (before[field] ?? 0)];
    }),
  ) as Book;
}

export function booksReport(rows: readonly BooksRow[]): string {
  const title =
    'Books: answers that the upstream sent completely, and what the peer booked for them. The difference is booked less served.';
  const head = [
    'peer',
    'when',
    'served',
    'received',
    'booked',
    'difference',
    'tokens',
    'charged',
    'loss',
  ];
  const cells = rows.map(({ name, when, served, received, book }) => [
    name,
    when,
    String(served),
    received === null ? '' : String(received),
    ...(book === null ? ['no books', '', '', '', ''] : describe(book, served)),
  ]);
  return `${title}\n\n${formatTable(head, cells)}\n`;
}

function describe(book: Book, served: number): string[] {
  const { requests, inputTokens, outputTokens, chargedRequests, lostRequests } = book;
  const asServed =
    inputTokens === requests * chatUsage.inputTokens &&
    outputTokens === requests * chatUsage.outputTokens;
  return [
    String(requests),
    String(requests - served),
    asServed ? 'as served' : `${inputTokens} in, ${outputTokens} out`,
    chargedRequests === null ? 'no money' : `for ${round(chargedRequests)}`,
    lostRequests === null ? 'not booked' : `for ${round(lostRequests)}`,
  ];
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100);
}
