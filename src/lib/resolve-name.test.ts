import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import test, { after } from 'node:test';
import { createResolve } from './resolve-name.ts';

const [typeA, typeAaaa] = [1, 28];
/** The name server's answers, by name and type. It never answers for a name that is not here. */
const zone: Readonly<Record<string, Readonly<Record<number, readonly number[][]>>>> = {
  'both.test': {
    [typeA]: [
      [93, 184, 215, 14],
      [127, 0, 0, 1],
    ],
    [typeAaaa]: [[0x20, 1, ...Array<number>(13).fill(0), 1]],
  },
  'old.test': { [typeA]: [[10, 0, 0, 1]] },
  'none.test': {},
};
const queries: string[] = [];
const server = createSocket('udp4', (query, client) => {
  const labels: string[] = [];
  let at = 12;
  for (; query[at] !== 0; at += query[at]! + 1)
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
  const name = labels.join('.').toLowerCase();
  const type = query.readUInt16BE(at + 1);
  queries.push(`${name} ${type}`);
  const answers = zone[name]?.[type] ?? [];
  if (!zone[name]) return;
  const head = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, answers.length, 0, 0, 0, 0]);
  const records = answers.map((data) =>
    Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length, ...data]),
  );
  server.send(
    Buffer.concat([head, query.subarray(12, at + 5), ...records]),
    client.port,
    client.address,
  );
});
const notAllowed = { isAllowed: false, signal: new AbortController().signal };

server.bind(0, '127.0.0.1');
await once(server, 'listening');
const resolve = createResolve([`127.0.0.1:${server.address().port}`]);
after(() => server.close());

test('all IPv4 and IPv6 addresses are returned', async () => {
  assert.deepEqual((await resolve('both.test', notAllowed)).toSorted(), [
    '127.0.0.1',
    '2001::1',
    '93.184.215.14',
  ]);
  assert.deepEqual(await resolve('old.test', notAllowed), ['10.0.0.1']);
  assert.deepEqual(await resolve('none.test', notAllowed), []);
});

test('an abort ends the wait for a silent name server', async () => {
  const caller = new AbortController();
  const waiting = resolve('silent.test', { ...notAllowed, signal: caller.signal });
  while (!queries.includes(`silent.test ${typeA}`)) await new Promise(setImmediate);
  caller.abort();
  assert.deepEqual(await waiting, []);
});

test('only names that the operator allowed use the system’s resolver', async () => {
  const countBefore = queries.length;
  assert.ok((await resolve('localhost', { ...notAllowed, isAllowed: true })).includes('127.0.0.1'));
  assert.equal(queries.length, countBefore);
});
