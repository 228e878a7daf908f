import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf, loadYaml, testFaults } from '../../tests/support/config-file.ts';

test('by default there is a timeout and no provider', () => {
  assert.deepEqual(loadYaml('').search, { providers: [] });
});

test('a key variable or SEARXNG_URL enables a provider', () => {
  const { providers, search } = loadYaml('', {
    EXA_API_KEY: 'e',
    BRAVE_API_KEY: 'b',
    SEARXNG_URL: 'http://127.0.0.1:8080/',
  });
  assert.deepEqual(search.providers, ['brave', 'exa', 'searxng']);
  const shown = search.providers.map((name) => [
    providers[name]!.kind,
    providers[name]!.base_url,
    providers[name]!.api_key,
  ]);
  assert.deepEqual(shown, [
    ['brave', 'https://api.search.brave.com/res/v1', 'b'],
    ['exa', 'https://api.exa.ai', 'e'],
    ['searxng', 'http://127.0.0.1:8080', null],
  ]);
});

test('enabled providers are called by kind, then in the file’s order, unless the list orders them', () => {
  const providers = `providers:
  near: { kind: searxng, base_url: "http://a", api_key: none }
  far: { kind: searxng, base_url: "http://b", api_key: proxy-key }
  tavily: { api_key: t }
  serper: { api_key: s, enabled: false }
`;
  assert.deepEqual(loadYaml(providers).search.providers, ['tavily', 'near', 'far']);
  assert.deepEqual(loadYaml(`${providers}search: { providers: [far, tavily] }`).search.providers, [
    'far',
    'tavily',
  ]);
  assert.deepEqual(loadYaml(`${providers}search: { providers: [] }`).search.providers, []);
});

test('SEARXNG_URL overrides the address in the file', () => {
  const file = 'providers: { searxng: { base_url: "http://file/sx/" } }';
  assert.equal(loadYaml(file).providers['searxng']!.base_url, 'http://file/sx');
  assert.equal(
    loadYaml(file, { SEARXNG_URL: 'http://variable' }).providers['searxng']!.base_url,
    'http://variable',
  );
});

test('a disabled provider in the list is skipped with a warning', () => {
  const cases: [yaml: string, providers: readonly string[], warning: RegExp][] = [
    [
      'search: { providers: [exa, tavily] }',
      ['exa'],
      /search\.providers names tavily, .* TAVILY_API_KEY in the environment does it/,
    ],
    [
      'search: { providers: [searxng] }',
      [],
      /names searxng, .* SEARXNG_URL in the environment does it/,
    ],
    [
      'providers: { mine: { kind: exa, api_key: k, enabled: false } }\nsearch: { providers: [mine] }',
      [],
      /names mine, .* switch it on: under `providers`/,
    ],
  ];
  for (const [yaml, providers, warning] of cases) {
    const config = loadYaml(yaml, { EXA_API_KEY: 'k' });
    assert.deepEqual(config.search.providers, providers);
    assert.match(config.warnings.join('\n'), warning);
  }
});

test('a price of null is accepted', () => {
  assert.equal(loadYaml('search: { price_usd: null }').search.price_usd, null);
});

const faults: Readonly<Record<string, RegExp>> = {
  'search: { providers: [brve] }':
    /search\.providers\[0\] must be the name of a provider that searches the web; got "brve"/,
  'search: { providers: [openai] }':
    /must be the name of a provider that searches the web; got "openai"/,
  'search: { providers: [toString] }':
    /must be the name of a provider that searches the web; got "toString"/,
  'search: { providers: [exa, exa] }': /search\.providers\[1\] names exa a second time/,
  'search: { price_usd: 0.0000001 }':
    /search\.price_usd must have at most six decimals; got 1e-7\. .* \$5 per 1 000 is 0\.005/,
  'search: { price_usd: -1 }': /search\.price_usd must be/,
  'providers: { searxng: {} }': /providers\.searxng\.base_url is required/,
  'providers: { mine: { kind: searxng, api_key: none } }': /providers\.mine\.base_url is required/,
  'models: { m: { routes: [{ provider: brave, model: x }] } }':
    /must be a provider of chat models; brave is of kind `brave`/,
};
testFaults(faults, (yaml) => loadYaml(yaml, { OPENAI_API_KEY: 'k', EXA_API_KEY: 'k' }));

test('an address in SEARXNG_URL without a scheme is refused', () => {
  assert.match(
    faultOf('', { SEARXNG_URL: 'localhost' }).message,
    /SEARXNG_URL must be a whole address/,
  );
});

test('no model or alias may have the name of the web search', () => {
  const named = {
    models: 'models: { web-search: { routes: [{ provider: openai, model: gpt-6-luna }] } }',
    image_models:
      'image_models: { web-search: { mode: edit, family: flux-2, routes: [{ provider: bfl, model: m }] } }',
    aliases: 'aliases: { web-search: gpt-6-luna }',
  };
  for (const [section, yaml] of Object.entries(named)) {
    const message = `${section}.web-search is what \`POST /v1/web-search\` is called`;
    assert.ok(faultOf(yaml).message.includes(message), section);
  }
});
