// Loads the configuration: environment over file over defaults. All faults are found here, before
// anything is opened.
import { existsSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { isAddressRange } from '../lib/addresses.ts';
import { ConfigError, type FieldPath } from './config-error.ts';
import { faultMakers } from './config-fault.ts';
import { checkDecimals } from './decimals.ts';
import { readConfigFile, type ConfigFileText } from './config-file.ts';
import { readFieldValues, type Environment, type FaultAt } from './field-values.ts';
import { checkImageModels } from './image-models.ts';
import { knownProviders } from './known-providers.ts';
import { checkModels, checkReservedNames } from './models.ts';
import { checkSavedAddresses, resolveProviders } from './providers.ts';
import { savedFieldsIn, type SavedSettings } from './saved-settings.ts';
import { resolveSearch, searchWarnings } from './search.ts';
import { defaultTimeouts, type Config, type ConfigFile } from './schema.ts';
import { plainHttpWarnings, resolveOidc, resolveSmtp } from './sign-in.ts';
import { resolveRetention, resolveStorage } from './storage.ts';
import { resolveStripe, stripeWarnings } from './stripe.ts';
import { plainDatabaseWarnings, plainProviderWarnings } from './unencrypted.ts';
import { resolveTelemetry } from './telemetry.ts';
import { type Tuning, usualTuning } from './tuning.ts';
import { unmaskVariables } from './variables.ts';
import { webAddressProblem } from './web-address.ts';
import { withoutTrailing } from '../lib/without-trailing.ts';

type ConfigSource = {
  readonly env: Environment;
  /** The base of relative paths. */
  readonly cwd: string;
  /** For tests. */
  readonly tuning?: Partial<Tuning> | undefined;
};

type Resolving = ConfigSource & { readonly dataDir?: string; readonly saved?: SavedSettings };

/** Reads the configuration while the gateway runs. Both functions throw ConfigError. */
export type ConfigReader = {
  /** The file as it was last read, with the settings saved in the database beneath it. */
  readonly withSaved: (saved: SavedSettings) => Config;
  /**
   * Reads the file again. The last one stays when this one is wrong with these settings, or when
   * `check` throws.
   */
  readonly rereadFile: (saved: SavedSettings, check: (config: Config) => void) => Config;
  /** The file as it is written, with its references to variables. */
  readonly written: () => Readonly<Record<string, unknown>>;
  /** The fields that the file sets, each with its line, and the variables that set one. */
  readonly locked: () => readonly LockedField[];
};

/** A field that saved settings cannot change. `by`: `tollgate.yaml:12` or `OPENAI_API_KEY`. */
export type LockedField = { readonly path: FieldPath; readonly by: string };

export function openConfig(given: ConfigSource): ConfigReader {
  const source = { ...given, env: trimmed(given.env) };
  let file = findFile(source);
  return {
    withSaved: (saved) => resolveConfig(file, { ...source, saved }),
    rereadFile: (saved, check) => {
      const found = findFile(source);
      const config = resolveConfig(found, { ...source, saved });
      check(config);
      file = found;
      return config;
    },
    written: () => (file ? unmasked(file.root) : {}),
    locked: () => [...lockedByFile(file), ...lockedByVariables(source.env)],
  };
}

/**
 * Returns the configuration from the environment and the file, deeply frozen. Throws ConfigError
 * with the location, the field, what was expected, what was found and a remedy.
 */
export function loadConfig(source: ConfigSource): Config {
  return openConfig(source).withSaved({});
}

/** Returns the configuration of an installation with neither a file nor variables. */
export function defaultConfig(dataDir: string): Config {
  return resolveConfig(null, { env: {}, cwd: '/', dataDir });
}

function resolveConfig(
  file: ConfigFileText | null,
  {
    env,
    cwd,
    tuning,
    saved = {},
    dataDir = resolve(cwd, env['TOLLGATE_DATA_DIR'] || 'data'),
  }: Resolving,
): Config {
  const values = readFieldValues(file, env, saved);
  const { fields, faultAt } = values;
  checkModels(values);
  checkImageModels(values);
  checkReservedNames(values);
  checkPricing(faultAt, fields.pricing);
  checkProxies(faultAt, fields.server.trust_proxy);
  checkOrigins(faultAt, fields.server.cors_origins);
  checkDecimals(faultAt, fields.signup, ['signup'], { remedy: 'Round it to whole microdollars.' });
  const providers = resolveProviders(values, { env, defaultTimeouts });
  checkSavedAddresses(values, { saved, written: file?.root ?? {}, env, providers });
  const server = {
    ...fields.server,
    ...serverFrom(env),
    public_url: publicUrlOf(faultAt, fields.server.public_url),
  };
  const databaseUrl =
    databaseUrlOf(faultAt, { env, cwd }, fields.database.url) ??
    `sqlite:${join(dataDir, 'tollgate.db')}`;
  const config: Config = deepFreeze({
    ...fields,
    server,
    database: { url: databaseUrl },
    providers,
    search: resolveSearch(values, providers),
    retention: resolveRetention(values, cwd),
    storage: resolveStorage(values, env),
    stripe: resolveStripe(values),
    telemetry: {
      operator: resolveTelemetry(values, env),
      allowed_hosts: values.fields.telemetry.allowed_hosts,
    },
    smtp: resolveSmtp(values, env),
    oidc: resolveOidc(values, env),
    tuning: { ...usualTuning, ...tuning },
    dataDir,
    warnings: [
      ...emptyFileWarnings(file),
      ...pathWarnings(server.public_url),
      ...markupWarnings(fields.pricing.markup),
      ...stripeWarnings(fields.stripe),
      ...searchWarnings(values, providers),
      ...plainHttpWarnings(server),
      ...plainProviderWarnings(providers),
      ...plainDatabaseWarnings(databaseUrl, env),
    ],
  });
  faultMakers.set(config, faultAt);
  return config;
}

function findFile({ env, cwd }: ConfigSource): ConfigFileText | null {
  const named = env['TOLLGATE_CONFIG'];
  if (named) return readConfigFile(resolve(cwd, named));
  const usual = join(cwd, 'tollgate.yaml');
  return existsSync(usual) ? readConfigFile(usual) : null;
}

function unmasked(root: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(unmaskVariables(JSON.stringify(root))) as Record<string, unknown>;
}

function lockedByFile(file: ConfigFileText | null): LockedField[] {
  return savedFieldsIn(file?.root ?? {}).map((path) => {
    const { file: name, line } = file!.locationOf(path, 'name');
    return { path, by: `${basename(name)}:${line}` };
  });
}

function lockedByVariables(env: Environment): LockedField[] {
  return Object.entries(knownProviders).flatMap(([name, { keyVariable, addressVariable }]) => [
    ...(keyVariable && env[keyVariable]
      ? [{ path: ['providers', name, 'api_key'], by: keyVariable }]
      : []),
    ...(addressVariable && env[addressVariable]
      ? [{ path: ['providers', name, 'base_url'], by: addressVariable }]
      : []),
  ]);
}

/** Files of secrets often end in a line break. Every object has `constructor`, which is no text. */
function trimmed(env: Environment): Environment {
  const get = (_none: object, name: string) =>
    typeof env[name] === 'string' ? env[name].trim() : undefined;
  return new Proxy<Environment>({}, { get });
}

function serverFrom(env: Environment): { host?: string; port?: number } {
  return {
    ...(env['HOST'] && { host: hostFrom(env['HOST']) }),
    ...(env['PORT'] && { port: portFrom(env['PORT']) }),
  };
}

function hostFrom(host: string): string {
  if (/^\S+$/u.test(host)) return host;
  throw new ConfigError({
    field: 'HOST',
    problem: `must be an address without spaces; got ${JSON.stringify(host)}`,
    remedy: 'Set it to an address to listen on, such as 127.0.0.1 or 0.0.0.0, or unset it.',
  });
}

function portFrom(port: string): number {
  if (/^\d{1,5}$/u.test(port) && Number(port) <= 65_535) return Number(port);
  throw new ConfigError({
    field: 'PORT',
    problem: `must be a whole number from 0 to 65535; got ${JSON.stringify(port)}`,
    remedy:
      'Set it to the TCP port to listen on, or unset it for the one in the file (4000 by default).',
  });
}

function publicUrlOf(faultAt: FaultAt, url: string | null): string | null {
  const problem = url === null ? null : webAddressProblem(url);
  if (problem === null) return url === null ? null : withoutTrailing(url, '/');
  throw faultAt(['server', 'public_url'], {
    problem,
    remedy: 'Write the address clients use, such as `https://llm.example.com`.',
  });
}

/**
 * Returns null when no URL is set. Makes the path of an SQLite file absolute. Never quotes the URL,
 * which may contain a password.
 */
function databaseUrlOf(
  faultAt: FaultAt,
  { env, cwd }: ConfigSource,
  written: string | undefined,
): string | null {
  const url = env['DATABASE_URL'] || written;
  if (url === undefined) return null;
  const path = /^sqlite:(?:\/\/(?=\/))?((?!\/\/).+)$/u.exec(url)?.[1];
  if (path !== undefined && path !== ':memory:')
    return `sqlite:${isAbsolute(path) ? path : resolve(cwd, path)}`;
  if (isPostgresAddress(url)) return url;
  throw faultAt(env['DATABASE_URL'] ? 'DATABASE_URL' : ['database', 'url'], {
    problem:
      'must be `sqlite:` and the path of a file, or a `postgres://` address; got something else (not shown, it may hold a password)',
    remedy:
      'Write `sqlite:/var/lib/tollgate/tollgate.db` or `postgres://user:password@host/database` (with %40 for an @ in the password), or leave it out to use `tollgate.db` in the data folder.',
  });
}

/** Requires a database name: without one, PostgreSQL would use the user's name. */
function isPostgresAddress(url: string): boolean {
  return /^postgres(?:ql)?:\/\//u.test(url) && (URL.parse(url)?.pathname ?? '').length > 1;
}

/** Prices are multiplied exactly, with factors in millionths and whole microdollars. */
function checkPricing(faultAt: FaultAt, pricing: ConfigFile['pricing']): void {
  const checks = [
    ['markup', 6, 'Round it: 1.2 adds 20 % to what the provider charges.'],
    ['own_key_percent', 4, 'Round it: 5 is a twentieth of the price.'],
    ['own_key_fee', 6, 'Round it: 0.000001 is a microdollar.'],
  ] as const;
  for (const [name, decimals, remedy] of checks)
    checkDecimals(faultAt, { [name]: pricing[name] }, ['pricing'], { decimals, remedy });
}

function checkProxies(faultAt: FaultAt, trusted: boolean | number | readonly string[]): void {
  if (typeof trusted !== 'object') return;
  const index = trusted.findIndex((range) => !isAddressRange(range));
  if (index === -1) return;
  throw faultAt(['server', 'trust_proxy', index], {
    problem: `must be an address or a CIDR range; got ${JSON.stringify(trusted[index])}`,
    remedy:
      'List the addresses of your proxies, such as `[10.0.0.0/8, 2001:db8::7]`, or give the number of proxies in front.',
  });
}

function checkOrigins(faultAt: FaultAt, origins: readonly string[]): void {
  const index = origins.findIndex((origin) => origin !== '*' && !isOrigin(origin));
  if (index === -1) return;
  throw faultAt(['server', 'cors_origins', index], {
    problem: `must be \`*\` or an origin; got ${JSON.stringify(origins[index])}`,
    remedy:
      'Write scheme, host and, if it is not the usual one, port, and nothing after it: `https://app.example.com`.',
  });
}

/** Apps and browser extensions have schemes of their own: `app://obsidian.md`. */
function isOrigin(text: string): boolean {
  const origin = URL.parse(text)?.origin;
  if (origin === 'null') return /^[a-z][a-z\d+.-]*:\/\/[\w.-]+(?::\d+)?$/i.test(text);
  return origin === text.toLowerCase();
}

function emptyFileWarnings(file: ConfigFileText | null): string[] {
  if (!file || Object.keys(file.root).length > 0) return [];
  return [
    `The configuration file ${file.locationOf([]).file} holds no fields; the defaults apply.`,
  ];
}

function markupWarnings(markup: number): string[] {
  if (markup < 1)
    return [`pricing.markup is ${markup}: accounts pay less than the providers charge.`];
  return markup > 10
    ? [
        `pricing.markup is ${markup}: accounts pay ${markup} times what the providers charge. 1.2 adds 20 %.`,
      ]
    : [];
}

function pathWarnings(publicUrl: string | null): string[] {
  if (publicUrl === null || new URL(publicUrl).pathname === '/') return [];
  return ['server.public_url has a path: the dashboard works only at the root of a host name.'];
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}
