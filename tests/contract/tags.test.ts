// Tags of charges: their sums are the sums of their charges, whatever happens between.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../src/db/database.ts';
import type { Command } from '../../src/domain/ledger/commands.ts';
import { listCharges } from '../../src/domain/ledger/reports/queries.ts';
import { readTagsOf } from '../../src/domain/ledger/reports/tags.ts';
import { sumTags } from '../../src/domain/ledger/reports/tag-sums.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import fc from '../support/property.ts';
import {
  addAccount,
  creditOf,
  reserveOf,
  settleOf,
  startMs,
} from '../support/ledger/test-ledger.ts';
import { micros } from '../../src/lib/money.ts';
import { scaled } from '../support/volume.ts';
import { holds, openTwoAccounts } from './any-commands.ts';
import { assertVerifies } from './books.ts';
import { onEachStore, run } from './stores.ts';

const tagNames = ['project=alpha', 'project=beta', 'env=prod', 'nightly'];

type Request = {
  readonly key: number;
  readonly cost: number;
  readonly tags: readonly string[];
  readonly waitMs: number;
};
const request: fc.Arbitrary<Request> = fc.record({
  key: fc.nat({ max: 2 }),
  cost: fc.nat({ max: 60 }),
  tags: fc.subarray(tagNames),
  waitMs: fc.oneof(fc.constant(0), fc.integer({ min: -86_400_000, max: 3 * 86_400_000 })),
});
const batches = fc.array(fc.array(request, { maxLength: 6 }), { minLength: 1, maxLength: 8 });
/** A tag in two batches, and of two keys. Every run has it. */
const sameTag: readonly Request[][] = [
  [{ key: 0, cost: 20, tags: ['nightly'], waitMs: 0 }],
  [
    { key: 0, cost: 10, tags: ['nightly'], waitMs: 0 },
    { key: 0, cost: 11, tags: ['nightly'], waitMs: 0 },
    { key: 1, cost: 12, tags: ['nightly'], waitMs: 0 },
  ],
];

function commandsOf(id: string, { key, cost, tags }: Request): readonly Command[] {
  const asked = { ...holds[key]!, holdId: id };
  return [reserveOf(asked, 50), { ...settleOf(asked, cost), ...(tags.length > 0 && { tags }) }];
}

const inOrder = (rows: readonly (readonly (string | number)[])[]) =>
  rows.toSorted((one, other) => (String(one) < String(other) ? -1 : 1));

async function readSums({ read }: Database) {
  const range = { fromDay: '', toDay: '9999', by: 'tag' } as const;
  const sums = await Promise.all(
    (['a0:live', 'a1:live'] as const).map(async (ledgerId) =>
      (await sumTags(read, { ledgerId, ...range }, { top: 100 })).map(
        ({ group, requests, costMicros }) => [ledgerId, group, requests, Number(costMicros)],
      ),
    ),
  );
  return inOrder(sums.flat());
}

