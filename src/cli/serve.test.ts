import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { loadConfig } from '../config/load.ts';
import { providerLines } from './serve.ts';

const noModels =
  'live keys have no models. Add a provider in the dashboard, or set its key (such as OPENAI_API_KEY) and start again.';
const switchedOn: Readonly<
  Record<string, readonly [env: Readonly<Record<string, string>>, lines: readonly string[]]>
> = {
  'no provider': [{}, [`No provider is switched on yet: ${noModels}`]],
  'providers of searches alone': [
    { BRAVE_API_KEY: 'x', SEARXNG_URL: 'http://127.0.0.1:9' },
    ['Providers switched on: brave, searxng.', `None of them runs models: ${noModels}`],
  ],
  'a provider of images alone': [{ BFL_API_KEY: 'x' }, ['Providers switched on: bfl.']],
  'models and searches': [
    { OPENAI_API_KEY: 'x', TAVILY_API_KEY: 'x' },
    ['Providers switched on: openai, tavily.'],
  ],
};
for (const [what, [env, lines]] of Object.entries(switchedOn))
  test(`with ${what} the welcome says so`, () => {
    const config = loadConfig({ env: { ...env, TOLLGATE_CONFIG: '/dev/null' }, cwd: tmpdir() });
    assert.deepEqual(providerLines(config), lines);
  });
