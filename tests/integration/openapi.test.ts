// The descriptions of both APIs are what the gateway does: routes, methods, authentication.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { adminCalls, dashboardCalls } from '../../src/management/contract/contract.ts';
import { adminOperations } from '../../src/reference/reference.ts';
import { dashboardOperations } from '../../src/reference/dashboard-operations.ts';
import { publicOperations } from '../../src/reference/public-operations.ts';
import type { Operation } from '../../src/reference/operation.ts';
import { streams } from '../../src/management/streams.ts';
import { metricsToken, startGateway } from '../support/gateway.ts';
import { ok } from '../support/http.ts';

const gateway = await startGateway({ metrics: { token: metricsToken } });
after(() => gateway.stop());

type Document = {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
};
type DocumentOperation = {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
};

for (const path of ['/openapi.json', '/openapi-dashboard.json']) {
  test(`anybody may read ${path}, and a client that knows it gets a 304`, async () => {
    const reply = await ok(gateway.get(path));
    assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(reply.json<Document>().openapi, '3.1.1');
    const etag = reply.headers.etag!;
    assert.match(etag, /^"[\w-]{22}"$/);
    const again = await gateway.get(path, { headers: { 'if-none-match': etag } });
    assert.deepEqual([again.status, again.text], [304, '']);
  });
}

test('the document names the public address and the name of the service', async () => {
  const named = await startGateway({
    server: { public_url: 'https://api.example.com' },
    service: { name: 'Acme' },
  });
  try {
    const reply = await named.get('/openapi.json');
    assert.deepEqual(reply.json<Document>().servers, [{ url: 'https://api.example.com' }]);
    assert.match(reply.text, /"x-acme-cost-micros"/);
    assert.doesNotMatch(reply.text, /x-service-/i);
  } finally {
    await named.stop();
  }
});

/** A path that matches the pattern of a route. */
const fill = (pattern: string) => pattern.replace(/\*$/, 'x').replaceAll(/:\w+/g, 'x');
const operations = Object.entries<Operation>(publicOperations).map(([name, operation]) => {
  const [method, url] = name.split(' ') as [string, string];
  return { name, method, path: fill(url), operation };
});

test('every described path of the public API has exactly the described methods', async () => {
  for (const [path, described] of Map.groupBy(operations, (one) => one.path)) {
    const reply = await gateway.get(path, { method: 'PUT' });
    // `/v1/models/x` and `/v1/models/info` both match `/v1/models/*`.
    const methods = new Set(described.map(({ method }) => method));
    assert.equal(reply.status, 405, path);
    assert.equal(reply.headers.allow, [...methods].join(', '), path);
  }
});

for (const { name, method, path, operation } of operations) {
  const needsKey = ['key', 'key-or-query', 'google-key', 'metrics-token'].includes(
    operation.access,
  );
  test(`${name} ${needsKey ? 'needs' : 'does not need'} a key, as described`, async () => {
    const body = method === 'POST' ? {} : undefined;
    const reply = await gateway.get(path, { method, ...(body && { body }) });
    assert.equal(reply.status === 401, needsKey, `${reply.status} ${reply.text}`);
    if (operation.access !== 'key-or-query' || method !== 'POST') return;
    const wrong = await gateway.post(`${path}?api_key=tg_test_wrong`, { body: {} });
    assert.match(wrong.error.message, /wrong/);
  });
  if (!operation.access.startsWith('optional-')) continue;
  test(`${name} refuses a wrong key, as described`, async () => {
    assert.equal((await gateway.get(path, { method, key: 'tg_test_wrong' })).status, 401);
  });
}

test('GET /v1/usage takes exactly the described parameters', async () => {
  const { key } = await gateway.makeKey();
  const { message } = (await gateway.get('/v1/usage?unknown=1', { key })).error;
  const [, listed] = message.split('It takes ');
  const named = [...listed!.matchAll(/`(\w+)`/g)].map((match) => match[1]);
  const described = publicOperations['GET /v1/usage'].parameters.map((parameter) => parameter.name);
  assert.deepEqual(described, named);
});

test('every call of the admin API is described, exists and needs an admin key', async () => {
  const described = adminOperations();
  assert.deepEqual(
    Object.keys(described),
    Object.keys(adminCalls).map((name) => name.replace(' ', ' /admin/v1')),
  );
  for (const [name, { access }] of Object.entries(described)) {
    const [method, url] = name.split(' ') as [string, string];
    const reply = await gateway.get(fill(url), { method });
    assert.deepEqual(
      [access, reply.status, reply.error.code],
      ['admin-key', 401, 'invalid_api_key'],
    );
  }
  const { paths } = (await gateway.get('/openapi.json')).json<Document>();
  assert.ok(paths['/admin/v1/accounts/{account}/adjustments']);
});

test('every call of the dashboard’s API is described and exists', async () => {
  const described = Object.keys(dashboardOperations());
  const served = [...Object.keys(dashboardCalls), ...Object.keys(streams)];
  assert.deepEqual(
    described.toSorted(),
    served.map((name) => name.replace(' ', ' /dashboard-api')).toSorted(),
  );
  for (const name of described) {
    const [method, url] = name.split(' ') as [string, string];
    const reply = await gateway.get(fill(url).replaceAll(':', ''), {
      method,
      ...(method !== 'GET' && { body: {} }),
    });
    assert.doesNotMatch(reply.text, /There is no (?:GET|POST|PATCH|DELETE) /, name);
  }
});
