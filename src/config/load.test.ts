import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import otherGateways from '../../catalog/other-gateways.json' with { type: 'json' };
import { ConfigError } from './config-error.ts';
import type { Environment } from './field-values.ts';
import { configFault } from './config-fault.ts';
import { knownProviders } from './known-providers.ts';
import { loadConfig } from './load.ts';

type ImportedHost = {
  readonly name?: string;
  readonly kind?: string;
  readonly base?: string;
  readonly path?: string;
  readonly refused?: boolean;
};

const folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
after(() => rmSync(folder, { recursive: true }));
let folders = 0;

function load(yaml: string | null, env: Environment = {}) {
  const cwd = join(folder, String(folders++));
  mkdirSync(cwd);
  if (yaml !== null) writeFileSync(join(cwd, 'tollgate.yaml'), yaml);
  return { config: loadConfig({ env, cwd }), cwd };
}

function loadFault(yaml: string | null, env: Environment = {}): ConfigError {
  try {
    load(yaml, env);
  } catch (error) {
    assert(error instanceof ConfigError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: `accepted: ${yaml ?? JSON.stringify(env)}` });
}

describe('sources', () => {
  test('without a file and an environment, all settings have defaults', () => {
    const { config, cwd } = load(null);
    assert.deepEqual(config.server.port, 4_000);
    assert.deepEqual(config.limits, {
      chat_max_tokens: 2_048,
      unknown_fields: 'drop',
      requests_per_minute: 600,
      tokens_per_minute: null,
      concurrent_requests: null,
      account_requests_per_minute: null,
      account_tokens_per_minute: null,
      batch_bytes_per_day: 1_073_741_824,
      batch_lines_per_day: 200_000,
      account_concurrent_requests: null,
      unpaid_concurrent_requests: 4,
      loss_budget_usd: 1,
      free_bytes_per_day: 268_435_456,
      failed_keys_per_minute: 20,
      default_max_output_tokens: 32_768,
      hold_slice_tokens: 4_096,
    });
    assert.equal(config.service.name, 'Service');
    assert.equal(config.pricing.markup, 1);
    assert.equal(config.dataDir, join(cwd, 'data'));
    assert.equal(config.database.url, `sqlite:${join(cwd, 'data', 'tollgate.db')}`);
    assert.deepEqual(config.providers, {});
    assert.deepEqual(config.warnings, []);
  });

  test('the environment overrides the file, and the file the defaults', () => {
    const yaml =
      'server: { host: 10.0.0.1, port: 5000, body_limit_bytes: 2048 }\ndatabase: { url: "sqlite:books.db" }';
    const fromFile = load(yaml);
    assert.equal(fromFile.config.server.port, 5_000);
    assert.equal(fromFile.config.server.body_limit_bytes, 2_048);
    assert.equal(fromFile.config.server.shutdown_timeout_ms, 30_000);
    assert.equal(fromFile.config.database.url, `sqlite:${join(fromFile.cwd, 'books.db')}`);
    const stored = { DATABASE_URL: 'sqlite:/srv/t.db', TOLLGATE_DATA_DIR: '/srv/data' };
    const { config } = load(yaml, { HOST: '0.0.0.0', PORT: '0', ...stored });
    assert.deepEqual([config.server.host, config.server.port], ['0.0.0.0', 0]);
    assert.deepEqual([config.database.url, config.dataDir], ['sqlite:/srv/t.db', '/srv/data']);
  });

  test('both schemes of a PostgreSQL URL are accepted', () => {
    for (const url of [
      'postgres://u:p%40ss@db.internal:5433/tollgate?sslmode=verify-full',
      'postgresql:///tollgate?host=/run/pg',
    ]) {
      assert.equal(load(null, { DATABASE_URL: url }).config.database.url, url);
      assert.equal(load(`database: { url: "${url}" }`).config.database.url, url);
    }
  });

  test('TOLLGATE_CONFIG names another file, which must exist', () => {
    const path = join(folder, 'other.yaml');
    writeFileSync(path, 'service: { name: Acme }');
    const { config } = load('service: { name: Wrong }', { TOLLGATE_CONFIG: path });
    assert.equal(config.service.name, 'Acme');
    const { message } = loadFault(null, { TOLLGATE_CONFIG: 'absent.yaml' });
    assert.match(message, /absent\.yaml does not exist\. Create it/);
  });

  test('an empty variable counts as unset', () => {
    const names = ['HOST', 'PORT', 'DATABASE_URL', 'TOLLGATE_CONFIG', 'OPENAI_API_KEY'];
    const { config } = load(null, Object.fromEntries(names.map((name) => [name, ''])));
    assert.equal(config.server.host, '127.0.0.1');
    assert.equal(config.server.port, 4_000);
    assert.deepEqual(config.providers, {});
  });

  test('an empty section counts as left out, and an empty file causes a warning', () => {
    assert.equal(load('server:\naliases:\nmodels:\n').config.server.port, 4_000);
    const warned = load('# nothing yet\n').config.warnings.join();
    assert.match(warned, /tollgate\.yaml holds no fields; the defaults apply/);
    assert.equal(load('').config.warnings.length, 1);
  });

  test('a text with a NUL character is refused', () => {
    const { message } = loadFault('service: { name: "a\\0b" }');
    assert.match(message, /service\.name must hold no NUL character/);
  });

  test('a limit of null means no limit', () => {
    const { config } = load('limits: { chat_max_tokens: null, requests_per_minute: null }');
    const apps = '"app://obsidian.md", "capacitor://localhost", "chrome-extension://abcd"';
    for (const origins of ['"*"', 'https://app.example.com, "http://localhost:5173"', apps])
      load(`server: { cors_origins: [${origins}] }`);
    for (const trusted of ['true', '2', '[10.0.0.7, 2001:db8::/32]'])
      load(`server: { trust_proxy: ${trusted} }`);
    assert.equal(config.limits.chat_max_tokens, null);
    assert.equal(config.limits.requests_per_minute, null);
  });

  test('the result is deeply frozen', () => {
    const entry = '{ kind: openai-compatible, base_url: "http://h/v1", api_key: none }';
    const { config } = load(`providers: { local: ${entry} }`);
    const { server, providers, warnings } = config;
    const local = providers['local']!;
    for (const value of [config, server, providers, local, local.timeouts, warnings])
      assert(Object.isFrozen(value));
  });

  test('addresses lose their trailing slash', () => {
    const { config } = load(
      'server: { public_url: "https://llm.example.com/" }\nproviders: { openai: { api_key: k, base_url: "http://h/v1/" } }',
    );
    assert.equal(config.server.public_url, 'https://llm.example.com');
    assert.equal(config.providers['openai']!.base_url, 'http://h/v1');
  });
});

