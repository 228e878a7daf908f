// Schemathesis sends thousands of random requests, right and wrong, that it makes from
// /openapi.json. No answer may be a 5xx or differ from its description. Needs Python with venv.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { installPython, skipWithoutPython as skip } from '../../support/python.ts';

const folder = import.meta.dirname;
const examples = 15;
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

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
  const others = '^/admin/|^/v1/messages/cache_touch$';
  await run(t.diagnostic.bind(t), key, ['--exclude-path-regex', others]);
});

test('the admin API answers random requests as it describes', { skip }, async (t) => {
  const { key } = await gateway.makeAdminKey();
  await run(t.diagnostic.bind(t), key, ['--include-path-regex', '^/admin/']);
});

async function run(report: (line: string) => void, key: string, which: string[]): Promise<void> {
  const options = [
    ['run', `${gateway.url}/openapi.json`, '--url', gateway.url],
    ['--header', `Authorization: Bearer ${key}`],
    ['--phases', 'examples,coverage,fuzzing', '--max-examples', String(examples)],
    ['--checks', checks.join(',')],
    ['--generation-database', 'none', '--request-timeout', '60', '--no-color'],
    which,
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
  assert.ok(total && Number(total[1]) > 500, output);
  report(`${total[0]}; ${/Seed: .*/.exec(output)?.[0]}`);
}
