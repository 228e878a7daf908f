// The playground's endpoints: the public ones once more, for whoever is signed in, with a key of the account that the path names.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { endpoints } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;

before(async () => {
  gateway = await startGateway();
});
after(() => gateway.stop());

test('without a session nothing runs, even with a key in the header', async () => {
  const { id, key, account } = await gateway.makeKey();
  for (const { path, body } of endpoints) {
    const reply = await gateway.post(`/dashboard-api/accounts/${account}/keys/${id}${path}`, { key, body: body() });
    assert.equal(reply.status, 401, path);
    assert.equal(reply.error.code, 'not_signed_in');
  }
});

test('the page of another site cannot send one', async () => {
  const { id, account } = await gateway.makeKey();
  const headers = { origin: 'https://elsewhere.example' };
  const reply = await gateway.post(`/dashboard-api/accounts/${account}/keys/${id}/v1/responses`, { headers, body: {} });
  assert.equal(reply.status, 403);
});
