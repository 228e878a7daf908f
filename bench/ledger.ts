// `npm run bench -- --ledger`: settlements per second, each a durable hold and its durable charge,
// on one contended account and spread over a thousand. Runs on SQLite and PostgreSQL
// (TOLLGATE_BENCH_POSTGRES, or that of the tests).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAccount } from '../src/management/changes/accounts.ts';
import { openDatabase } from '../src/db/database.ts';
import { insertKey } from '../src/domain/keys/manage-keys.ts';
import { type Ledger, type LedgerId, ledgerIdOf } from '../src/domain/ledger/commands.ts';
import { record } from '../tests/support/ledger/test-ledger.ts';
import { openLedger } from '../src/domain/ledger/open-ledger.ts';
import { systemClock } from '../src/lib/clock.ts';
import { micros } from '../src/lib/money.ts';
import { median, quantile } from './statistics.ts';
import { createDatabase } from '../tests/support/postgres.ts';
import { formatTable } from './table.ts';
import { digestKeyFrom } from '../src/domain/keys/key-text.ts';
import { createSecret } from '../src/lib/secrets.ts';

type Payer = { readonly ledgerId: LedgerId; readonly keyId: string };
type Measured = { readonly perSecond: number; readonly p50Ms: number; readonly p99Ms: number };

const accountsMany = 1_000;
const inFlight = [1, 8, 64, 256];
const owner = 'bench';
const amountMicros = micros(1_000);

/** Reports the median of several rounds of `durationMs` each. */
export async function benchLedger(durationMs: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const stores = {
    SQLite: `sqlite:${join(folder, 'ledger.db')}`,
    PostgreSQL: process.env['TOLLGATE_BENCH_POSTGRES'] ?? (await createDatabase()),
  };
  try {
    const rows: string[][] = [];
    for (const [name, url] of Object.entries(stores))
      rows.push(...(await benchStore(name, url, durationMs)));
    return formatTable(['store', 'accounts', 'in flight', 'settlements/s', 'p50', 'p99'], rows);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function benchStore(name: string, url: string, durationMs: number): Promise<string[][]> {
  const payers = await addPayers(url);
  const ledger = await openLedger({ databaseUrl: url, owner, clock: systemClock });
  await Promise.all(payers.map(({ ledgerId }) => ledger.submit(creditOf(ledgerId))));
  const rows: string[][] = [];
  for (const [accounts, of] of [
    ['1', payers.slice(0, 1)],
    [String(accountsMany), payers],
  ] as const) {
    for (const clients of inFlight) {
      const rounds = [];
      for (let round = 0; round < 3; round++)
        rounds.push(await measure(ledger, of, { clients, durationMs }));
      rows.push([name, accounts, String(clients), ...describe(rounds)]);
    }
  }
  await ledger.close();
  return rows;
}

function describe(rounds: readonly Measured[]): string[] {
  const middle = (pick: (round: Measured) => number) => median(rounds.map(pick));
  return [
    middle((round) => round.perSecond).toFixed(0),
    `${middle((round) => round.p50Ms).toFixed(2)} ms`,
    `${middle((round) => round.p99Ms).toFixed(2)} ms`,
  ];
}

async function addPayers(url: string): Promise<readonly Payer[]> {
  const database = openDatabase(url);
  await database.migrate();
  const payers: Payer[] = [];
  for (let number = 0; number < accountsMany; number++) {
    const { id: accountId } = await openAccount(
      database.write,
      { name: `Bench ${number}` },
      systemClock.nowMs(),
    );
    const key = await insertKey(
      database.write,
      digestKeyFrom(createSecret('bench')),
      { accountId, mode: 'live' },
      systemClock.nowMs(),
    );
    payers.push({ ledgerId: ledgerIdOf(accountId, 'live'), keyId: key!.id });
  }
  await database.close();
  return payers;
}

async function measure(
  ledger: Ledger,
  payers: readonly Payer[],
  { clients, durationMs }: { readonly clients: number; readonly durationMs: number },
): Promise<Measured> {
  const timesMs: number[] = [];
  const startMs = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let number = client; performance.now() - startMs < durationMs; number += clients) {
        const beganMs = performance.now();
        await chargeOnce(ledger, payers[number % payers.length]!);
        timesMs.push(performance.now() - beganMs);
      }
    }),
  );
  const seconds = (performance.now() - startMs) / 1_000;
  return {
    perSecond: timesMs.length / seconds,
    p50Ms: median(timesMs),
    p99Ms: quantile(timesMs, 0.99),
  };
}

let requests = 0;

async function chargeOnce(ledger: Ledger, payer: Payer): Promise<void> {
  const holdId = `bench-${process.pid}-${Date.now()}-${(requests += 1)}`;
  const held = await ledger.submit({
    type: 'reserve',
    holdId,
    ...payer,
    amountMicros,
    dailyCapMicros: null,
    monthlyCapMicros: null,
    owner,
  });
  if (held.type !== 'held') throw new Error(`not held: ${held.type}`);
  const charged = await ledger.submit({
    type: 'settle',
    holdId,
    ...payer,
    costMicros: micros(700),
    price: null,
    record,
  });
  if (charged.type !== 'charged') throw new Error(`not charged: ${charged.type}`);
}

function creditOf(ledgerId: LedgerId) {
  return {
    type: 'credit',
    entryId: `bench-${ledgerId}`,
    ledgerId,
    amountMicros: micros(1_000_000_000_000),
    note: 'bench',
  } as const;
}
