// Security headers on every answer, on every code path.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';

type Headers = Readonly<Record<string, unknown>>;

test('no answer on any code path may be cached or sniffed as another type', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.stop());
  const { key } = await gateway.makeKey();
  const check = (headers: Headers, what: string) => {
    assert.match(String(headers['cache-control']), /^no-store(, no-transform)?$/, what);
    assert.equal(headers['x-content-type-options'], 'nosniff', what);
    assert.equal(headers['strict-transport-security'], undefined, what);
  };
  for (const path of [
    '/v1/models',
    '/v1/balance',
    '/v1/usage',
    '/healthz',
    '/readyz',
    '/metrics',
    '/nothing',
    '/v1/%ff',
    '/',
  ]) {
    check((await gateway.get(path, { key })).headers, path);
  }
  for (const { path, body } of endpoints) {
    check((await gateway.post(path, { body: body() })).headers, 'no key');
    check((await gateway.post(path, { key, body: '{' })).headers, 'no JSON');
    // The first runs; the others are cache hits, each by a shorter path.
    for (const stream of [false, true])
      for (let time = 0; time < 5; time++) {
        const reply = await ok(gateway.post(path, { key, body: body({ stream, temperature: 0 }) }));
        check(reply.headers, `${path} ${time}`);
      }
  }
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  socket.write('nonsense\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  assert.match(
    answer.toString(),
    /^HTTP\/1\.1 400 [^]*cache-control: no-store\r\nx-content-type-options: nosniff\r\n/,
  );
});

test('HSTS is sent when the public address is https', async (t) => {
  const gateway = await startGateway({ server: { public_url: 'https://llm.example.com' } });
  t.after(() => gateway.stop());
  const { key } = await gateway.makeKey();
  for (const path of ['/', '/v1/models', '/dashboard-api/session', '/nothing']) {
    const { headers } = await gateway.get(path, { headers: { accept: 'text/html' } });
    assert.equal(headers['strict-transport-security'], 'max-age=31536000', path);
  }
  const [{ path, body }] = endpoints as [(typeof endpoints)[number]];
  for (let time = 0; time < 5; time++) {
    const { headers } = await gateway.post(path, { key, body: body({ temperature: 0 }) });
    assert.equal(headers['strict-transport-security'], 'max-age=31536000');
  }
});
