// Random histories beside looks that seal and remove days, that are killed at any statement and that
// cannot always export. The model is a list of every charge ever booked: the daily sums are its sums
// for good, and each charge is in the database or in the file of its day.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { KyselyPlugin } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import type { Command } from '../../src/domain/ledger/commands.ts';
import {
  addToDay,
  type ChargeDayRow,
  chargeDaysTable,
} from '../../src/domain/ledger/charge-days.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { type ChargeRow, chargesTable } from '../../src/domain/ledger/columns.ts';
import { chargeLine } from '../../src/domain/ledger/seals/digests.ts';
import { look } from '../../src/domain/ledger/seals/look.ts';

import { creditOf, reserveOf, settleOf } from '../support/ledger/test-ledger.ts';
import fc from '../support/property.ts';
import { scaled } from '../support/volume.ts';
import { anyAmount, anyCommand, anyHold, holds, openTwoAccounts } from './any-commands.ts';
import { onEachStore, run, type StoreKind } from './stores.ts';

const dayMs = 86_400_000;
/** After the partition in which PostgreSQL keeps the charges so far. */
const startMs = (Math.floor(Date.now() / dayMs) + 30) * dayMs + dayMs / 2;
type Step =
  | { readonly kind: 'run'; readonly commands: readonly Command[] }
  | { readonly kind: 'wait'; readonly ms: number }
  | {
      readonly kind: 'look';
      readonly keptDays: number;
      /** The look is killed before this statement; null for none. */
      readonly killAt: number | null;
      readonly hasFolder: boolean;
    };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: anyCommand(40).map((one): Step => ({ kind: 'run', commands: [one] })) },
  {
    weight: 6,
    arbitrary: fc.tuple(anyHold(40), anyAmount).map(([of, cost]): Step => ({
      kind: 'run',
      commands: [reserveOf(of, cost), settleOf(of, cost)],
    })),
  },
  {
    weight: 4,
    arbitrary: fc
      .oneof(
        { weight: 6, arbitrary: fc.integer({ min: 0, max: 1.5 * dayMs }) },
        { weight: 1, arbitrary: fc.integer({ min: -3 * dayMs, max: 0 }) },
        { weight: 1, arbitrary: fc.constant(4 * dayMs) },
      )
      .map((ms): Step => ({ kind: 'wait', ms })),
  },
  {
    weight: 2,
    arbitrary: fc.record<Step & { kind: 'look' }>({
      kind: fc.constant('look'),
      keptDays: fc.constantFrom(1, 2, 5),
      killAt: fc.option(fc.integer({ min: 1, max: 60 })),
      hasFolder: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
    }),
  },
);

/** A day's charges are removed by the second look; the first is killed. Every run has it. */
const removal: readonly Step[] = [
  { kind: 'run', commands: [reserveOf(holds[0], 50), settleOf(holds[0], 30)] },
  { kind: 'wait', ms: 4 * dayMs },
  { kind: 'look', keptDays: 1, killAt: 3, hasFolder: true },
  { kind: 'look', keptDays: 1, killAt: null, hasFolder: true },
];

/** The database of a process that is killed before a statement: later ones do not run either. */
function killedBefore(database: Database, killAt: number | null): Database {
  let statements = 0;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements += 1;
      if (killAt !== null && statements >= killAt) throw new Error('killed');
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  return {
    ...database,
    read: database.read.withPlugin(plugin),
    write: database.write.withPlugin(plugin),
    transient: database.transient.withPlugin(plugin),
  };
}

async function openBooks(t: TestContext, store: StoreKind) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-export-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const opened = await openTwoAccounts(t, store, startMs);
  await opened.books.run([creditOf('a0:live', 1_000), creditOf('a1:live', 1_000)]);
  return { ...opened, folder };
}

type Booked = Map<string, ChargeRow>;

