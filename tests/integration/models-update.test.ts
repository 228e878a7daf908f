// `tollgate models update` as an operator runs it: from a file, from an installed package, and from
// invalid sources.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { builtProgram } from '../support/built-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-update-'));
after(() => rmSync(folder, { recursive: true, force: true }));

type Compared = {
  source: string;
  catalogue_date: string;
  agree: string[];
  absent: string[];
  proposals: object[];
};

const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [builtProgram(), 'models', 'update', '--from', ...args], {
    cwd: folder,
  });
const compare = async (from: string) => JSON.parse((await run(from, '--json')).stdout) as Compared;

function write(path: string, text: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const litellm = {
  sample_spec: {
    litellm_provider: 'one of …',
    input_cost_per_token: 0,
    max_input_tokens: 'as many as there are',
  },
  'gpt-4.1': {
    litellm_provider: 'openai',
    input_cost_per_token: 2e-6,
    output_cost_per_token: 8e-6,
  },
  'gpt-4o': { litellm_provider: 'openai', input_cost_per_token: 3e-6, output_cost_per_token: 1e-5 },
};
const genai = [
  { id: 'openai', models: [{ id: 'gpt-4.1', prices: { input_mtok: 2, output_mtok: 9 } }] },
];

function assertOfLitellm(compared: Compared): void {
  assert.equal(compared.source, 'litellm');
  assert.match(compared.catalogue_date, /^\d{4}-\d{2}-\d{2}$/);
  assert.deepEqual(compared.agree, ['gpt-4.1']);
  assert(compared.absent.includes('claude-opus-5'));
  assert.equal(compared.proposals.length, 1);
  assert.partialDeepStrictEqual(compared.proposals[0], {
    model: 'gpt-4o',
    field: 'input',
    ours: 2.5,
    theirs: 3,
    source: 'litellm',
  });
}

test('a price list file of either format is compared', async () => {
  write('prices.json', JSON.stringify(litellm));
  assertOfLitellm(await compare('prices.json'));
  write('data.json', JSON.stringify(genai));
  assert.partialDeepStrictEqual((await compare('./data.json')).proposals, [
    { model: 'gpt-4.1', field: 'output', ours: 8, theirs: 9, source: 'genai-prices' },
  ]);
});

test('people get a table and a summary', async () => {
  write('prices.json', JSON.stringify(litellm));
  const { stdout } = await run('prices.json');
  assert.match(
    stdout,
    /^DATE +MODEL +FIELD +OURS +THEIRS +SOURCE\n20\d\d-\d\d-\d\d +gpt-4o +input +2\.5 +3 +litellm\n/,
  );
  assert.match(
    stdout,
    /the catalogue of 20\d\d-\d\d-\d\d with litellm: 1 models have the same prices, .* 1 fields differ\. Nothing was changed\./,
  );
});

test('an installed package is compared, whether its list is a file or code', async () => {
  write('node_modules/litellm-list/package.json', '{"name":"litellm-list"}');
  write('node_modules/litellm-list/model_prices_and_context_window.json', JSON.stringify(litellm));
  assertOfLitellm(await compare('litellm-list'));

  write('node_modules/@some/prices/package.json', '{"name":"@some/prices","main":"./index.cjs"}');
  write(
    'node_modules/@some/prices/index.cjs',
    `const list = ${JSON.stringify(genai)}; exports.findProvider = ({ providerId }) => list.find(({ id }) => id === providerId);`,
  );
  assert.partialDeepStrictEqual((await compare('@some/prices')).proposals, [
    { model: 'gpt-4.1', source: 'genai-prices' },
  ]);
});

test('anything that is not a price list is refused in one sentence', async () => {
  const refused = (from: string, message: RegExp) =>
    assert.rejects(run(from), ({ stderr }: { stderr: string }) => {
      assert.match(stderr, message);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
      return true;
    });
  write('other.json', '{"a":[1,2]}');
  write('broken.json', '{"a":');
  write('deep.json', '['.repeat(100_000));
  write('node_modules/left/package.json', '{"name":"left","main":"./index.cjs"}');
  write('node_modules/left/index.cjs', 'throw new Error("no");');
  for (const file of ['other.json', 'broken.json', 'deep.json'])
    await refused(file, /^tollgate: \S+ is neither LiteLLM's/);
  await refused('left', /^tollgate: the package left is neither LiteLLM's/);
  await refused(
    '@pydantic/none',
    /^tollgate: there is no file "@pydantic\/none", .*"npm install @pydantic\/none" in this folder/,
  );
  for (const path of ['missing.json', '../left', 'node_modules']) {
    await refused(
      path,
      /there is no file .*"npm install @pydantic\/genai-prices"|"npm install node_modules"/,
    );
  }
});

test('the list shows the date of the prices, and the check shows which have no second source', async () => {
  write(
    'tollgate.yaml',
    'models:\n  gpt-4.1: { prices: { input: 3, output: 9 } }\n  llama-4-scout: { prices: { input: 1, output: 2 } }\n',
  );
  const env = {
    ...process.env,
    TOLLGATE_DATA_DIR: folder,
    TOLLGATE_CONFIG: join(folder, 'tollgate.yaml'),
  };
  const models = async (...args: string[]) =>
    (
      await promisify(execFile)(process.execPath, [builtProgram(), 'models', ...args], {
        cwd: folder,
        env,
      })
    ).stdout;
  assert.match(
    await models('list'),
    /the built-in catalogue \(models of 20\d\d-\d\d-\d\d, image models of 20\d\d-\d\d-\d\d\)\.$/m,
  );
  const listed = JSON.parse(await models('list', '--json')) as {
    id: string;
    prices_as_of?: string | null;
  }[];
  const dateOf = (wanted: string) => listed.find(({ id }) => id === wanted)?.prices_as_of;
  assert.match(dateOf('gpt-4o') ?? '', /^20\d\d-\d\d-\d\d$/);
  assert.equal(dateOf('gpt-4.1'), null);

  const problems = JSON.parse(await models('check', '--json')) as { id: string; problem: string }[];
  const unconfirmed = problems
    .filter(({ problem }) => problem.startsWith('its price has no second source'))
    .map(({ id }) => id);
  assert(unconfirmed.includes('llama-4-maverick'), unconfirmed.join());
  for (const id of ['llama-4-scout', 'gpt-4.1', 'gpt-4o']) assert(!unconfirmed.includes(id), id);
});