describe('variables in the file', () => {
  const odd = '${OTHER}$${X}';
  const expanded: Readonly<Record<string, [key: string, env: Environment, read: string]>> = {
    'are expanded in values, also in flow style without quotes': ['${K}', { K: 'Acme' }, 'Acme'],
    'are expanded within a value': ['a-${K}.example.com', { K: 'llm' }, 'a-llm.example.com'],
    'of digits stay text where a text belongs': ['${K}', { K: '12345' }, '12345'],
    'have values that are never expanded again': ['${K}', { K: odd, OTHER: 'no' }, odd],
    'are not meant by a doubled dollar': ["'a$${b}c'", {}, 'a${b}c'],
  };
  for (const [title, [key, env, read]] of Object.entries(expanded)) {
    test(title, () => {
      const { config } = load(`providers: { openai: { api_key: ${key} } }`, env);
      assert.equal(config.providers['openai']!.api_key, read);
    });
  }

  test('are numbers where a number belongs', () => {
    assert.equal(load('server:\n  port: ${WEB}\n', { WEB: '8080' }).config.server.port, 8_080);
  });

  test('an unset variable disables a provider, and stops the start anywhere else', () => {
    const yaml = 'providers: { openai: { kind: openai, api_key: ${MISSING} } }';
    const { openai } = load(yaml, { OPENAI_API_KEY: 'usual' }).config.providers;
    assert.deepEqual([openai!.enabled, openai!.api_key], [false, null]);
    // The second is a name that every object of JavaScript has.
    for (const name of ['MISSING', 'constructor']) {
      const { message } = loadFault(`service:\n  name: \${${name}}\n`);
      const words = `yaml:2:9: service.name needs the environment variable ${name}, which is not set. Set`;
      assert.ok(message.includes(words), message);
    }
  });
});

