// Keys as they are listed and changed, on each store.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAccount } from '../../src/accounts/manage-accounts.ts';
import type { Database } from '../../src/db/database.ts';
import { keyStateOf, listKeys, searchKeys, type KeySearch } from '../../src/keys/list-keys.ts';
import { createKey, revokeKey, setKeyDisabled, updateKey } from '../../src/keys/manage-keys.ts';
import { createLedgers } from '../../src/ledger/create-ledgers.ts';
import { micros } from '../../src/lib/money.ts';
import { startMs } from '../support/ledger/test-ledger.ts';
import { onEachStore, run } from './stores.ts';
import { digestKeyFrom } from '../../src/keys/key-text.ts';
import { createSecret } from '../../src/lib/secrets.ts';

const digestKey = digestKeyFrom(createSecret('a secret of these tests'));

onEachStore((store) => {
  test('keys are searched by name, hint and id, in either case, with no letter standing for another', async (t) => {
    const database = await store.openDatabase(t);
    const accountId = await createAccount(database, { name: 'A' }, createLedgers);
    const ci = await make(database, accountId, { name: 'CI 100%' });
    const laptop = await make(database, accountId, { name: 'Laptop_1' });
    const other = await make(database, await createAccount(database, { name: 'B' }, createLedgers), { name: 'laptop of B' });
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

  test('a key is in the state that its search says, and states can be combined', async (t) => {
    const database = await store.openDatabase(t);
    const accountId = await createAccount(database, { name: 'A' }, createLedgers);
    const ids: Record<string, string> = {};
    for (const name of ['active', 'later', 'disabled', 'expired', 'revoked'])
      ids[name] = (await make(database, accountId, { name })).id;
    const nowMs = startMs;
    const set = (name: string, columns: string) => run(database, `update api_keys set ${columns} where id = '${ids[name]}'`);
    await set('later', `expires_at_ms = ${nowMs + 1}`);
    await set('expired', `expires_at_ms = ${nowMs}`);
    await set('disabled', `disabled_at_ms = 1, expires_at_ms = ${nowMs}`);
    await set('revoked', `revoked_at_ms = 1, disabled_at_ms = 1`);
    const listed = await listKeys(database, accountId);
    for (const key of listed) assert.equal(keyStateOf(key, nowMs), key.name === 'later' ? 'active' : key.name);
    const inStates = async (...states: NonNullable<KeySearch['states']>) =>
      names(await search(database, { accountId, states, nowMs })).toSorted();
    assert.deepEqual(await inStates('active'), ['active', 'later']);
    assert.deepEqual(await inStates('expired'), ['expired']);
    assert.deepEqual(await inStates('disabled'), ['disabled']);
    assert.deepEqual(await inStates('revoked'), ['revoked']);
    assert.deepEqual(await inStates('disabled', 'expired'), ['disabled', 'expired']);
  });

  test('pages of keys are complete and newest first, also where several were made in one millisecond', async (t) => {
    const database = await store.openDatabase(t);
    const accountId = await createAccount(database, { name: 'A' }, createLedgers);
    for (const name of ['a', 'b', 'c', 'd', 'e']) await make(database, accountId, { name });
    await run(database, `update api_keys set created_at_ms = 5 where name in ('b', 'c', 'd')`);
    const all = (await listKeys(database, accountId)).map(({ name }) => name);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof search>> = await search(database, { accountId, limit: 2, cursor });
      seen.push(...names(page));
      cursor = page.next;
    } while (cursor !== null);
    assert.deepEqual(seen, all);
    for (const wrong of ['x', '5', '5|a b', `5|${'a'.repeat(65)}`])
      assert.equal(await searchKeys(database, { accountId, nowMs: 0, limit: 2, cursor: wrong }), null);
  });

  test("a change says what was before; another account's key, and a revoked one, stay as they are", async (t) => {
    const database = await store.openDatabase(t);
    const accountId = await createAccount(database, { name: 'A' }, createLedgers);
    const { id: keyId } = await make(database, accountId, { name: 'a' });
    const place = { keyId, accountId };
    const update = await updateKey(database, place, { dailyCapMicros: micros(5), models: ['m'] });
    assert.ok(update.kind === 'changed');
    assert.deepEqual([update.before.daily_cap_micros, update.after.daily_cap_micros, update.after.models], [null, 5, ['m']]);
    for (const wrong of [{ keyId, accountId: 'acc_other' }, { keyId: 'key_none' }]) {
      assert.deepEqual(await updateKey(database, wrong, { name: 'taken' }), { kind: 'unknown' });
      assert.deepEqual(await revokeKey(database, wrong), { kind: 'unknown' });
      assert.deepEqual(await setKeyDisabled(database, wrong, true), { kind: 'unknown' });
    }
    assert.ok((await setKeyDisabled(database, place, true)).kind === 'changed');
    const revoked = await revokeKey(database, place);
    assert.ok(revoked.kind === 'changed');
    const key = revoked.after;
    assert.ok(key.revoked_at !== null && key.disabled_at !== null && key.name === 'a');
    assert.deepEqual(await updateKey(database, place, { name: 'b' }), { kind: 'revoked', key });
    assert.deepEqual(await setKeyDisabled(database, place, false), { kind: 'revoked', key });
    assert.deepEqual(await revokeKey(database, place), { kind: 'revoked', key });
  });

  test('of two changes at the same time each says what it came upon', async (t) => {
    const database = await store.openDatabase(t);
    const accountId = await createAccount(database, { name: 'A' }, createLedgers);
    const { id: keyId } = await make(database, accountId, { name: '0' });
    const outcomes = await Promise.all(
      ['1', '2', '3', '4'].map((name) => updateKey(database, { keyId }, { name, requestsPerMinute: Number(name) })),
    );
    const steps = outcomes.map((outcome) => (outcome.kind === 'changed' ? [outcome.before.name, outcome.after.name] : []));
    const [last] = await listKeys(database, accountId);
    assert.deepEqual(
      [...steps.map(([name]) => String(name)), last!.name].toSorted(),
      ['0', '1', '2', '3', '4'],
      `a chain without a gap: ${JSON.stringify(steps)}`,
    );
  });
});

async function make(database: Database, accountId: string, controls: { readonly name: string }) {
  return (await createKey(database, digestKey, { accountId, mode: 'live', ...controls }))!;
}

async function search(database: Database, query: Partial<KeySearch>) {
  return (await searchKeys(database, { nowMs: startMs, limit: 50, cursor: null, ...query }))!;
}

function names({ keys }: Awaited<ReturnType<typeof search>>): string[] {
  return keys.map(({ name }) => name);
}
