import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readPollingAddress, readResultAddress } from './hosts.ts';

const base = 'https://api.bfl.ai/v1';

describe('only the provider’s hosts may be polled with the key', () => {
  const cases: [address: unknown, baseUrl: string, origin: string | null][] = [
    ['https://api.bfl.ai/v1/get_result?id=1', base, 'https://api.bfl.ai'],
    ['https://api.us1.bfl.ai/v1/get_result?id=1', base, 'https://api.us1.bfl.ai'],
    ['https://API.EU.BFL.AI/v1', base, 'https://api.eu.bfl.ai'],
    ['http://127.0.0.1:8080/poll', 'http://127.0.0.1:8080/v1', 'http://127.0.0.1:8080'],
    ['http://127.0.0.1:8081/poll', 'http://127.0.0.1:8080/v1', null],
    ['http://api.bfl.ai/v1/get_result?id=1', base, null],
    ['https://api.bfl.ai:8443/v1', base, null],
    ['https://bfl.ai.evil.com/', base, null],
    ['https://evilbfl.ai/', base, null],
    ['https://evil.com/.bfl.ai', base, null],
    ['https://evil.com\\@api.bfl.ai/', base, null],
    ['https://key@api.bfl.ai/v1', base, null],
    ['https://api.bfl.ai@evil.com/', base, null],
    ['https://bfldeliverysc.blob.core.windows.net/x', base, null],
    ['//api.bfl.ai/v1', base, null],
    ['file:///etc/passwd', base, null],
    ['', base, null],
    [null, base, null],
  ];
  for (const [address, baseUrl, origin] of cases) {
    test(`${String(address)} from ${baseUrl}: ${origin ?? 'no'}`, () => {
      assert.equal(readPollingAddress(address, baseUrl)?.origin ?? null, origin);
    });
  }
});

test('finished images may also be in the rented storage, which gets no key', () => {
  const sample = 'https://bfldeliverysc.blob.core.windows.net/results/1/sample.png?sig=a%2Fb';
  assert.deepEqual(readResultAddress(sample, base), {
    origin: 'https://bfldeliverysc.blob.core.windows.net',
    path: '/results/1/sample.png?sig=a%2Fb',
  });
  assert.equal(
    readResultAddress('https://delivery-eu1.bfl.ai/x', base)?.origin,
    'https://delivery-eu1.bfl.ai',
  );
  for (const other of [
    'https://evil.blob.core.windows.net/x',
    'http://169.254.169.254/',
    'https://10.0.0.1/x',
  ]) {
    assert.equal(readResultAddress(other, base), null, other);
  }
});
