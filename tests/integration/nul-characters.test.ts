// A NUL in any input is a client error on both stores: PostgreSQL refuses it in text, and SQLite
// would store it. The endpoints come from the dashboard's contract and the stream table, so a new
// one is tested at once.
import assert from 'node:assert/strict';
import { dashboardCalls } from '../../src/management/contract/contract.ts';
import type { SessionEndpoint } from '../../src/management/contract/doors.ts';
import type { Access } from '../../src/management/contract/endpoint.ts';
import { streams } from '../../src/management/streams.ts';
import { after, before, test, testOn } from '../support/both-stores.ts';
import { signIn } from '../support/dashboard.ts';
import { endpoints } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { sampleOf } from '../support/sample.ts';

let gateway: TestGateway;

before(async () => {
  gateway = await startGateway({ log: { level: 'error' } });
});
after(async () => {
  const { output } = gateway.program;
  await gateway.stop();
  assert.doesNotMatch(output, /by our own fault/);
});

function assertRefused({ status, text }: Reply, what: string): void {
  assert.ok(status >= 400 && status < 500, `${what}: ${status} ${text}`);
}

test('a NUL in a URL of the public API is refused', async () => {
  const { key } = await gateway.makeKey();
  for (const path of [
    '/v1/usage?request_id=%00',
    '/v1/usage?request_id=req_1%00',
    '/v1/usage?limit=%00',
    '/v1/usage?cursor=2026-01-31T00:00:00.000Z%7Ca%00',
    '/v1/models/%00',
    '/v1/models?x=%00',
    '/v1/images/files/%00?expires=1&signature=%00',
    '/assets/%00.js',
    '/%00',
    '/%ff%00',
  ]) {
    assertRefused(await gateway.get(path, { key }), path);
  }
  assertRefused(
    await gateway.post('/v1/responses?api_key=%00', { body: {} }),
    'a key in the query',
  );
});

test('a NUL in a body of the public API is refused in names, and passes in prompts', async () => {
  const { key } = await gateway.makeKey();
  for (const { path, body } of endpoints) {
    assertRefused(await gateway.post(path, { key, body: body({ model: 'gpt-6-luna\0' }) }), path);
    const bodies = [
      body({ metadata: { user_id: 'a\0b' } }),
      JSON.parse(JSON.stringify(body()).replace('Hi', 'H\\u0000i')) as object,
    ];
    for (const said of bodies) {
      for (let time = 0; time < 2; time++) {
        const reply = await gateway.post(path, {
          key,
          body: { ...said, temperature: 0 },
          headers: { 'idempotency-key': `nul ${path}` },
        });
        assert.ok(reply.status < 500, reply.text);
      }
    }
  }
});

type Row = { readonly method: string; readonly path: string; readonly access: Access } & Pick<
  SessionEndpoint,
  'query' | 'body'
>;

const rows: readonly Row[] = Object.entries<SessionEndpoint | { readonly access: Access }>({
  ...dashboardCalls,
  ...streams,
}).map(([name, endpoint]) => ({
  method: name.split(' ')[0]!,
  path: name.split(' ')[1]!,
  ...endpoint,
}));

/** One copy of the value for each of its texts, with a NUL at that text's end. */
function withNuls(value: unknown): unknown[] {
  if (typeof value === 'string') return [`${value}\0`];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) =>
    withNuls(child).map((changed) =>
      Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed },
    ),
  );
}

/** A sample with every text field, also the optional ones. */
function fullSampleOf(schema: NonNullable<SessionEndpoint['body']>): Record<string, unknown> {
  const texts = Object.keys(schema.properties).map((name) => [name, 'sample']);
  return { ...(Object.fromEntries(texts) as Record<string, string>), ...sampleOf(schema) };
}

for (const row of rows) {
  // It is refused before any query, which tests/contract/database.test.ts shows for both stores.
  testOn(
    'sqlite',
    `a NUL in ${row.method} ${row.path} of the dashboard's API is refused`,
    async () => {
      const account = (await gateway.makeKey()).account;
      const client = await signIn(gateway, { account, operator: row.access === 'operator' });
      const path = (value: string) =>
        row.path.replace(':account', account).replaceAll(/:\w+/g, value);
      const body = row.method === 'GET' ? undefined : row.body ? fullSampleOf(row.body) : {};
      const sent: [path: string, body: unknown][] = [
        [row.path.replaceAll(/:\w+/g, 'x%00'), body],
        [path('%00'), body],
        ...Object.keys(row.query?.properties ?? {}).map((name): [string, unknown] => [
          `${path('x')}?${name}=a%00`,
          body,
        ]),
        ...withNuls(body).map((changed): [string, unknown] => [path('x'), changed]),
      ];
      for (const [at, changed] of sent) {
        // A path without a text parameter cannot carry one.
        if (at === row.path && changed === body) continue;
        if (at === path('x') && changed === body) continue;
        if (at === path('%00') && !at.includes('%00') && changed === body) continue;
        const reply = await client.send(row.method, at, { body: changed as object | undefined });
        assertRefused(reply, `${at} ${JSON.stringify(changed)}`);
      }
    },
  );
}
