// A client that is generated from the API's description compiles, and its requests work.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { writeClientTypes } from '../support/client-types.ts';
import { signIn } from '../support/dashboard.ts';
import { startGateway } from '../support/gateway.ts';

const execFileAsync = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

const gateway = await startGateway();
// Inside of the repository, so that the client finds its packages.
mkdirSync(join(root, 'dist'), { recursive: true });
const folder = mkdtempSync(join(root, 'dist', 'generated-client-'));
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await gateway.stop();
});

/** What a customer's program does. Each line checks a type, too. */
const publicClient = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

export async function run(baseUrl: string, key: string) {
  const client = createClient<paths, 'application/json'>({ baseUrl, headers: { authorization: 'Bearer ' + key } });
  const models = await client.GET('/v1/models');
  const owner: string | undefined = models.data?.data[0]?.owned_by;
  const chat = await client.POST('/v1/chat/completions', {
    params: { header: { 'Idempotency-Key': 'order-7' } },
    body: { model: 'gpt-6-luna', messages: [{ role: 'user', content: 'Hello!' }] },
  });
  const cost: number | undefined = chat.data?.usage.cost;
  const finish = chat.data?.choices[0]?.finish_reason;
  const message = await client.POST('/v1/messages', {
    body: { model: 'claude-haiku-4-5', max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] },
  });
  const reason: string | null | undefined = message.data?.stop_reason;
  const events: string = await client
    .POST('/v1/responses', { body: { model: 'gpt-6-luna', input: 'Hi', stream: true }, parseAs: 'text' })
    .then(({ data }) => data as string);
  const first = JSON.parse(events.split('data: ')[1]!.split('\\n')[0]!) as components['schemas']['ResponseStreamEvent'];
  const usage = await client.GET('/v1/usage', { params: { query: { limit: 2 } } });
  const cents: number | undefined = usage.data?.data[0]?.cost_cents;
  const refused = await client.POST('/v1/web-search', { body: { query: '' } });
  const code = refused.error?.error.code;
  // @ts-expect-error -- the description requires messages
  const wrong = await client.POST('/v1/chat/completions', { body: { model: 'gpt-6-luna' } });
  return { owner, cost, finish, reason, first, cents, code, wrong: wrong.response.status };
}
`;

const dashboardClient = `
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';

export async function run(baseUrl: string, cookie: string, account: string) {
  const client = createClient<paths>({ baseUrl, headers: { cookie } });
  const { data } = await client.GET('/dashboard-api/accounts/{account}/keys', {
    params: { path: { account }, query: { mode: 'live' } },
  });
  const cap: number | null | undefined = data?.data[0]?.daily_cap_micros;
  return { keys: data?.data.length, next: data?.next_cursor, cap };
}
`;

/** Generates the types, compiles the client, and returns its module. */
async function compile(name: string, document: string, source: string) {
  const place = join(folder, name);
  mkdirSync(place);
  writeFileSync(join(place, 'api.d.ts'), await writeClientTypes(document));
  writeFileSync(join(place, 'client.ts'), source);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2024',
    module: 'nodenext',
    allowImportingTsExtensions: true,
    noUncheckedIndexedAccess: true,
    types: [],
    lib: ['es2024', 'dom', 'dom.iterable'],
  };
  writeFileSync(
    join(place, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['client.ts', 'api.d.ts'] }),
  );
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  await execFileAsync(tsc, ['-p', place]).catch((error: { stdout?: string }) =>
    assert.fail(`the client does not compile: ${error.stdout ?? 'tsc did not run'}`),
  );
  return (await import(pathToFileURL(join(place, 'client.ts')).href)) as {
    run: (...given: string[]) => Promise<Record<string, unknown>>;
  };
}

test('a client generated from /openapi.json compiles and runs', async () => {
  const { text } = await gateway.get('/openapi.json');
  const client = await compile('api', text, publicClient);
  const { key } = await gateway.makeKey();
  const { owner, first, cost, cents, ...seen } = await client.run(gateway.url, key);
  assert.deepEqual(seen, {
    finish: 'stop',
    reason: 'end_turn',
    code: 'invalid_request',
    wrong: 400,
  });
  assert.equal(typeof owner, 'string');
  assert.ok(Number(cost) > 0 && Number(cents) > 0);
  assert.equal((first as { type: string }).type, 'response.created');
});

test('a client generated from /openapi-dashboard.json compiles and runs', async () => {
  const { text } = await gateway.get('/openapi-dashboard.json');
  const client = await compile('dashboard', text, dashboardClient);
  const owner = await signIn(gateway, { role: 'owner' });
  await gateway.makeKey({ account: owner.account, mode: 'live' });
  assert.deepEqual(await client.run(gateway.url, owner.cookie, owner.account), {
    keys: 1,
    next: null,
    cap: null,
  });
});
