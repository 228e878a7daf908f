import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Entry, sayEntry, sentences } from './audit-sentences.ts';

const entry = (action: string, fields: Partial<Entry> = {}): Entry => ({
  id: 'aud_1',
  created_at: '2026-11-21T12:00:00.000Z',
  actor: { kind: 'user', id: 'usr_1', name: 'Ada', address: null },
  account_id: 'acc_1',
  action,
  subject: 'key_1',
  before: null,
  after: null,
  names: {},
  ...fields,
});
const say = (action: string, fields?: Partial<Entry>) => {
  const { who, what, it, details } = sayEntry(entry(action, fields));
  return [`${who} ${what.replace('{it}', it)}`, details];
};

test('every action has a sentence, whatever its entry has', () => {
  const full = new Proxy({}, { get: () => 'x', getOwnPropertyDescriptor: () => undefined });
  for (const [action, sentence] of Object.entries(sentences))
    for (const [after, before] of [
      [full, full],
      [{}, {}],
    ] as const) {
      const what = typeof sentence === 'string' ? sentence : sentence(after, before, entry(action));
      assert.match(what, /^[a-z]+ed |^[a-z]+ /, action);
      assert.doesNotMatch(what, /undefined|null|NaN|_|\[object|\.$/, action);
      assert.ok(what.split('{it}').length <= 2, action);
    }
});

test('a sentence names who did what to what, with its name now', () => {
  const names = { key_1: 'Production backend', usr_2: 'bob@example.com' };
  const disabled = { before: { disabled_at: null }, after: { disabled_at: '2026' }, names };
  assert.equal(say('key.disable', disabled)[0], 'Ada turned off the key Production backend');
  const given = { before: { owner: null }, after: { owner: 'usr_2' }, names };
  assert.deepEqual(say('key.assign', given), [
    'Ada gave the key Production backend to bob@example.com',
    '',
  ]);
  const credit = { amount_micros: 5_000_000, mode: 'test', note: 'hi' };
  assert.deepEqual(
    say('account.credit', { subject: 'acc_1', after: credit, names: { acc_1: 'Acme' } }),
    ['Ada credited $5.00 of play money to Acme', ''],
  );
});

test('what changed is said before and after; what is gone has the name that it had', () => {
  assert.deepEqual(
    say('key.update', {
      before: { name: 'a', daily_cap_micros: null },
      after: { name: 'b', daily_cap_micros: 5_000_000 },
    }),
    ['Ada changed the key b', 'name from a to b; daily cap from none to $5.00'],
  );
  const removed = { before: { address: 'https://example.com/h' } };
  assert.deepEqual(say('alert.remove', removed), [
    'Ada removed the alert endpoint https://example.com/h',
    '',
  ]);
});

test('a key without a name is told by its id', () => {
  assert.equal(say('key.create', { names: { key_1: '' } })[0], 'Ada created the key key_1');
});

test('an action of a later version is told too', () => {
  assert.equal(say('key.paint')[0], 'Ada did key.paint to key_1');
});
