// The samples of the guides in Python and Go do what the guides say. Needs Python with venv, and
// installs the packages of `requirements.txt`, one of which is Go, once for each content of it. In
// CI, a missing Python fails; elsewhere it skips the tests.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { goEnv } from '../../support/go.ts';
import {
  assertPrints,
  fillSample,
  runCommand,
  samples,
  type Sample,
  type SampleCommand,
} from '../../support/guide-samples.ts';
import { readMainSamples, readSamples } from '../../support/reference-samples.ts';
import { installPython, skipWithoutPython as skip } from '../../support/python.ts';

let gateway: TestGateway;
let tools: string;
before(async () => {
  if (skip !== false) return;
  tools = installTools();
  gateway = await startGateway({ test_mode: { enabled: true } });
});
after(() => gateway?.stop());

/** Returns a folder with a virtual environment and a Go module. */
function installTools(): string {
  const goModule = join(import.meta.dirname, 'go');
  return installPython(join(import.meta.dirname, 'requirements.txt'), {
    more: [join(goModule, 'go.mod'), join(goModule, 'go.sum')],
    finish: (folder) => {
      const copy = join(folder, 'go');
      cpSync(goModule, copy, { recursive: true });
      // Compiles the packages, which takes a minute of CPU. Go keeps the result.
      execFileSync(join(folder, 'bin', 'go'), ['build', '-C', copy, '.'], {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, ...goEnv },
      });
    },
  });
}

/** A shell finds the environment's programs first. */
function inTools(command: string, options: Partial<SampleCommand> = {}): SampleCommand {
  const path = [join(tools, 'bin'), process.env['PATH']].join(delimiter);
  return { program: 'env', args: [`PATH=${path}`, 'sh', '-c', command], ...options };
}

type Code = Pick<Sample, 'code'>;

async function runPython(own: readonly Code[]): Promise<readonly string[]> {
  const filled = await Promise.all(own.map((sample) => fillSample(gateway, sample)));
  const runner = join(import.meta.dirname, 'run_samples.py');
  const printed = await runCommand(
    inTools(`exec python3 '${runner}'`, { code: JSON.stringify(filled) }),
  );
  assert.ok(printed.startsWith('['), printed);
  return JSON.parse(printed) as string[];
}

async function runGo(own: readonly Code[]): Promise<readonly string[]> {
  const folder = join(tools, 'go');
  const flags = `CGO_ENABLED=${goEnv.CGO_ENABLED} GOFLAGS="-mod=mod ${goEnv.GOFLAGS}"`;
  return Promise.all(
    own.map(async (sample, index) => {
      const { code, key } = await fillSample(gateway, sample);
      mkdirSync(join(folder, `sample${index}`), { recursive: true });
      writeFileSync(join(folder, `sample${index}`, 'main.go'), code);
      const command = `GOTOOLCHAIN=local ${flags} exec go run ./sample${index}`;
      return runCommand(inTools(command, { folder }), { ...process.env, TOLLGATE_KEY: key });
    }),
  );
}

for (const [language, run] of Object.entries({ python: runPython, go: runGo })) {
  test(`samples in ${language} print what the guides say`, { skip }, async (context) => {
    const own = samples.filter((sample) => sample.language === language);
    assert.ok(own.length > 1, `only ${own.length} samples were found`);
    const printed = await run(own);
    for (const [index, sample] of own.entries())
      await context.test(sample.place, () => assertPrints(printed[index]!, sample));
  });
}

for (const [language, run] of Object.entries({ python: runPython, go: runGo })) {
  test(
    `the main samples of the reference in ${language} run with a test key`,
    { skip },
    async (context) => {
      const own = await readMainSamples(gateway, language as 'python' | 'go');
      const printed = await run(own);
      for (const [index, sample] of own.entries())
        await context.test(sample.place, () => assertPrints(printed[index]!, sample));
    },
  );
}

test('every sample of the reference can be read by Python and Go', { skip }, async () => {
  const python = (await readSamples(gateway, 'python')).map(({ code }) => code);
  const compile =
    'import json, sys; [compile(code, "sample", "exec") for code in json.load(sys.stdin)]';
  const said = await runCommand(
    inTools(`exec python3 -c '${compile}'`, { code: JSON.stringify(python) }),
  );
  assert.equal(said, '');
  for (const { id, code } of await readSamples(gateway, 'go')) {
    const formatted = await runCommand(inTools('exec gofmt', { code }));
    assert.equal(formatted, code, id);
  }
});
