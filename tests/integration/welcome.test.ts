// The startup message of `tollgate serve` about enabled providers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';

const noModels =
  'live keys have no models. Add a provider in the dashboard, or set its key (such as OPENAI_API_KEY) and start again.';
const switchedOn: readonly (readonly [
  what: string,
  env: Record<string, string>,
  lines: readonly string[],
])[] = [
  ['no provider', {}, [`No provider is switched on yet: ${noModels}`]],
  [
    'providers of searches alone',
    { BRAVE_API_KEY: 'x', SEARXNG_URL: 'http://127.0.0.1:9' },
    ['Providers switched on: brave, searxng.', `None of them runs models: ${noModels}`],
  ],
  ['a provider of images alone', { BFL_API_KEY: 'x' }, ['Providers switched on: bfl.']],
  [
    'models and searches',
    { OPENAI_API_KEY: 'x', TAVILY_API_KEY: 'x' },
    ['Providers switched on: openai, tavily.'],
  ],
];

for (const [what, env, lines] of switchedOn) {
  test(`with ${what} it says so`, async () => {
    const program = await startProgram({ env, config: { log: { level: 'info' } } });
    try {
      await until(() => program.output.includes('"listening"'));
      const printed = program.output
        .split('\n')
        .filter((line) => /Providers switched on|live keys have no models/.test(line));
      assert.deepEqual(printed, lines);
    } finally {
      await program.stop();
    }
  });
}
