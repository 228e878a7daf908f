// Runs npm `llmprobe`, an independent conformance suite, against the started gateway: on the
// sandbox, and with a live key on a provider of each format. Each finding fails the test, except
// those listed below with the reason why they are not ours.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import {
  chainedModels,
  startChainedGateway,
  type ChainedGateway,
} from '../support/chained-gateway.ts';

const program = join(
  import.meta.dirname,
  'node_modules',
  'llmprobe',
  'bin',
  'dist',
  'llmprobe.mjs',
);
const timeoutMs = 240_000;

/** By probe and message. */
const exceptions: readonly {
  readonly probe: RegExp;
  readonly finding: RegExp;
  readonly why: string;
}[] = [
  {
    probe: /^responses: /,
    finding: /^stream never sent the terminal `data: \[DONE\]` sentinel$/,
    why: 'OpenAI ends a stream of Responses with `response.completed`, and so do we',
  },
  {
    probe: /^responses: previous_response_id chaining$/,
    finding: /^expected the model to recall/,
    why: 'the endpoint keeps nothing: `previous_response_id` is accepted and ignored',
  },
  {
    probe: /: max_tokens is honored$/,
    finding: /asked for 8 tokens, got 16/,
    why: 'OpenAI refuses a limit below 16, which is sent instead',
  },
  {
    probe: /^responses: reasoning\.effort none/,
    finding: /reasoning tokens/,
    why: 'a model that always thinks does so at its lowest level',
  },
  {
    probe: /^messages: a trailing assistant message is a prefill$/,
    finding: /HTTP 400/,
    why: 'models of OpenAI take no prefill',
  },
];

let chain: ChainedGateway;
const home = mkdtempSync(join(tmpdir(), 'tollgate-llmprobe-'));

before(async () => {
  chain = await startChainedGateway();
});
after(async () => {
  rmSync(home, { recursive: true, force: true });
  await chain.stop();
});

test('llmprobe finds nothing wrong with the sandbox, in all of its probes', async () => {
  await probe({
    model: 'gpt-6-luna',
    key: chain.gateway.program.firstTestKey,
    options: [],
    passedMin: 60,
  });
});

for (const model of chainedModels) {
  test(`llmprobe finds nothing wrong with the live model ${model}`, async () => {
    await probe({ model, key: chain.key, options: ['--quick'], passedMin: 13 });
  });
}

type Run = {
  readonly model: string;
  readonly key: string;
  readonly options: readonly string[];
  readonly passedMin: number;
};

async function probe({ model, key, options, passedMin }: Run): Promise<void> {
  const address = `${chain.gateway.url}/v1`;
  const args = [
    program,
    address,
    '-k',
    key,
    '-m',
    model,
    '--no-bench',
    '--no-save',
    '--reasoning',
    'default',
    ...options,
  ];
  const run = promisify(execFile)(process.execPath, args, {
    timeout: timeoutMs,
    env: { PATH: process.env['PATH'], HOME: home, NO_COLOR: '1' },
  });
  // It exits with 1 on any finding, including the exceptions.
  const output = await run.then(
    ({ stdout }) => stdout,
    (error: { stdout?: string }) => error.stdout ?? '',
  );
  const report = readReport(output);
  assert.ok(report.passed >= passedMin, `only ${report.passed} probes passed:\n${output}`);
  assert.deepEqual(
    report.findings.filter(
      (found) =>
        !exceptions.some(
          ({ probe: name, finding }) => name.test(found[0]) && finding.test(found[1]),
        ),
    ),
    [],
    output,
  );
}

/**
 * Findings as [probe, message]. Lines without a surface judge the model's intelligence, which the
 * sandbox lacks, or features that are not offered.
 */
function readReport(output: string): { passed: number; findings: [string, string][] } {
  // oxlint-disable-next-line no-control-regex -- the codes that move a terminal's cursor
  const lines = output.replaceAll(/\u001b\[[0-9;?]*[a-zA-Z]/g, '').split('\n');
  const findings: [string, string][] = [];
  let passed = 0;
  for (const [index, line] of lines.entries()) {
    const [, mark, name] =
      /^\s+([✓✗]) ((?:\/v1\/models|chat\/completions|responses|messages): .*?)\s*$/.exec(line) ??
      [];
    if (mark === '✓') passed++;
    if (mark === '✗')
      findings.push(
        ...readMessages(lines.slice(index + 1)).map((text): [string, string] => [name!, text]),
      );
  }
  return { passed, findings };
}

function readMessages(lines: readonly string[]): string[] {
  const end = lines.findIndex((line) => !/^\s+→ /.test(line));
  const messages = lines.slice(0, end).map((line) => line.replace(/^\s+→ /, '').trim());
  return messages.length === 0 ? ['it failed without a word'] : messages;
}
