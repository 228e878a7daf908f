// Schemathesis sends thousands of random requests, right and wrong, that it makes from
// /openapi.json. No answer may be a 5xx or differ from its description. Needs Python with venv.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { installPython, skipWithoutPython as skip } from '../../support/python.ts';
import { Random } from '../../support/random.ts';
import { isPart } from '../../support/volume.ts';

const folder = import.meta.dirname;
const examples = 15;
/** `npm run test:all` calls a random third of the paths, the group alone all. */
const share = isPart ? 1 / 3 : 1;
const random = new Random('paths of the reference');
const checks = (
  'not_a_server_error status_code_conformance content_type_conformance ' +
  'response_headers_conformance response_schema_conformance'
).split(' ');

let gateway: TestGateway;
let python: string;
before(async () => {
  if (skip !== false) return;
  python = installPython(join(folder, 'requirements.txt'));
  gateway = await startGateway({
    test_mode: { enabled: true },
    limits: { requests_per_minute: null },
  });
});
after(() => gateway?.stop());

test('the public API answers random requests as it describes', { skip }, async (t) => {
  const { key } = await gateway.makeKey({ mode: 'test', creditUsd: 10_000 });
  // A 501 is the only answer of `cache_touch`.
  const others = /^\/admin\/|^\/v1\/messages\/cache_touch$/;
  await run(t.diagnostic.bind(t), key, (path) => !others.test(path));
});

test('the admin API answers random requests as it describes', { skip }, async (t) => {
  const { key } = await gateway.makeAdminKey();
  await run(t.diagnostic.bind(t), key, (path) => path.startsWith('/admin/'));
});

async function run(
  report: (line: string) => void,
  key: string,
  isWanted: (path: string) => boolean,
): Promise<void> {
  const { paths } = (await gateway.get('/openapi.json')).json<{ paths: object }>();
  const chosen = Object.keys(paths).filter((path) => isWanted(path) && random.next() < share);
  const options = [
    ['run', `${gateway.url}/openapi.json`, '--url', gateway.url],
    ['--header', `Authorization: Bearer ${key}`],
    ['--phases', 'examples,coverage,fuzzing', '--max-examples', String(examples)],
    ['--checks', checks.join(',')],
    ['--generation-database', 'none', '--request-timeout', '60', '--no-color'],
    ...chosen.map((path) => ['--include-path', path]),
  ].flat();
  const env = { ...process.env, SCHEMATHESIS_HOOKS: 'hooks', PYTHONPATH: folder };
  const { error, output } = await new Promise<{ error: Error | null; output: string }>((resolve) =>
    execFile(
      join(python, 'bin', 'schemathesis'),
      options,
      { env, cwd: tmpdir(), maxBuffer: 1e9 },
      (failure, stdout, stderr) => resolve({ error: failure, output: stdout + stderr }),
    ),
  );
  assert.equal(error, null, output);
  const total = /(\d+) generated, (\d+) passed/.exec(output);
  assert.ok(total && Number(total[1]) > 10 * chosen.length, output);
  report(`${total[0]} on ${chosen.length} paths; ${/Seed: .*/.exec(output)?.[0]}`);
}
