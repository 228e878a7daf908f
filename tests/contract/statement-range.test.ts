// Statements of ranges of days on both databases: on random histories, opening balance and lines
// add up to the closing balance, and each balance is the one that the journal gives for its moment.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { micros } from '../../src/lib/money.ts';
import { dayStartMs } from '../../src/lib/utc-time.ts';
import type { Command } from '../../src/domain/ledger/commands.ts';
import { statementOf, type RangeLine } from '../../src/domain/ledger/reports/statement-range.ts';
import {
  addAccount,
  creditOf,
  reserveOf,
  settleOf,
  startMs,
} from '../support/ledger/test-ledger.ts';
import { Random } from '../support/random.ts';
import { select } from './books.ts';
import { onEachStore } from './stores.ts';

const dayMs = 86_400_000;
const ledgerId = 'acc:live';

onEachStore((store) => {
  test('the lines of any range add up, and its balances are those of the journal', async (t) => {
    const database = await store.openDatabase(t);
    await addAccount(database, 'acc', ['k', 'l']);
    await addAccount(database, 'other', ['o']);
    const clock = { nowMs: startMs };
    const books = store.openStore(t, database, { clock });
    const random = new Random('statements');
    await books.run([creditOf(ledgerId, 1_000_000, 'first'), creditOf('other:live', 1_000)]);
    const commands: Command[] = [];
    for (let step = 0; step < 600; step++) {
      if (random.chance(0.4)) {
        await books.run(commands.splice(0));
        clock.nowMs += random.below(dayMs / 2);
      }
      // Several commands may have the same millisecond, and some days have none.
      const id = `step-${step}`;
      const hold = { holdId: id, ledgerId, keyId: random.pick(['k', 'l']) } as const;
      const amount = 1 + random.below(500);
      const more = random.pick<readonly Command[]>([
        [creditOf(ledgerId, amount, id)],
        [{ ...creditOf(ledgerId, amount, id), type: 'debit' as const }],
        [reserveOf(hold, 600), settleOf(hold, amount)],
        [reserveOf(hold, 600), settleOf(hold, amount)],
        [reserveOf(hold, 600), { type: 'release' as const, holdId: id, lossMicros: micros(0) }],
      ]);
      commands.push(...more);
    }
    await books.run(commands);
    const entries = await database.read
      .selectFrom('entries')
      .select(['posted_delta_micros', 'created_at_ms'])
      .where('ledger_id', '=', ledgerId)
      .execute();
    const balanceAt = (ms: number) =>
      entries
        .filter((entry) => entry.created_at_ms < ms)
        .reduce((sum, entry) => sum + entry.posted_delta_micros, 0);

    const [first, last] = [dayStartMs(startMs), dayStartMs(clock.nowMs)];
    const ranges = [[first - dayMs, last + dayMs] as const];
    for (let count = 0; count < 20; count++) {
      const from = first + dayMs * random.below((last - first) / dayMs);
      ranges.push([from, from + dayMs * (1 + random.below(40))]);
    }
    for (const [fromMs, toMs] of ranges) {
      const lines: RangeLine[] = [];
      for await (const line of statementOf(database.read, { ledgerId, fromMs, toMs }))
        lines.push(line);
      assert.equal(lines[0]!.balanceMicros, balanceAt(fromMs));
      assert.equal(lines.at(-1)!.balanceMicros, balanceAt(toMs));
      let balance = lines[0]!.balanceMicros as number;
      for (const [index, line] of lines.entries()) {
        if ('amountMicros' in line) balance += line.amountMicros;
        assert.equal(line.balanceMicros, balance);
        assert.ok(index === 0 || line.timeMs >= lines[index - 1]!.timeMs, 'oldest first');
        // Each day ends with its charges, so the balance after them is that of midnight.
        if (line.kind === 'charges') assert.equal(balance, balanceAt(line.timeMs + 1));
      }
    }
    const [whole] = ranges;
    const posted = `select posted_micros from ledgers where id = '${ledgerId}'`;
    assert.deepEqual(await select(database, posted), [[balanceAt(whole![1])]]);
  });
});
