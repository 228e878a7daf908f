// Batches and their files in both databases: who may take a line, and what is removed when.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { SentBatches } from '../../src/domain/batches/sent-batches.ts';
import { BatchFiles } from '../../src/domain/batches/batch-files.ts';
import { type Batch, BatchStore } from '../../src/domain/batches/batch-store.ts';
import { createSecret } from '../../src/lib/secrets.ts';
import { zeroMicros } from '../../src/lib/money.ts';
import { addAccount, startMs } from '../support/ledger/test-ledger.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const hourMs = 3_600_000;
const secrets = [createSecret('a'.repeat(32))] as const;
const owner = { accountId: 'acc', mode: 'live' } as const;

async function open(t: TestContext, store: StoreKind) {
  const database = await store.openDatabase(t);
  await addAccount(database, 'acc', ['k']);
  const living = ['one', 'two'].map((name) => ({
    owner: name,
    host: 'here',
    pid: 1,
    process_started_at_ms: 1,
    expires_at_ms: startMs + hourMs,
  }));
  await database.write.insertInto('hold_owners').values(living).execute();
  const batches = new BatchStore(database, secrets);
  await batches.create({
    id: 'batch_1',
    account_id: 'acc',
    mode: 'live',
    key_id: 'k',
    form: 'openai',
    endpoint: '/v1/responses',
    file_id: null,
    metadata: null,
    request: '{}',
    state: 'creating',
    owner: 'one',
    name_digest: null,
    fingerprint: null,
    counts: null,
    created_at_ms: startMs,
    expires_at_ms: startMs + 24 * hourMs,
    cancelled_at_ms: null,
    ended_at_ms: null,
    kept_until_ms: startMs + 48 * hourMs,
    due_at_ms: startMs,
  });
  const lines = ['a', 'b', 'c'].map((customId) => ({
    customId,
    requestId: `req_${customId}`,
    heldMicros: zeroMicros,
    likelyMicros: zeroMicros,
    text: `request ${customId}`,
    outcome: null,
    sentId: null,
  }));
  await batches.addLines('batch_1', 0, lines, startMs);
  await batches.noteTotals('batch_1', { lines: 3, bytes: 30 });
  assert.equal(await batches.start('batch_1'), true);
  const batch: Batch = (await batches.find(owner, 'openai', 'batch_1'))!;
  return { database, batches, batch, files: new BatchFiles(database, secrets) };
}