describe('providers', () => {
  test('a local server needs its address only: its variable, or an entry in the file', () => {
    const { providers } = load(null, { OLLAMA_BASE_URL: 'http://10.0.0.7:11434/v1/' }).config;
    const { enabled, base_url: address, api_key: key } = providers['ollama']!;
    assert.deepEqual([enabled, address, key], [true, 'http://10.0.0.7:11434/v1', null]);
    assert.equal(providers['vllm'], undefined);
    const filed = load('providers: { vllm: {} }', {}).config.providers['vllm']!;
    assert.deepEqual([filed.enabled, filed.base_url], [true, 'http://127.0.0.1:8000/v1']);
  });

  test('the usual variable alone enables a provider', () => {
    const env = { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b', GROQ_API_KEY: 'c' };
    const { config } = load(null, env);
    assert.deepEqual(Object.keys(config.providers), ['openai', 'anthropic', 'groq']);
    const { timeouts, ...groq } = config.providers['groq']!;
    assert.deepEqual(groq, {
      enabled: true,
      kind: 'openai-compatible',
      base_url: 'https://api.groq.com/openai/v1',
      api_key: 'c',
      tool_prices: {},
      pass_fields: [],
      accounts_may_bring_keys: false,
      completions: false,
      cache_salt: false,
      credential_of: null,
      weight: 1,
      requests_per_minute: null,
      region: null,
      project: null,
      api_version: null,
      batch_bucket: null,
      batch_role: null,
    });
    assert.deepEqual(timeouts, { connect_ms: 5_000, total_ms: 1_800_000 });
  });

  test('a provider’s passed fields and cache salt are read', () => {
    const at = 'kind: openai-compatible, base_url: "http://v/v1", api_key: none';
    const yaml = `providers: { vllm: { ${at}, pass_fields: [a, b.c], cache_salt: true } }`;
    const { pass_fields, cache_salt } = load(yaml).config.providers['vllm']!;
    assert.deepEqual([pass_fields, cache_salt], [['a', 'b.c'], true]);
    const wrong = 'models: { m: { pass_fields: ["a[0].b"] } }';
    assert.match(loadFault(wrong).message, /models\.m\.pass_fields\[0\] must/);
  });

  test('GEMINI_API_KEY enables Google', () => {
    const { config } = load(null, { GEMINI_API_KEY: 'secret-value' });
    const base_url = 'https://generativelanguage.googleapis.com';
    const expected = { kind: 'google', base_url, api_key: 'secret-value' };
    assert.partialDeepStrictEqual(config.providers['google'], expected);
    assert.deepEqual(config.warnings, []);
  });

  test('an unencrypted provider or database on another machine causes a warning', () => {
    const yaml =
      'providers: { local: { kind: openai-compatible, base_url: "http://10.0.0.7/v1", api_key: none } }';
    const { config } = load(yaml, { DATABASE_URL: 'postgres://u:secret@db.internal/tollgate' });
    const words =
      /^The provider local is reached over plain http.*\nPostgreSQL is on another machine/;
    assert.match(config.warnings.join('\n'), words);
  });

  test('a key that is invalid in a header is refused, and a variable’s trailing line break is dropped', () => {
    const { openai } = load(null, { OPENAI_API_KEY: 'key\n' }).config.providers;
    assert.equal(openai!.api_key, 'key');
    const { message } = loadFault(null, { OPENAI_API_KEY: 'a b' });
    assert.match(message, /^OPENAI_API_KEY must be a key of visible ASCII/);
    const quoted = loadFault(null, { OPENAI_API_KEY: '"sk-abc"' });
    assert.equal(quoted.message, message);
    const { fault } = loadFault('providers: { openai: { api_key: "kéy" } }');
    assert.equal(fault.field, 'providers.openai.api_key');
  });

  test('addresses of known hosts, and of proxies with paths of their own, are accepted', () => {
    const proxied: readonly (readonly [kind: string, address: string])[] = [
      ['openai-compatible', 'http://gate.internal/embeddings'],
      ['openai', 'http://gate.internal/responses'],
      ['anthropic', 'https://gate.example/claude/v2'],
      ['azure', 'https://gate.example/openai'],
      ['cohere', 'https://gate.example/openai'],
    ];
    const usual = Object.values(knownProviders).map(
      ({ kind, baseUrl }) => [kind, baseUrl] as const,
    );
    const imported = Object.values(otherGateways)
      .flatMap((list) => Object.values<ImportedHost>(list))
      .map(
        ({ kind = 'openai-compatible', base, path = '' }) => [kind, base && base + path] as const,
      );
    const providers = [...usual, ...imported, ...proxied].map(([kind, address], index) => [
      `p${index}`,
      { kind, base_url: typeof address === 'string' ? address : 'http://h', api_key: 'k' },
    ]);
    const { config } = load(JSON.stringify({ providers: Object.fromEntries(providers) }));
    assert.equal(Object.keys(config.providers).length, providers.length);
  });

  test('a known provider may have another kind and address', () => {
    const google = '{ kind: openai-compatible, base_url: "https://h/v1", api_key: k }';
    const { config } = load(`providers: { google: ${google} }`, { GEMINI_API_KEY: 'k' });
    assert.deepEqual([config.warnings, config.providers['google']!.enabled], [[], true]);
  });

  const used = { OPENAI_API_KEY: 'env' };
  const [mine, withMine] = ['{ api_key: "${MINE}" }', { MINE: 'mine', ...used }];
  type Key = [entry: string, env: Environment, enabled: boolean, apiKey: string | null];
  const keys: Readonly<Record<string, Key>> = {
    'a key of the file is used': ['{ api_key: file }', {}, true, 'file'],
    'the usual variable overrides a key of the file': ['{ api_key: file }', used, true, 'env'],
    'another variable in the file overrides the usual one': [mine, withMine, true, 'mine'],
    'none means no authentication': ['{ api_key: none }', used, true, null],
    'without a key the usual variable is used': ['{}', used, true, 'env'],
    'without either the provider is off': ['{}', {}, false, null],
    'enabled: false disables the provider': ['{ enabled: false }', used, false, 'env'],
  };
  for (const [title, [entry, env, enabled, apiKey]] of Object.entries(keys)) {
    test(title, () => {
      const openai = load(`providers: { openai: ${entry} }`, env).config.providers['openai']!;
      assert.deepEqual([openai.enabled, openai.api_key], [enabled, apiKey]);
    });
  }

  test('a known name with another kind has no default address', () => {
    const fault = loadFault('providers: { openai: { kind: openai-compatible, api_key: k } }');
    assert.equal(fault.fault.field, 'providers.openai.base_url');
    const entry = '{ kind: anthropic, api_key: k, timeouts: { connect_ms: 9 } }';
    const { config } = load(`providers: { mine: ${entry}, ollama: {} }`);
    const timeouts = { connect_ms: 9, total_ms: 1_800_000 };
    assert.partialDeepStrictEqual(config.providers, {
      mine: { base_url: 'https://api.anthropic.com', timeouts },
      ollama: { enabled: true, api_key: null },
    });
  });

  test('a markup that is a loss or a percentage, and a public address with a path, cause a warning', () => {
    const warned = (text: string) => load(text).config.warnings.join();
    assert.match(warned('pricing: { markup: 0.9 }'), /pricing\.markup is 0\.9/);
    assert.match(warned('pricing: { markup: 20 }'), /pay 20 times/);
    assert.match(warned('server: { public_url: "https://h/gate" }'), /at the root of a host name/);
    assert.equal(warned('server: { public_url: "https://h/" }\npricing: { markup: 2 }'), '');
  });
});

describe('faults', () => {
  const faults: Readonly<Record<string, RegExp>> = {
    'server: { port: 1 }\nserver: { port: 2 }\n':
      /^2:1: .*must be set once; this one is set a second time\. Remove one/,
    'server:\n\tport: 1\n': /^2:1: .*indented with spaces; got a tab/,
    'server:\n  port: 1\n host: h\n': /^3:1: .*must be indented alike/,
    'server: {port: 1\n': /^2:1: .*must be (YAML|indented alike)/,
    'server: { port: 1 } }\n': /^1:21: .*follows where the value has ended/,
    'a: 1\n---\nb: 2\n': /^2:1: .*must be one YAML document/,
    'service: { name: @x }\n': /^1:18: .*must not begin with this character unless it is quoted/,
    'service:\n  name: *there\n': /^1:1: .*`\*reference`/,
    '- server\n': /^1:1: .*must hold sections such as `server:`; got a list/,
    'just words\n': /^1:1: .*must hold sections such as `server:`; got a single value/,
    'server: 5\n': /^1:9: server must be an object; got 5/,
    'server:\n  port: abc\n':
      /^2:9: server\.port must be a whole number from 0 to 65535; got "abc"\. .*Default: 4000\.$/,
    'server:\n  port: "4000"\n':
      /^2:9: server\.port must be a whole number from 0 to 65535; got "4000"/,
    'server:\n  port: 70000\n': /^2:9: server\.port must be .* got 70000/,
    'server:\n  port:\n': /^2:8: server\.port must be .* got null/,
    'server:\n  prot: 1\n':
      /^2:3: server\.prot is not a known field; expected one of host, port, .*\. Did you mean `port`\?$/,
    'sevrer: { port: 1 }\n': /^1:1: sevrer is not a known field; .* Did you mean `server`\?$/,
    'zzz: 1\n': /^1:1: zzz is not a known field; .* Remove it/,
    'server: { public_url: ftp://x }\n':
      /^1:23: server\.public_url must begin with http:\/\/ or https:\/\/; got another scheme/,
    'service: { name: "My Shop" }\n':
      /^1:18: service\.name must be letters, digits and hyphens, beginning with a letter, at most 40; got "My Shop"/,
    'smtp: { url: "smtp://host", from: nobody }\n':
      /^1:35: smtp\.from must be an e-mail address, perhaps with a name: .*; got "nobody"/,
    'telemetry: { headers: { x: "hush\\n" } }\n':
      /^1:28: telemetry\.headers\.x must be printable ASCII characters, at most 4096; got something else \(not shown/,
    'telemetry: { headers: { "x y": a } }\n': /^1:25: .*Names must be letters, digits, hyphens and/,
    'server:\n  port: ${}\n': /^2:9: server\.port must name a variable as `\$\{NAME\}`/,
    'limits: { requests_per_minute: 0 }\n':
      /^1:32: limits\.requests_per_minute must be a whole number of at least 1; got 0/,
    'limits: { account_tokens_per_minute: some }\n':
      /^1:38: limits\.account_tokens_per_minute must be a whole number of at least 1/,
    'server: { trust_proxy: [10.0.0.0/8, lan] }\n':
      /^1:37: server\.trust_proxy\[1\] must be an address or a CIDR range; got "lan"\. .*number of proxies/,
    'server: { cors_origins: ["https://app.example.com/"] }\n':
      /^1:26: server\.cors_origins\[0\] must be `\*` or an origin; got "https:\/\/app\.example\.com\/"\. Write scheme, host/,
    'server: { cors_origins: ["app://obsidian.md/"] }\n':
      /^1:26: server\.cors_origins\[0\] must be /,
    'server: { cors_origins: ["null"] }\n': /^1:26: server\.cors_origins\[0\] must be /,
    'server: { cors_origins: ["*", app.example.com] }\n':
      /^1:31: server\.cors_origins\[1\] must be /,
    'server: { trust_proxy: 0 }\n': /^1:24: server\.trust_proxy must be /,
    'server: { trust_proxy: yes please }\n': /^1:24: server\.trust_proxy must be /,
    'pricing: { markup: 1.0000001 }\n': /^1:20: pricing\.markup must have at most six decimals/,
    'database: { url: mysql }\n': /^1:18: database\.url must be `sqlite:` and the path of a file/,
    'database: { url: "sqlite://books.db" }\n':
      /^1:18: database\.url must be `sqlite:` and the path of a file/,
    'database: { url: "sqlite::memory:" }\n':
      /^1:18: database\.url must be `sqlite:` and the path of a file/,
    'database: { url: postgres://h }\n': /^1:18: .*or a `postgres:\/\/` address/,
    'log: { level: loud }\n': /^1:15: log\.level must be `trace`, .* got "loud"/,
    'providers:\n  x: { kind: gemini, api_key: k }\n':
      /^2:14: .*kind must be `openai`, `openai-compatible`, `anthropic`, `google`, .* or `bfl`; got "gemini"/,
    'providers:\n  x: { api_key: k }\n': /^2:6: providers\.x\.kind is required/,
    'providers:\n  x: { kind: openai }\n': /^2:6: providers\.x\.api_key is required/,
    'providers:\n  x: { kind: openai-compatible, api_key: k }\n':
      /^2:6: providers\.x\.base_url is required/,
    'providers:\n  x: { kind: openai, base_url: h/v1, api_key: k }\n':
      /^2:32: providers\.x\.base_url must be a whole address/,
    'providers:\n  cohere: { base_url: "https://api.cohere.ai/compatibility/v1/", api_key: k }\n':
      /^2:23: providers\.cohere\.base_url must not be the address for OpenAI's format: the kind `cohere`/,
    'providers:\n  google: { base_url: "https://h/v1beta/openai/", api_key: k }\n':
      /^2:23: .*base_url must not be the address for OpenAI's format: the kind `google`/,
    'providers:\n  anthropic: { base_url: "https://h/v1", api_key: k }\n':
      /^2:26: .*base_url must end before `\/v1`, which the kind `anthropic` adds/,
    'providers:\n  azure: { base_url: "https://h/openai/v1/", api_key: k }\n':
      /^2:22: .*base_url must end before `\/openai\/v1`, which the kind `azure` adds/,
    'providers:\n  openai: { base_url: "https://h/v1/chat/completions", api_key: k }\n':
      /^2:23: .*base_url must end before the endpoint/,
    'providers:\n  openai: { base_url: "https://u:p@h/v1", api_key: k }\n':
      /^2:23: .*base_url must hold no user name and password/,
    'providers:\n  openai: { base_url: "https://h/v1 ", api_key: k }\n':
      /^2:23: .*base_url must hold no spaces/,
    'providers:\n  x: { knd: openai, api_key: k }\n':
      /^2:8: providers\.x\.knd is not a known field; .* Did you mean `kind`\?/,
    'providers:\n  X: { kind: openai, api_key: k }\n':
      /^2:3: providers\.X is not a valid name here\. Names must be lower-case letters, digits/,
    'providers:\n  sandbox: { kind: openai, api_key: k }\n':
      /^2:3: providers\.sandbox is the name of the built-in sandbox/,
    'providers: { ${X}: { kind: openai } }\n':
      /^1:14: providers\["\$\{X\}"\] is not a valid name here/,
    'models:\n  m: { routes: [{ provider: opena, model: x }] }\n':
      /^2:29: .*must be the name of a provider; got "opena"/,
    'models:\n  m: { routes: [] }\n': /^2:16: models\.m\.routes must have at least 1 item; got 0/,
    'models:\n  m: { routes: [{ provider: groq, model: x, rank: -1 }] }\n':
      /^2:51: models\.m\.routes\[0\]\.rank must be a whole number from 0 to 1000; got -1/,
    'models:\n  m: { routes: [{ provider: groq, model: x, weight: 0.5 }] }\n':
      /^2:53: models\.m\.routes\[0\]\.weight must be a whole number from 1 to 1000000; got 0\.5/,
    'models:\n  m: { routes: [{ provider: groq, model: x, lacks: [sight] }] }\n':
      /^2:53: models\.m\.routes\[0\]\.lacks\[0\] must be `streaming`, `vision` or `tools`; got "sight"/,
    'models:\n  m: { timeouts: { idle_ms: 0 } }\n':
      /^2:29: models\.m\.timeouts\.idle_ms must be a whole number from 1 to 86400000; got 0/,
    'retries: { max_attempts: 0 }\n':
      /^1:26: retries\.max_attempts must be a whole number from 1 to 20; got 0/,
    'models:\n  m: { routes: [{ provider: groq, model: x, api: responses }] }\n':
      /^2:50: .*must be a format that groq .* speaks: chat; got "responses"/,
    'models:\n  m: { prices: { input: -1, output: 1 } }\n':
      /^2:25: models\.m\.prices\.input must be a number from 0 to 1000; got -1/,
    'models:\n  m: { prices: { input: 1 } }\n': /^2:16: models\.m\.prices\.output is required/,
    'models:\n  m: { tool_prices: { web_serch: 1 } }\n':
      /^2:23: models\.m\.tool_prices\.web_serch is not a known field; .* Did you mean `web_search`\?$/,
    'models:\n  m: { tool_prices: { web_search: 0.0000001 } }\n':
      /^2:35: models\.m\.tool_prices\.web_search must have at most six decimals; got 1e-7\. .* \$10 per 1 000 is 0\.01/,
    'providers:\n  openai: { api_key: k, tool_prices: { web_search: 0.1234567 } }\n':
      /^2:52: providers\.openai\.tool_prices\.web_search must have at most six decimals/,
    'providers:\n  openai: { api_key: k, tool_prices: { web_search: -1 } }\n':
      /^2:52: providers\.openai\.tool_prices\.web_search must be/,
    'models:\n  gpt-4.1: { prices: { input: 0.0000001, output: 1 } }\n':
      /^2:31: models\["gpt-4\.1"\]\.prices\.input must have at most six decimals; got 1e-7\. Prices are USD per million/,
    'models:\n  m: { prices: [{ input: 1, output: 1 }, { input: 2, output: 2 }] }\n':
      /^2:42: models\.m\.prices\[1\] begins when another price/,
    'models:\n  m: { prices: { effective_from: 2026-02-30, input: 1, output: 1 } }\n':
      /^2:34: .*must be a day of the calendar; got "2026-02-30"/,
    'models:\n  m: { created: 2026-13-01 }\n':
      /^2:17: models\.m\.created must be a day of the calendar/,
    'models:\n  m: { prices: { input: 1, output: 1, tiers: [{ above_input_tokens: 9, input: 1, output: 1 }, { above_input_tokens: 9, input: 1, output: 1 }] } }\n':
      /^2:117: .*tiers\[1\]\.above_input_tokens must be above that of the tier before; got 9/,
    'providers:\n  openai: { api_key: k, batch_bucket: "s3://my-bucket" }\n':
      /^2:39: providers\.openai\.batch_bucket must begin with `s3:\/\/` for the kind bedrock and .*; others have none\. Correct it/,
    'providers:\n  bedrock: { api_key: ambient, region: eu-west-1, batch_bucket: "gs://my-bucket" }\n':
      /^2:65: .*batch_bucket must begin with `s3:\/\/` for the kind bedrock/,
    'providers:\n  bedrock: { api_key: ambient, region: eu-west-1, batch_bucket: "s3://my-bucket/../x" }\n':
      /^2:65: .*batch_bucket must be a bucket, perhaps with a folder/,
    'providers:\n  bedrock: { api_key: ambient, region: eu-west-1, batch_bucket: "s3://my-bucket" }\n':
      /^2:\d+: .*batch_role is required beside `batch_bucket`/,
    'providers:\n  vertex: { api_key: ambient, project: p, batch_role: "arn:aws:iam::123456789012:role/r" }\n':
      /^2:55: .*batch_role is only for `batch_bucket` of the kind bedrock/,
    'providers:\n  bedrock: { api_key: bedrock-api-key-1, region: eu-west-1, batch_bucket: "s3://my-bucket", batch_role: "arn:aws:iam::123456789012:role/r" }\n':
      /^2:23: .*api_key must be access keys or `ambient` .* Write `ACCESS_KEY_ID:SECRET_ACCESS_KEY`/,
    'providers:\n  vertex: { api_key: express, batch_bucket: "gs://my-bucket" }\n':
      /^2:\d+: .*project is required beside `batch_bucket`/,
    'providers:\n  vertex: { api_key: express, project: p, batch_bucket: "gs://my-bucket" }\n':
      /^2:22: .*api_key must be the JSON of a service account or `ambient` .*: an express key opens no bucket/,
    'aliases: { "a b": x }\n': /^1:12: aliases\["a b"\] is not a valid name here/,
  };
  for (const [yaml, message] of Object.entries(faults)) {
    test(`${JSON.stringify(yaml)} is reported with its line and column`, () => {
      const { fault, message: whole } = loadFault(yaml);
      const { file, line, column } = fault.location!;
      assert.match(file, /tollgate\.yaml$/);
      assert.ok(whole.includes(`tollgate.yaml:${line}:${column}: `), whole);
      assert.match(whole.slice(whole.indexOf(`${line}:${column}: `)), message);
    });
  }

  const ports = ['PORT=abc', 'PORT=65536', 'PORT=-1', 'PORT=80.5'];
  for (const variable of [...ports, 'HOST=two words', 'DATABASE_URL=postgres://me@host']) {
    test(`${variable} is reported by the variable's name`, () => {
      const [name = '', value] = variable.split('=');
      const expected = new RegExp(`^${name} must be .*; got .*\\. [A-Z]`);
      assert.match(loadFault(null, { [name]: value }).message, expected);
    });
  }

  test('a file that cannot be read is reported', () => {
    const { message } = loadFault(null, { TOLLGATE_CONFIG: folder });
    assert.match(message, /cannot be read\. Check that it is a file/);
  });

  test('no message shows a secret or a variable’s value', () => {
    const secret = 'sk-very-secret-1234567890';
    const files = [
      `providers: { openai: { api_key: [${secret}] } }`,
      `providers: { openai: { api_key: { ${secret}: 1 } } }`,
      `providers: { openai: { api_key: "${secret}" x } }`,
      `providers: { openai: { api_key: "${secret}\n`,
      `providers: { x: { api_key: ${secret} } }`,
      `providers: { openai: ${secret} }`,
      `providers: ${secret}`,
      `database: ${secret}`,
      `providers: { openai: { api_key: ${secret}, base_url: "nowhere:${secret}@x" } }`,
      `providers: { openai: { api_key: ${secret}, base_url: "ftp://u:${secret}@x" } }`,
      `providers: { openai: { api_key: @${secret} } }`,
      `providers: { openai: { api_key: *${secret} } }`,
      `providers: { openai: { api_key: "${secret}\\q" } }`,
      `database: { url: postgres://u:${secret}@h }`,
      'server: { port: ${SECRET} }',
      'service: { name: "${SECRET} ${SECRET}" }',
      'providers: { openai: { api_key: k, kind: "${SECRET}" } }',
      'models: { m: { routes: [{ provider: "${SECRET}", model: x }] } }',
      'models: { m: { created: "${SECRET}" } }',
    ];
    for (const yaml of files) {
      const { message } = loadFault(yaml, { SECRET: secret });
      assert(!message.includes(secret), `${yaml} shows it: ${message}`);
    }
    assert(!loadFault(null, { DATABASE_URL: secret }).message.includes(secret));
  });
});

test('a later fault of a loaded configuration still has its line', () => {
  const { config } = load('service: { name: A }\naliases:\n  fast: nope\n');
  const wrong = { problem: 'is wrong', remedy: 'Mend it.' };
  const fault = configFault(config, ['aliases', 'fast'], wrong);
  assert.match(fault.message, /tollgate\.yaml:3:9: aliases\.fast is wrong\. Mend it\.$/);
});
