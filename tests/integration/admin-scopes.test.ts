// Calls every endpoint of the admin API with every scope but its own, and with its own only.
// Endpoints come from the contract, so new ones are covered at once.
import assert from 'node:assert/strict';
import { adminScopes } from '../../src/terms/admin-scope.ts';
import { adminRows, type AdminClient, adminOf } from '../support/admin.ts';
import { after, before, test, testOn } from '../support/both-stores.ts';
import { signIn } from '../support/dashboard.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { allRows, changedTables } from '../support/refused-audit.ts';
import { sampleOf } from '../support/sample.ts';

let gateway: TestGateway;
let params: Readonly<Record<string, string>>;
before(async () => {
  gateway = await startGateway({ limits: { failed_keys_per_minute: null } });
  const owner = await signIn(gateway);
  const { id: key } = await gateway.makeKey({ account: owner.account });
  params = {
    account: owner.account,
    user: owner.userId,
    key,
    invitation: 'inv_unknown',
    endpoint: 'end_unknown',
    delivery: 'evt_unknown.end_unknown',
    request: 'req_x',
    ownKey: 'own_x',
  };
});
after(() => gateway.stop());

type Row = (typeof adminRows)[number];

function call(client: AdminClient, { method, path, query, body }: Row) {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => {
    assert.ok(params[name] !== undefined, `give the test a '${name}'`);
    return params[name];
  });
  return client.send(method, filled, {
    query: query && (sampleOf(query) as Record<string, string>),
    body: body && sampleOf(body),
    idempotencyKey: 'order-1',
  });
}

testOn('sqlite', 'a call without its scope names the scope, and changes nothing', async () => {
  const lacking = new Map<string, AdminClient>();
  for (const scope of adminScopes)
    lacking.set(
      scope,
      await adminOf(gateway, { scopes: adminScopes.filter((other) => other !== scope) }),
    );
  const untouched = await allRows(gateway.database);
  for (const row of adminRows) {
    const refused = await call(lacking.get(row.scope)!, row);
    assert.deepEqual([refused.status, refused.error.code], [403, 'not_permitted'], row.name);
    assert.match(refused.error.message, new RegExp(`\`${row.scope}\``), row.name);
  }
  assert.deepEqual(changedTables(untouched, await allRows(gateway.database)), []);
});

testOn('sqlite', 'no call is open without an admin key', async () => {
  const { key } = await gateway.makeKey();
  const nobody = await adminOf(gateway);
  const tries: readonly Readonly<Record<string, string>>[] = [
    { authorization: '' },
    { authorization: `Bearer ${key}` },
    { authorization: `Bearer ${nobody.key.slice(0, -1)}` },
    { authorization: '', 'x-api-key': nobody.key },
  ];
  for (const { name, method, path } of adminRows)
    for (const headers of tries) {
      const reply = await nobody.send(method, path.replaceAll(/:\w+/g, 'x'), { headers });
      assert.deepEqual([reply.status, reply.error.code], [401, 'invalid_api_key'], name);
    }
});

for (const row of adminRows)
  test(`${row.name} is open with the scope ${row.scope} alone`, async () => {
    const able = await adminOf(gateway, { scopes: [row.scope] });
    const reply = await call(able, row);
    // Samples may name what does not exist.
    assert.ok([200, 400, 404, 409].includes(reply.status), `${reply.status} ${reply.text}`);
  });