onEachStore((store) => {
  test('after a random history, each tag has the sums of its charges', async (t) => {
    await fc.assert(
      fc.asyncProperty(batches, async (history) => {
        const { database, clock, books } = await openTwoAccounts(t, store, startMs);
        await books.run([creditOf('a0:live', 300), creditOf('a1:live', 100)]);
        const expected = new Map<string, [number, number]>();
        for (const [number, batch] of history.entries()) {
          clock.nowMs += batch[0]?.waitMs ?? 0;
          const commands = batch.flatMap((one, index) => commandsOf(`h${number}-${index}`, one));
          const replies = await books.run(commands);
          // A repeated command books nothing.
          await books.run(commands);
          for (const [index, { key, tags }] of batch.entries()) {
            const reply = replies[2 * index + 1]!;
            if (reply.type !== 'charged') continue;
            for (const tag of tags) {
              const name = `${holds[key]!.ledgerId} ${tag}`;
              const [requests, cost] = expected.get(name) ?? [0, 0];
              expected.set(name, [requests + 1, cost + Number(reply.chargedMicros)]);
            }
          }
        }
        const wanted = [...expected].map(([name, sums]) => [...name.split(' '), ...sums]);
        assert.deepEqual(await readSums(database), inOrder(wanted));
        await assertVerifies(database);
      }),
      { numRuns: scaled(8, 100), unbiased: true, examples: [[[...sameTag]]] },
    );
  });

  test('a batch that fails at its tags charges nothing, and is charged once when sent again', async (t) => {
    const { database, books } = await openTwoAccounts(t, store, startMs);
    await books.run([creditOf('a0:live', 300)]);
    const commands = commandsOf('h', { key: 0, cost: 20, tags: ['nightly'], waitMs: 0 });
    for (const table of ['charge_tags', 'tag_days']) {
      await store.execute(database, `alter table ${table} rename to hidden`);
      await assertNothingCharged(async () => books.run(commands));
      await store.execute(database, `alter table hidden rename to ${table}`);
      await assertVerifies(database);
    }
    const replies = await books.run(commands);
    assert.equal(replies[1]!.type, 'charged');
    await books.run(commands);
    assert.deepEqual(await readSums(database), [['a0:live', 'nightly', 1, 20]]);
    await assertVerifies(database);

    /** SQLite rejects the command, PostgreSQL the batch. */
    async function assertNothingCharged(send: () => Promise<readonly { type: string }[]>) {
      const answers = await send().catch(() => []);
      assert.ok(answers.every(({ type }) => type !== 'charged'));
      assert.equal((await database.read.selectFrom('charges').select('id').execute()).length, 0);
    }
  });

  test('verify finds a sum that differs, a lost tag and a tag without a charge', async (t) => {
    const changes: Readonly<Record<string, readonly [change: string, back: string]>> = {
      tag_days: [
        'update tag_days set cost_micros = cost_micros + 1',
        'update tag_days set cost_micros = cost_micros - 1',
      ],
      charge_tags: [
        `insert into charge_tags values ('a0:live', 'forged', ${startMs}, 'none')`,
        `delete from charge_tags where tag = 'forged'`,
      ],
    };
    const { database, books } = await openTwoAccounts(t, store, startMs);
    await books.run([creditOf('a0:live', 300)]);
    await books.run(commandsOf('h', { key: 0, cost: 20, tags: ['nightly'], waitMs: 0 }));
    await assertVerifies(database);
    for (const [table, [change, back]] of Object.entries(changes)) {
      await run(database, change);
      const result = await verify(database.read);
      assert.equal(!result.ok && result.problem.table, table);
      await run(database, back);
    }
    await run(database, 'delete from charge_tags');
    const lost = await verify(database.read);
    assert.deepEqual(!lost.ok && [lost.problem.table, lost.problem.found], ['tag_days', 'a row']);
  });

  test('of very many tags, those with the highest costs are found', async (t) => {
    const database = await store.openDatabase(t);
    await addAccount(database, 'a0', ['k0']);
    const count = 25_000;
    const tags = Array.from({ length: count }, (_, index) => `t${(index * 7_919) % count}`);
    const row = { ledger_id: 'a0:live', key_id: 'k0', model_id: 'm', input_tokens: 1 };
    for (let start = 0; start < count; start += 1_000)
      await database.write
        .insertInto('tag_days')
        .values(
          tags.slice(start, start + 1_000).flatMap((tag, index) =>
            ['2026-11-20', '2026-11-21'].map((day) => ({
              ...row,
              tag,
              day,
              requests: 1,
              output_tokens: 1,
              cost_micros: micros(start + index),
            })),
          ),
        )
        .execute();
    const whole = { ledgerId: 'a0:live', fromDay: '2026-11-20', toDay: '2026-11-30' } as const;
    const sums = await sumTags(database.read, { ...whole, by: 'tag' }, { top: 3 });
    assert.deepEqual(
      sums.map(({ group, requests, costMicros }) => [group, requests, Number(costMicros)]),
      [1, 2, 3].map((place) => [tags.at(-place), 2, 2 * (count - place)]),
    );
    const later = { ...whole, fromDay: '2026-11-21', by: 'tag' } as const;
    const [first] = await sumTags(database.read, later, { top: 1 });
    assert.deepEqual([first!.group, first!.requests], [tags.at(-1), 1]);
  });

  test('charges are listed by tag, page by page, newest first', async (t) => {
    const { database, clock, books } = await openTwoAccounts(t, store, startMs);
    await books.run([creditOf('a0:live', 10_000)]);
    for (let number = 0; number < 12; number++) {
      const tags = number % 3 === 0 ? ['nightly', 'env=prod'] : ['env=prod'];
      await books.run(commandsOf(`h${number}`, { key: number % 2, cost: 1, tags, waitMs: 0 }));
      clock.nowMs += 20 * 3_600_000;
    }
    const ids: string[] = [];
    let cursor: Parameters<typeof listCharges>[1]['cursor'] = null;
    do {
      const query = { ledgerId: 'a0:live', tag: 'nightly', limit: 3, cursor } as const;
      const page: Awaited<ReturnType<typeof listCharges>> = await listCharges(database.read, query);
      const tags = await readTagsOf(database.read, page.charges);
      for (const { id } of page.charges) assert.deepEqual(tags.get(id), ['env=prod', 'nightly']);
      ids.push(...page.charges.map(({ id }) => id));
      cursor = page.next;
    } while (cursor);
    assert.deepEqual(ids, ['h9', 'h6', 'h3', 'h0']);
    const query = { ledgerId: 'a0:live', limit: 20, cursor: null } as const;
    const idsOf = async (filter: object) =>
      (await listCharges(database.read, { ...query, ...filter })).charges.map(({ id }) => id);
    assert.deepEqual(await idsOf({ tag: 'nightly', keyId: 'k1' }), ['h9', 'h3']);
    assert.deepEqual(await idsOf({ tag: 'unknown' }), []);
    assert.deepEqual(await idsOf({ member: 'nobody' }), []);
    assert.deepEqual(await idsOf({ provider: 'none' }), []);
    assert.equal((await idsOf({ provider: 'sandbox', member: '' })).length, 12);
    // The first was on a Saturday at noon.
    assert.deepEqual(await idsOf({ weekHour: 6 * 24 + 12 }), ['h0']);
  });
});