onEachStore((store) => {
  test('a line is taken by one process, and by another when that one has ended', async (t) => {
    const { database, batches, batch } = await open(t, store);
    const asked = { max: 2, dueMs: startMs };
    const both = await Promise.all([
      batches.take(batch, 'one', asked),
      batches.take(batch, 'two', asked),
    ]);
    const taken = both.flat();
    assert.equal(new Set(taken.map(({ line }) => line)).size, taken.length);
    const rest = await batches.take(batch, 'two', { max: 9, dueMs: startMs });
    assert.equal(taken.length + rest.length, 3);
    assert.deepEqual(await batches.take(batch, 'two', { max: 9, dueMs: startMs }), []);

    // Either may have been faster.
    const first = taken[0]!;
    const living = first.owner === 'one' ? 'two' : 'one';
    assert.equal(first.isTakenOver, false);
    await database.write.deleteFrom('hold_owners').where('owner', '=', first.owner).execute();
    const over = await batches.take(batch, living, { max: 9, dueMs: startMs });
    assert.ok(over.every((line) => line.isTakenOver && line.tries === 2));
    assert.ok(over.some(({ line }) => line === first.line));
    // The process was only paused.
    await batches.finish(first, 'succeeded', 'too late');
    const others = taken.filter((line) => line.owner === living);
    for (const line of [...over, ...others, ...rest])
      await batches.finish(line, 'succeeded', `result ${line.custom_id}`);
    assert.equal(await batches.endIfDone('batch_1', startMs), true);
    const results = [];
    for await (const text of batches.results('batch_1', 'output')) results.push(text);
    assert.deepEqual(results, ['result a\n', 'result b\n', 'result c\n']);
    const ended = (await batches.find(owner, 'openai', 'batch_1'))!;
    assert.deepEqual((await batches.countsOf(ended)).succeeded, { lines: 3, bytes: 27 });
  });

  test('ended batches and files are removed when their time is up', async (t) => {
    const { database, batches, batch, files } = await open(t, store);
    const pieces = async function* () {
      for (const byte of [1, 2, 3]) yield Buffer.alloc(200_000, byte);
    };
    const times = { nowMs: startMs, expiresAtMs: startMs + 2 * hourMs };
    const file = await files.put({ ...owner, name: 'f', pieces: pieces(), ...times });
    const read = [];
    for await (const piece of files.read(file)) read.push(piece);
    assert.equal(Buffer.concat(read).length, 600_000);
    assert.ok((await files.find(owner, file.id, startMs + hourMs)) !== null);
    assert.equal(await files.find(owner, file.id, startMs + 2 * hourMs), null);
    const broken = async function* () {
      yield Buffer.from('x');
      throw new Error('the upload broke off');
    };
    await assert.rejects(files.put({ ...owner, name: 'g', pieces: broken(), ...times }));
    assert.equal((await files.list(owner, { limit: 9 }, startMs))!.length, 1);
    const cut = files.read(file);
    await cut.next();
    await files.removeExpired(startMs + 2 * hourMs);
    await assert.rejects(cut.next(), { code: 'not_found' }, 'a part of a file is no file');
    assert.equal((await files.list(owner, { limit: 9 }, startMs))!.length, 0);
    assert.deepEqual(await database.read.selectFrom('batch_file_parts').selectAll().execute(), []);
    assert.equal(await files.bytesSince('acc', startMs - 1), 600_000, 'it counts in its day');
    await files.removeExpired(startMs + 24 * hourMs);
    await batches.removeExpired(startMs + 49 * hourMs);
    assert.notEqual(await batches.find(owner, 'openai', batch.id), null, 'it has not ended');
    for (const line of await batches.take(batch, 'one', { max: 9, dueMs: startMs }))
      await batches.finish(line, 'expired', 'expired');
    await batches.endIfDone(batch.id, startMs);
    await batches.removeExpired(startMs + 49 * hourMs);
    for (const table of ['batch_files', 'batch_file_parts', 'batches', 'batch_lines'] as const)
      assert.deepEqual(await database.read.selectFrom(table).selectAll().execute(), [], table);
  });

  test('a batch at a provider is handled by one process, and its lines by no queue', async (t) => {
    const { database, batches, batch } = await open(t, store);
    const sent = new SentBatches(database);
    const row = {
      id: 'sent_1',
      batch_id: batch.id,
      provider: 'p',
      model: 'm',
      format: 'chat',
      state: 'waiting',
      created_at_ms: startMs,
      due_at_ms: startMs,
    } as const;
    await sent.add([row, { ...row, id: 'sent_2', due_at_ms: startMs + hourMs }]);
    const toSend = ['d', 'e'].map((customId) => ({
      customId,
      requestId: `req_${customId}`,
      heldMicros: zeroMicros,
      likelyMicros: zeroMicros,
      text: `request ${customId}`,
      outcome: null,
      sentId: 'sent_1',
    }));
    await batches.addLines(batch.id, 3, toSend, startMs);
    const isForced = { max: 9, dueMs: startMs, isForced: true };
    const own = [
      ...(await batches.take(batch, 'one', { max: 9, dueMs: startMs })),
      ...(await batches.take(batch, 'two', isForced)),
    ];
    assert.deepEqual(new Set(own.map(({ line }) => line)), new Set([0, 1, 2]));

    const [due, ...others] = await sent.due(startMs, 9);
    assert.deepEqual([due!.id, others], ['sent_1', []]);
    const claims = await Promise.all([
      sent.claim(due!, 'one', startMs),
      sent.claim(due!, 'two', startMs),
    ]);
    const [claimed, ...rest] = claims.filter((claim) => claim !== null);
    assert.deepEqual(rest, []);
    assert.deepEqual(await sent.due(startMs, 9), []);
    await database.write.deleteFrom('hold_owners').where('owner', '=', claimed!.owner).execute();
    const again = await sent.claim((await sent.due(startMs, 9))[0]!, 'three', startMs);
    assert.equal(await sent.change(claimed!, { tries: 9 }), false, 'that process was only paused');
    await sent.giveUp(again!, startMs + 1);
    const given = await sent.claim({ ...again!, id: 'sent_1' }, 'four', startMs + 1);
    await sent.giveUp(given!, startMs);
    const [{ due_at_ms: keptMs } = { due_at_ms: 0 }] = await sent.due(startMs + 1, 1);
    assert.equal(keptMs, startMs + 1, 'never earlier');
    const last = await sent.claim(again!, 'four', startMs + 1);
    assert.equal(await sent.change(last!, { state: 'sent', owner: null }), true);
    await sent.hurry(batch.id, 1);
    assert.equal((await sent.due(1, 9)).length, 2);

    const numbers = async () => (await Array.fromAsync(sent.lines(due!))).map(({ line }) => line);
    assert.deepEqual(await numbers(), [3, 4]);
    const line = (await sent.line(due!, 3))!;
    assert.equal(await batches.textOf(line), 'request d');
    await batches.finish(line, 'succeeded', 'result d');
    assert.equal(await sent.line(due!, 3), null);
    assert.equal(await batches.hasOwnLines(batch.id), true);
    for (const each of own) await batches.finish({ ...each, owner: 'two' }, 'expired', 'x');
    for (const each of own) await batches.finish({ ...each, owner: 'one' }, 'expired', 'x');
    assert.equal(await batches.hasOwnLines(batch.id), false);
    await sent.giveBack((await sent.line(due!, 4))!, 'req_new');
    assert.deepEqual(await numbers(), []);
    const [back] = await batches.take(batch, 'three', { max: 9, dueMs: startMs });
    assert.deepEqual([back!.line, back!.request_id, back!.isTakenOver], [4, 'req_new', false]);
    await batches.remove(batch.id);
    assert.deepEqual(await database.read.selectFrom('sent_batches').selectAll().execute(), []);
  });
});
