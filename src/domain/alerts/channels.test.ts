import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hostileUrls } from '../../../tests/support/hostile-urls.ts';
import type { OpenConnector } from '../../lib/checked-connector.ts';
import { systemClock } from '../../lib/clock.ts';
import { alertEvents } from '../../terms/alert-events.ts';
import { Channels } from './channels.ts';

/** Channels whose names resolve to these addresses, one list for each connection. */
function open(answers: readonly (readonly string[])[]) {
  const connected: string[] = [];
  let asked = 0;
  const openConnector: OpenConnector = (addresses) => {
    connected.push(...addresses);
    return (_options, callback) => callback(new Error('no connection in this test'), null);
  };
  const channels = new Channels({
    allowedHosts: [],
    sendMail: null,
    publicUrl: () => 'https://gate.example',
    resolve: async () => answers[Math.min(asked++, answers.length - 1)]!,
    openConnector,
    clock: systemClock,
  });
  return { channels, connected };
}

const event = { id: 'evt_1', type: 'test', data: '{"endpoint_id":"e"}', createdAtMs: 1 } as const;
const send = (channels: Channels, address: string, account_id: string | null = 'acc') =>
  channels.send(
    { id: 'end_1', kind: 'webhook', account_id, address, secret: 'whsec_AQEB' },
    event,
    new AbortController().signal,
  );

test('an account’s webhook to an address that leads inside is refused, and never connected', async () => {
  const { channels, connected } = open([['127.0.0.1']]);
  for (const url of hostileUrls) {
    assert.ok(channels.addressProblem(url, 'acc'), url);
    const parsed = URL.parse(url);
    if (parsed) await send(channels, parsed.href);
  }
  assert.deepEqual(connected, []);
});

test('a name is resolved anew for each connection, which goes where was checked', async () => {
  const { channels, connected } = open([['93.184.215.14'], ['10.0.0.1'], ['93.184.215.14', '::1']]);
  for (let attempt = 0; attempt < 3; attempt++) await send(channels, 'https://hooks.example/x');
  assert.deepEqual(connected, ['93.184.215.14']);
});

test('an operators’ webhook may lead inside', async () => {
  const { channels, connected } = open([['10.0.0.1']]);
  assert.equal(channels.addressProblem('http://alerts.internal:9000/x', null), null);
  await send(channels, 'http://alerts.internal:9000/x', null);
  assert.deepEqual(connected, ['10.0.0.1']);
});

test('docs/webhooks.md lists every event as the table has it', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/webhooks.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `([\w.]+)` +\| ([\w, ]+?) +\| (.+?) +\| (.+?) +\|$/gm)];
  const listed = rows.map(([, type, who, when, fields]) => [type, who, when, fields]);
  const expected = Object.entries(alertEvents)
    .filter(([type]) => type !== 'test')
    .map(([type, { heardBy, when, data }]) => [
      type,
      heardBy.map((whom) => (whom === 'accounts' ? 'owners' : whom)).join(', '),
      when,
      Object.keys(data.properties)
        .map((name) => `\`${name}\``)
        .join(', '),
    ]);
  assert.deepEqual(listed, expected);
});
