// Which answers of the dashboard's API are compressed, and which never are.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { after, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { signIn } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';

const browserEncodings = 'gzip, deflate, br, zstd';

const gateway = await startGateway();
const owner = await signIn(gateway, { role: 'owner' });
after(() => gateway.stop());

/** The body as it was sent. */
async function ask(
  path: string,
  headers: Readonly<Record<string, string>>,
  { method = 'GET', body }: { readonly method?: string; readonly body?: object } = {},
) {
  const sent = request(gateway.url + path, {
    method,
    headers: {
      cookie: owner.cookie,
      origin: gateway.url,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  sent.end(body && JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return {
    status: response.statusCode!,
    headers: response.headers,
    body: Buffer.concat(await response.toArray()),
  };
}

const modelsPath = () => `/dashboard-api/accounts/${owner.account}/models`;

test('a long answer is compressed in the best encoding that the browser accepts', async () => {
  const plain = await ask(modelsPath(), {});
  assert.equal(plain.headers['content-encoding'], undefined);
  const cases = [
    { accepts: browserEncodings, encoding: 'br', read: brotliDecompressSync },
    { accepts: 'gzip', encoding: 'gzip', read: gunzipSync },
    { accepts: 'br;q=0, gzip', encoding: 'gzip', read: gunzipSync },
    { accepts: 'identity', encoding: undefined, read: (bytes: Buffer) => bytes },
  ];
  for (const { accepts, encoding, read } of cases) {
    const answer = await ask(modelsPath(), { 'accept-encoding': accepts });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-encoding'], encoding, accepts);
    assert.match(answer.headers.vary!, /accept-encoding/);
    assert.equal(Number(answer.headers['content-length']), answer.body.length);
    assert.ok(read(answer.body).equals(plain.body), accepts);
    assert.ok(encoding === undefined || answer.body.length < plain.body.length / 4);
  }
});

test('a short answer is not compressed', async () => {
  const answer = await ask('/dashboard-api/session', { 'accept-encoding': browserEncodings });
  assert.equal(answer.headers['content-encoding'], undefined);
  assert.ok(answer.body.length > 0);
});

test('a request that another site or a typed address caused gets an uncompressed answer', async () => {
  for (const site of ['cross-site', 'same-site', 'none', 'same-origin']) {
    const headers = { 'accept-encoding': browserEncodings, 'sec-fetch-site': site };
    const answer = await ask(modelsPath(), headers);
    const expected = site === 'same-origin' ? 'br' : undefined;
    assert.equal(answer.headers['content-encoding'], expected, site);
  }
});

test('answers to changes and errors are never compressed, however long they are', async () => {
  const headers = { 'accept-encoding': browserEncodings, 'sec-fetch-site': 'same-origin' };
  const models = JSON.parse(String((await ask(modelsPath(), {})).body)) as {
    chat: { id: string }[];
  };
  const made = await ask(`/dashboard-api/accounts/${owner.account}/keys`, headers, {
    method: 'POST',
    body: { mode: 'test', name: 'x', models: models.chat.slice(0, 100).map(({ id }) => id) },
  });
  assert.equal(made.status, 200);
  assert.match(String(made.body), /"secret":"tg_test_/);
  assert.ok(made.body.length > 1_400);
  const refused = await ask(
    `/dashboard-api/accounts/${owner.account}/keys?mode=${'x'.repeat(2_000)}`,
    headers,
  );
  assert.equal(refused.status, 400);
  for (const { headers: sent } of [made, refused])
    assert.equal(sent['content-encoding'], undefined);
});

test('the public API and the export are as before', async () => {
  const chat = endpoint('chat');
  const { key } = await gateway.makeKey({ account: owner.account });
  const headers = { 'accept-encoding': browserEncodings, authorization: `Bearer ${key}` };
  const answers = [
    await ask('/v1/models', headers),
    await ask(chat.path, headers, { method: 'POST', body: chat.body() }),
    await ask(`/dashboard-api/accounts/${owner.account}/usage.csv?mode=test`, headers),
  ];
  for (const { status, headers: sent } of answers) {
    assert.equal(status, 200);
    assert.equal(sent['content-encoding'], undefined);
  }
});