/** Each charge is in the database or in the file of its day; its sums are kept for good. */
async function assertKept(database: Database, folder: string, booked: Booked): Promise<void> {
  const inFiles = readdirSync(folder)
    .filter((name) => name.endsWith('.gz'))
    .flatMap((name) =>
      gunzipSync(readFileSync(join(folder, name)))
        .toString()
        .split('\n'),
    );
  const exported = new Set(inFiles);
  const left = await database.read.selectFrom('charges').selectAll().execute();
  const kept = new Set(left.map(({ id }) => id));
  for (const row of left) assert.deepEqual({ ...row }, { ...booked.get(row.id)! });
  for (const [id, row] of booked)
    assert.ok(kept.has(id) || exported.has(`{"charge":${chargeLine(row)}}`), `${id} is lost`);
  const expected = new Map<string, ChargeDayRow>();
  for (const row of booked.values()) addToDay(expected, chargesTable.recordOf(row));
  const sums = await database.read.selectFrom('charge_days').selectAll().execute();
  assert.deepEqual(new Map(sums.map((row) => [chargeDaysTable.idOf(row), { ...row }])), expected);
}

onEachStore((store) => {
  test('random histories lose no charge and no sum by removals that are killed or cannot export', async (t) => {
    let removed = 0;
    let killed = 0;
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: 120, size: 'max' }),
      async (steps) => {
        const { database, clock, books, folder } = await openBooks(t, store);
        const booked: Booked = new Map();
        const charged = new Map<string, unknown>();
        const ending: Step = { kind: 'look', keptDays: 1, killAt: null, hasFolder: true };
        for (const one of [...steps, ending]) {
          if (one.kind === 'wait') clock.nowMs = Math.max(clock.nowMs + one.ms, startMs);
          else if (one.kind === 'run') {
            const replies = await books.run(one.commands);
            assert.ok(replies.every(({ type }) => type !== 'rejected'));
            const [last, reply] = [one.commands.at(-1)!, replies.at(-1)!];
            if (reply.type !== 'charged' || last.type !== 'settle') continue;
            const { holdId } = last;
            const { chargedMicros, lossMicros } = reply;
            const first = charged.get(holdId) ?? { chargedMicros, lossMicros };
            assert.deepEqual({ chargedMicros, lossMicros }, first);
            if (!charged.has(holdId)) {
              const query = database.read.selectFrom('charges').selectAll();
              const row = await query.where('id', '=', holdId).executeTakeFirstOrThrow();
              booked.set(holdId, row);
            }
            charged.set(holdId, first);
          } else {
            await run(database, `update sealing set trusted_ms = ${clock.nowMs}`);
            const looking = look({
              database: killedBefore(database, one.killAt),
              owner: 'one',
              retention: {
                chargesDays: one.keptDays,
                exportFolder: one.hasFolder ? folder : join(folder, 'unmounted'),
              },
              tell: (event) => {
                if (event.kind === 'removed') removed += event.charges;
                assert.ok(
                  ['sealed', 'removed', 'done'].includes(event.kind) ||
                    (!one.hasFolder && event.kind === 'not-exported') ||
                    (one.killAt !== null && ['not-exported', 'no-partitions'].includes(event.kind)),
                  JSON.stringify(event),
                );
              },
              nowMs: () => clock.nowMs,
              pause: async () => {},
            });
            await looking.catch((error: unknown) => {
              if ((error as Error).message !== 'killed') throw error;
              killed += 1;
            });
            const quick = await verify(database.read);
            const whole = await verify(database.read, [], { all: true });
            assert.ok(quick.ok && whole.ok, JSON.stringify([quick, whole]));
            const { sealedDay: _, ...counts } = quick;
            assert.deepEqual(counts, whole);
            await assertKept(database, folder, booked);
          }
        }
        await database.close();
      },
    );
    await fc.assert(property, { numRuns: scaled(3, 20), examples: [[[...removal]]] });
    assert.ok(removed > 0 && killed > 0, `${removed} removed, ${killed} killed`);
  });
});
