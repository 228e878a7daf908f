import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientGroupOf, createAddressList, isAddressRange } from './addresses.ts';

test('IPv4 and IPv6 addresses and ranges are accepted; anything else is refused', () => {
  const ranges = [
    '192.0.2.7',
    '10.0.0.0/8',
    '0.0.0.0/0',
    '2001:db8::/32',
    '::1',
    '::/0',
    '::ffff:10.0.0.0/104',
  ];
  const others = [
    '',
    '10.0.0',
    '10.0.0.0/33',
    '2001:db8::/129',
    '10.0.0.0/',
    '10.0.0.0/-1',
    'localhost',
    'fe80::1%eth0',
    '::ffff:10.0.0.0/80',
  ];
  for (const text of ranges) assert.ok(isAddressRange(text), text);
  for (const text of others) assert.ok(!isAddressRange(text), text);
  assert.throws(() => createAddressList(['10.0.0.0/33']), RangeError);
});

test('a list matches its ranges, and IPv4 addresses in IPv6 notation', () => {
  const list = createAddressList([
    '192.0.2.0/24',
    '2001:db8:1::/48',
    '198.51.100.7',
    '::ffff:203.0.113.0/120',
  ]);
  const inside = [
    '192.0.2.0',
    '192.0.2.255',
    '::ffff:192.0.2.9',
    '::ffff:c000:209',
    '0:0:0:0:0:ffff:192.0.2.9',
    '2001:db8:1:ffff::5',
  ];
  const outside = [
    '192.0.3.0',
    '2001:db8:2::1',
    '198.51.100.8',
    '::192.0.2.9',
    '',
    'unknown',
    '192.0.2.9:443',
    '<script>',
  ];
  for (const address of [...inside, '198.51.100.7', '203.0.113.77', '::ffff:203.0.113.77'])
    assert.ok(list.includes(address), address);
  for (const address of outside) assert.ok(!list.includes(address), address);
  assert.ok(createAddressList(['fe80::/10']).includes('fe80::1%eth0'));
});

test('one client is one IPv4 address or one IPv6 /64', () => {
  assert.equal(clientGroupOf('192.0.2.9'), '192.0.2.9');
  assert.equal(clientGroupOf('::ffff:192.0.2.9'), '192.0.2.9');
  const network = clientGroupOf('2001:db8:1:2:3:4:5:6');
  assert.equal(network, '2001:db8:1:2::/64');
  assert.equal(clientGroupOf('2001:db8:1:2::1'), network);
  assert.notEqual(clientGroupOf('2001:db8:1:3::1'), network);
  assert.equal(clientGroupOf('::1'), '0:0:0:0::/64');
  assert.equal(clientGroupOf('x'.repeat(1_000)).length, 64);
});
