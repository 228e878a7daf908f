// CORS: which web pages may call the API (`server.cors_origins`), on every code path that answers,
// and never the dashboard's API.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { streams } from '../../src/management/streams.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';

const page = 'https://app.example.com';
const local = 'http://localhost:5173';
const app = 'app://obsidian.md';
const sentHeaders = 'authorization, content-type, x-stainless-lang';
const names = ['models', 'models/nobody', 'balance', 'usage?x=1', 'nothing', 'responses', '%ff'];
const paths = names.map((name) => `/v1/${name}`);
const served = ['/dashboard-api/session', '/healthz', '/readyz', '/metrics', '/', '/assets/x.js'];
const beside = [...served, '/nothing', '/webhooks/stripe'];

function allowed({ headers }: Reply): string | undefined {
  return headers['access-control-allow-origin'];
}

function corsHeaders({ headers }: Reply): string[] {
  return Object.keys(headers).filter(
    (name) =>
      name.startsWith('access-control-') ||
      // Answers that are compressed differ by another header too.
      (name === 'vary' && !headers.vary!.startsWith('accept-encoding')),
  );
}

function preflight(
  gateway: TestGateway,
  path: string,
  origin: string,
  method = 'POST',
): Promise<Reply> {
  const headers = {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': sentHeaders,
  };
  return gateway.get(path, { method: 'OPTIONS', headers });
}

describe('without server.cors_origins', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.stop());

  test('no answer has a CORS header, and a preflight is a 405', async () => {
    for (const path of [...paths, ...beside]) {
      const reply = await gateway.get(path, { headers: { origin: page } });
      assert.deepEqual(corsHeaders(reply), [], path);
    }
    const reply = await preflight(gateway, '/v1/responses', page);
    assert.deepEqual([reply.status, corsHeaders(reply)], [405, []]);
  });
});

describe('with allowed origins', () => {
  let gateway: TestGateway;
  let key: string;
  before(async () => {
    gateway = await startGateway({ server: { cors_origins: [page, local, app] } });
    ({ key } = await gateway.makeKey());
  });
  after(() => gateway.stop());

  test('a preflight is answered without a key, whatever the path and the method', async () => {
    for (const [path, method] of [
      ['/v1/responses', 'POST'],
      ['/v1/models', 'GET'],
      ['/v1/files', 'POST'],
      ['/v1/responses/resp_1', 'DELETE'],
    ] as const) {
      const reply = await preflight(gateway, path, page, method);
      assert.deepEqual([reply.status, reply.text, allowed(reply)], [204, '', page], path);
      assert.ok(reply.headers['access-control-allow-methods']!.split(', ').includes(method));
      assert.equal(reply.headers['access-control-allow-headers'], sentHeaders);
      assert.equal(reply.headers['access-control-max-age'], '7200');
      assert.equal(reply.headers['access-control-allow-credentials'], undefined);
    }
    assert.equal((await preflight(gateway, '/v1/responses', page)).headers.vary, 'Origin');
    assert.equal(allowed(await preflight(gateway, '/v1/responses', app)), app);
  });

  test('another origin gets no CORS header', async () => {
    const alike = [`${page}.evil.example`, 'http://app.example.com', `${page}:8443`];
    for (const origin of ['https://evil.example', ...alike, 'null']) {
      const reply = await preflight(gateway, '/v1/responses', origin);
      assert.deepEqual([reply.status, corsHeaders(reply)], [405, ['vary']], origin);
      const answer = await gateway.get('/v1/models', { headers: { origin } });
      assert.deepEqual(corsHeaders(answer), ['vary'], origin);
    }
  });

  test('answers and errors alike can be read, with the headers that clients look at', async () => {
    for (const path of paths) {
      const reply = await gateway.get(path, { headers: { origin: local } });
      assert.equal(allowed(reply), local, path);
      assert.equal(reply.headers.vary, 'Origin');
      const exposed = reply.headers['access-control-expose-headers']!.split(', ');
      const readable = ['X-Service-Cost-Micros', 'X-Service-Cache', 'x-request-id', 'retry-after'];
      for (const name of [...readable, 'x-ratelimit-remaining-tokens'])
        assert.ok(exposed.includes(name), name);
    }
    const cut = { key, headers: { origin: page }, body: '{' };
    const large = await gateway.post('/v1/responses', cut);
    assert.deepEqual([large.status, allowed(large)], [400, page]);
  });

  test('every code path that answers sends the CORS headers to the requesting origin', async () => {
    for (const { path, body } of endpoints) {
      for (const stream of [false, true]) {
        // The first runs; the others are cache hits, each by a shorter path.
        const evil = 'https://evil.example';
        const sent = body({ stream, temperature: 0 });
        for (const origin of [page, page, page, page, page, local, evil, page]) {
          const reply = await gateway.post(path, { key, headers: { origin }, body: sent });
          assert.equal(reply.status, 200, reply.text);
          assert.equal(allowed(reply), origin === evil ? undefined : origin, path);
        }
        const plain = await gateway.post(path, { key, body: sent });
        assert.deepEqual(corsHeaders(plain), ['vary']);
      }
    }
  });

  test("the dashboard's API, its playground and everything outside the API send no CORS header", async () => {
    const ofStreams = Object.keys(streams).map(
      (name) => `/dashboard-api${name.split(' ')[1]!.replaceAll(/:\w+/g, 'x')}`,
    );
    for (const path of [...beside, ...ofStreams]) {
      for (const reply of [
        await gateway.get(path, { headers: { origin: page } }),
        await preflight(gateway, path, page),
      ]) {
        assert.deepEqual(corsHeaders(reply), [], path);
      }
    }
  });
});

test('`*` lets the pages of any origin call, without credentials', async (t) => {
  const gateway = await startGateway({ server: { cors_origins: ['*'] } });
  t.after(() => gateway.stop());
  for (const origin of [page, 'null']) {
    const reply = await gateway.get('/v1/models', { headers: { origin } });
    assert.deepEqual([allowed(reply), reply.headers.vary], ['*', undefined]);
    assert.equal(reply.headers['access-control-allow-credentials'], undefined);
    assert.equal((await preflight(gateway, '/v1/messages', origin)).status, 204);
  }
  const own = await gateway.get('/dashboard-api/session', { headers: { origin: page } });
  assert.deepEqual(corsHeaders(own), []);
});
