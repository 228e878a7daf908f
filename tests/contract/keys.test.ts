// Listing and changing keys, on each store.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../../src/db/database.ts';
import {
  keyStateOf,
  listKeys,
  searchKeys,
  type KeySearch,
} from '../../src/domain/keys/list-keys.ts';
import {
  alterKey,
  insertKey,
  replaceKeyText,
  type KeyChange,
  type KeyControls,
} from '../../src/domain/keys/manage-keys.ts';
import { openKeyStore } from '../../src/domain/keys/key-store.ts';
import { findKeysUnderOtherSecrets } from '../../src/domain/keys/needed-secrets.ts';
import { micros } from '../../src/lib/money.ts';
import { openAccount } from '../../src/management/changes/accounts.ts';
import { startMs } from '../support/ledger/test-ledger.ts';
import { TestClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';
import { onEachStore, run } from './stores.ts';
import { digestKeyFrom } from '../../src/domain/keys/key-text.ts';
import { createSecret } from '../../src/lib/secrets.ts';

const secret = createSecret('a secret of these tests');
const digestKey = digestKeyFrom(secret);

onEachStore((store) => {
  test('a rotated key has one earlier text, which works until the overlap ends', async (t) => {
    const database = await store.openDatabase(t);
    const clock = new TestClock(startMs);
    const keys = openKeyStore({
      database,
      secrets: [secret],
      onError: (error) => assert.fail(error as Error),
      clock,
    });
    t.after(() => keys.close());
    const accountId = await makeAccount(database, 'A');
    const { id, key: first } = await make(database, accountId, { name: 'A' });
    const hour = 3_600_000;
    const rotate = async (overlapMs: number) => {
      const place = { keyId: id, accountId, overlapMs };
      const outcome = await replaceKeyText(database.write, digestKey, place, clock.nowMs());
      assert.ok(outcome.kind === 'rotated');
      return outcome.made.key;
    };
    const works = async (texts: readonly string[]) => {
      const found = await Promise.all(texts.map((text) => keys.find(text)));
      for (const key of found) assert.ok(key === null || key.id === id);
      return found.map(
        (key) => key !== null && (key.expiresAtMs === null || key.expiresAtMs > clock.nowMs()),
      );
    };
    // The store polls for changes.
    const untilWorks = (texts: readonly string[], expected: readonly boolean[]) =>
      untilNoticed(clock, async () => isDeepStrictEqual(await works(texts), expected));
    assert.deepEqual(await works([first]), [true]);
    const second = await rotate(hour);
    await untilWorks([first, second], [true, true]);
    const third = await rotate(hour);
    await untilWorks([first, second, third], [false, true, true]);
    clock.jumpTo(clock.nowMs() + hour);
    assert.deepEqual(await works([second, third]), [false, true], 'known texts expire, too');
    const fourth = await rotate(0);
    await untilWorks([second, third, fourth], [false, false, true]);
    const fifth = await rotate(hour);
    await alterKey(database.write, { keyId: id }, { action: 'revoke' }, clock.nowMs());
    await untilWorks([fourth, fifth], [false, false]);
    const place = { keyId: id, overlapMs: 0 };
    assert.equal((await replaceKeyText(database.write, digestKey, place, 0)).kind, 'revoked');
    const foreign = { ...place, accountId: 'another' };
    assert.equal((await replaceKeyText(database.write, digestKey, foreign, 0)).kind, 'unknown');
  });

  test('an earlier text under another secret counts as a key that needs it', async (t) => {
    const database = await store.openDatabase(t);
    const { id } = await make(database, await makeAccount(database, 'A'), { name: 'A' });
    const next = digestKeyFrom(createSecret('the next secret'));
    const under = (nowMs: number) => findKeysUnderOtherSecrets(database.read, next.secretId, nowMs);
    assert.deepEqual(await under(startMs), [id]);
    await replaceKeyText(database.write, next, { keyId: id, overlapMs: 10_000 }, startMs);
    assert.deepEqual(await under(startMs), [id]);
    assert.deepEqual(await under(startMs + 10_000), []);
  });

  test('keys are searched by name, hint and id, ignoring case and without wildcards', async (t) => {
    const database = await store.openDatabase(t);
    const accountId = await makeAccount(database, 'A');
    const ci = await make(database, accountId, { name: 'CI 100%' });
    const laptop = await make(database, accountId, { name: 'Laptop_1' });
    const other = await make(database, await makeAccount(database, 'B'), { name: 'laptop of B' });
    const found = async (text: string, account: string | undefined = accountId) =>
      names(await search(database, { accountId: account, text }));
    assert.deepEqual(await found('lap'), ['Laptop_1']);
    assert.deepEqual(await found('100%'), ['CI 100%']);
    assert.deepEqual(await found('ci%'), []);
    assert.deepEqual(await found('p_1'), ['Laptop_1']);
    assert.deepEqual(await found('o_t'), [], 'an underscore is a letter');
    assert.deepEqual(await found(ci.key.slice(-4)), ['CI 100%']);
    assert.deepEqual(await found(laptop.id), ['Laptop_1']);
    assert.deepEqual(await found(other.id), [], "another account's key is not found");
    assert.deepEqual((await search(database, { text: 'LAP' })).keys.length, 2, 'in all accounts');
  });

  test('a search by state finds the keys in that state, and states can be combined', async (t) => {
    const database = await store.openDatabase(t);
    const accountId = await makeAccount(database, 'A');
    const ids: Record<string, string> = {};
    for (const name of ['active', 'later', 'disabled', 'expired', 'revoked'])
      ids[name] = (await make(database, accountId, { name })).id;
    const nowMs = startMs;
    const set = (name: string, columns: string) =>
      run(database, `update api_keys set ${columns} where id = '${ids[name]}'`);
    await set('later', `expires_at_ms = ${nowMs + 1}`);
    await set('expired', `expires_at_ms = ${nowMs}`);
    await set('disabled', `disabled_at_ms = 1, expires_at_ms = ${nowMs}`);
    await set('revoked', `revoked_at_ms = 1, disabled_at_ms = 1`);
    const listed = await listKeys(database.read, accountId);
    for (const key of listed)
      assert.equal(keyStateOf(key, nowMs), key.name === 'later' ? 'active' : key.name);
    const inStates = async (...states: NonNullable<KeySearch['states']>) =>
      names(await search(database, { accountId, states, nowMs })).toSorted();
    assert.deepEqual(await inStates('active'), ['active', 'later']);
    assert.deepEqual(await inStates('expired'), ['expired']);
    assert.deepEqual(await inStates('disabled'), ['disabled']);
    assert.deepEqual(await inStates('revoked'), ['revoked']);
    assert.deepEqual(await inStates('disabled', 'expired'), ['disabled', 'expired']);
  });

  test('pages of keys are complete and newest first, even if several were created in one millisecond', async (t) => {
    const database = await store.openDatabase(t);
    const accountId = await makeAccount(database, 'A');
    for (const name of ['a', 'b', 'c', 'd', 'e']) await make(database, accountId, { name });
    await run(database, `update api_keys set created_at_ms = 5 where name in ('b', 'c', 'd')`);
    const all = (await listKeys(database.read, accountId)).map(({ name }) => name);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof search>> = await search(database, {
        accountId,
        limit: 2,
        cursor,
      });
      seen.push(...names(page));
      cursor = page.next;
    } while (cursor !== null);
    assert.deepEqual(seen, all);
    for (const wrong of ['x', '5', '5|a b', `5|${'a'.repeat(65)}`])
      assert.equal(
        await searchKeys(database.read, { accountId, nowMs: 0, limit: 2, cursor: wrong }),
        null,
      );
  });

  test('a change reports the previous state; a key of another account, or a revoked one, is not changed', async (t) => {
    const database = await store.openDatabase(t);
    const accountId = await makeAccount(database, 'A');
    const { id: keyId } = await make(database, accountId, { name: 'a' });
    const place = { keyId, accountId };
    const capped = update({ dailyCapMicros: micros(5), models: ['m'] });
    const updated = await alterKey(database.write, place, capped, startMs);
    assert.ok(updated.kind === 'changed');
    assert.deepEqual(
      [updated.before.daily_cap_micros, updated.after.daily_cap_micros, updated.after.models],
      [null, 5, ['m']],
    );
    const changes = [
      update({ name: 'taken' }),
      { action: 'revoke' },
      { action: 'disable' },
    ] as const;
    for (const wrong of [{ keyId, accountId: 'acc_other' }, { keyId: 'key_none' }])
      for (const change of changes)
        assert.deepEqual(await alterKey(database.write, wrong, change, startMs), {
          kind: 'unknown',
        });
    assert.ok(
      (await alterKey(database.write, place, { action: 'disable' }, startMs)).kind === 'changed',
    );
    const revoked = await alterKey(database.write, place, { action: 'revoke' }, startMs);
    assert.ok(revoked.kind === 'changed');
    const key = revoked.after;
    assert.ok(key.revoked_at !== null && key.disabled_at !== null && key.name === 'a');
    for (const change of [update({ name: 'b' }), { action: 'enable' }] as const)
      assert.deepEqual(await alterKey(database.write, place, change, startMs), { kind: 'revoked' });
    assert.deepEqual(await alterKey(database.write, place, { action: 'revoke' }, startMs + 1), {
      kind: 'changed',
      before: key,
      after: key,
    });
  });

  test('two concurrent changes each report the state that they replaced', async (t) => {
    const database = await store.openDatabase(t);
    const accountId = await makeAccount(database, 'A');
    const { id: keyId } = await make(database, accountId, { name: '0' });
    const outcomes = await Promise.all(
      ['1', '2', '3', '4'].map((name) =>
        alterKey(
          database.write,
          { keyId },
          update({ name, requestsPerMinute: Number(name) }),
          startMs,
        ),
      ),
    );
    const steps = outcomes.map((outcome) =>
      outcome.kind === 'changed' ? [outcome.before.name, outcome.after.name] : [],
    );
    const [last] = await listKeys(database.read, accountId);
    assert.deepEqual(
      [...steps.map(([name]) => String(name)), last!.name].toSorted(),
      ['0', '1', '2', '3', '4'],
      `a chain without a gap: ${JSON.stringify(steps)}`,
    );
  });
});

async function makeAccount(database: Database, name: string): Promise<string> {
  return (await openAccount(database.write, { name }, startMs)).id;
}

function update(controls: KeyControls): KeyChange {
  return { action: 'update', controls };
}

async function make(database: Database, accountId: string, controls: { readonly name: string }) {
  return (await insertKey(
    database.write,
    digestKey,
    { accountId, mode: 'live', ...controls },
    startMs,
  ))!;
}

async function search(database: Database, query: Partial<KeySearch>) {
  return (await searchKeys(database.read, { nowMs: startMs, limit: 50, cursor: null, ...query }))!;
}

function names({ keys }: Awaited<ReturnType<typeof search>>): string[] {
  return keys.map(({ name }) => name);
}
