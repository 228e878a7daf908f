// A gateway under load whose database cannot be written for a while, many times, in every way that
// this machine can cause, and which is killed during some outages. The clients' records must match
// the books, and nothing may stay held. TOLLGATE_OUTAGES: how many outages.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { openDatabase } from '../../../src/db/database.ts';
import { connectSqlite } from '../../../src/db/sqlite/connection.ts';
import { startGatewayProgram } from '../../support/gateway.ts';
import { send } from '../../support/http.ts';
import { createDatabase } from '../../support/postgres.ts';
import type { Program } from '../../support/program.ts';
import { answerAtSomeTime, pricedModel, startLoad } from '../../support/replica-load.ts';
import { mountSmallDisk, noSmallDisk } from '../../support/small-disk.ts';
import { until } from '../../support/until.ts';

const outagesWanted = Number(process.env['TOLLGATE_OUTAGES'] ?? 8);
/** A limit for hangs only: longer than a killed process's lease plus a sweep. */
const hangMs = 180_000;
/**
 * New requests are refused after ten seconds, and streams aborted. Every fifth outage is longer
 * than that, each kind in turn.
 */
const longOutageMs = 13_000;

/** Begins an outage. Returns a function that ends it. */
type Outage = () => (() => void | Promise<void>) | Promise<() => void | Promise<void>>;

test(`none of ${outagesWanted} outages of a SQLite file loses a charge, charges twice or leaves a hold`, async (t) => {
  const disk = mountSmallDisk({ megabytes: 128 });
  if (!disk) return t.skip(noSmallDisk);
  const path = join(disk.folder, 'tollgate.db');
  const gateway = await startGatewayProgram(config, { databaseUrl: `sqlite:${path}` });
  t.after(async () => {
    disk.free();
    await gateway.stop().finally(disk.unmount);
  });
  const { program } = gateway;
  await survive(program, gateway, {
    'full disk': () => {
      disk.fill();
      return disk.free;
    },
    'I/O error': () => {
      const { pid } = program;
      // A write beyond the log's present end fails with EFBIG.
      limitFiles(pid, String(statSync(`${path}-wal`).size));
      return () => limitFiles(pid, 'unlimited');
    },
    lock: () => {
      const other = connectSqlite(path, { readOnly: false });
      other.exec('begin immediate');
      return () => other.close();
    },
    pause: pause(program),
  });
});

test(`none of ${outagesWanted} outages of a PostgreSQL database loses a charge, charges twice or leaves a hold`, async (t) => {
  const databaseUrl = await createDatabase();
  const gateway = await startGatewayProgram(config, { databaseUrl });
  t.after(() => gateway.stop());
  await survive(gateway.program, gateway, {
    lock: () => lockLedgers(databaseUrl),
    pause: pause(gateway.program),
  });
});

const config = { server: { threads: 2 }, models: { priced: pricedModel }, log: { level: 'fatal' } };

type Started = Awaited<ReturnType<typeof startGatewayProgram>>;

async function survive(
  program: Program,
  gateway: Started,
  outages: Readonly<Record<string, Outage>>,
): Promise<void> {
  answerAtSomeTime(gateway.upstream, { paceMsMax: 40 });
  // The address changes on each start.
  const load = await startLoad([program], gateway, { clients: 12 });
  const counts = new Map<string, number>();
  const note = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  for (let round = 0; round < outagesWanted; round++) {
    await load.answers(1 + Math.floor(Math.random() * 20));
    const names = Object.keys(outages);
    const name = names[round % names.length]!;
    const end = await outages[name]!();
    note(name);
    await setTimeout(round % 5 === 0 ? longOutageMs : Math.random() * 1_500);
    const isKilled = Math.random() < 0.25;
    if (isKilled) {
      await program.kill();
      note('kill');
    }
    await end();
    if (isKilled) await program.start();
    else await until(async () => (await send(`${program.url}/readyz`)).status === 200, hangMs);
  }
  await load.answers(20);
  await load.stop();
  await until(async () => (await gateway.balance(load.account)).heldMicros === 0, hangMs);
  const charges = await load.compare();
  const happened = Array.from(counts, ([what, count]) => `${count} × ${what}`).join(', ');
  console.log(
    `${happened}: ${load.journal.size} answers delivered, ${charges} charges, ${load.free()} told that they are free, ` +
      `${load.failed()} broken off; 0 lost, 0 double, 0 held`,
  );
}

function limitFiles(pid: number, bytes: string): void {
  try {
    execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`], {
      stdio: 'ignore',
    });
  } catch (error) {
    // It was killed meanwhile.
    assert.equal(bytes, 'unlimited', String(error));
  }
}

function pause(program: Program): Outage {
  return () => {
    const { pid } = program;
    process.kill(pid, 'SIGSTOP');
    return () => {
      try {
        process.kill(pid, 'SIGCONT');
      } catch {
        // It was killed meanwhile.
      }
    };
  };
}

async function lockLedgers(url: string): Promise<() => Promise<void>> {
  const database = openDatabase(url);
  const [locked, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done = database.write.transaction().execute(async (transaction) => {
    await transaction.selectFrom('ledgers').select('id').forUpdate().execute();
    locked.resolve();
    await end.promise;
  });
  // The server ends transactions that are idle for too long.
  const ended = done.catch(() => {});
  await locked.promise;
  return async () => {
    end.resolve();
    await ended;
    await database.close();
  };
}
