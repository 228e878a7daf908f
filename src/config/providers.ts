// Resolves the providers and which of them are enabled: those of the file, completed with known
// defaults, and those that the environment enables by their key variable.
import { isObject } from '../lib/json.ts';
import { machineKey, providerKindNames } from '../terms/provider-kind.ts';
import { ConfigError } from './config-error.ts';
import type { Environment, FieldValues } from './field-values.ts';
import {
  knownProviderOf,
  knownProviders,
  reservedProviderName,
  type KnownProvider,
} from './known-providers.ts';
import type { ToolPricesEntry } from './model-schema.ts';
import { checkDecimals } from './decimals.ts';
import { ofCalls } from './models.ts';
import type { SavedSettings } from './saved-settings.ts';
import type { ConfigFile, ProviderConfig } from './schema.ts';
import { webAddressProblem } from './web-address.ts';
import { withoutTrailing } from '../lib/without-trailing.ts';

type ProviderEntry = ConfigFile['providers'][string];
/** In the file, this word instead of a key means that the provider needs none. */
const noKey = 'none';

/** Of a provider without an entry of its own. */
export const usualSettings = {
  region: null,
  project: null,
  api_version: null,
  batch_bucket: null,
  batch_role: null,
  tool_prices: {},
  pass_fields: [] as string[],
  accounts_may_bring_keys: false,
  completions: false,
  cache_salt: false,
  credential_of: null,
  weight: 1,
  requests_per_minute: null,
} as const;

/** Throws ConfigError for a provider that cannot be completed. */
export function resolveProviders(
  values: FieldValues,
  {
    env,
    defaultTimeouts,
  }: { readonly env: Environment; readonly defaultTimeouts: ProviderConfig['timeouts'] },
): Record<string, ProviderConfig> {
  const providers: Record<string, ProviderConfig> = {};
  for (const [name, entry] of Object.entries(values.fields.providers)) {
    providers[name] = completeProvider({ values, env, name }, entry);
  }
  for (const [name, known] of Object.entries(knownProviders)) {
    const found = Object.hasOwn(providers, name) ? null : fromEnvironment(env, known);
    if (!found) continue;
    const usual = { ...usualSettings, timeouts: defaultTimeouts };
    providers[name] = { ...usual, enabled: true, kind: known.kind, ...found };
  }
  for (const [name, { credential_of: of }] of Object.entries(values.fields.providers)) {
    if (of !== undefined) providers[name] = furtherCredential(values, providers, { name, of });
  }
  return providers;
}

type SavedAddresses = {
  readonly saved: SavedSettings;
  readonly written: Readonly<Record<string, unknown>>;
  readonly env: Environment;
  readonly providers: Readonly<Record<string, ProviderConfig>>;
};

/**
 * Throws ConfigError for a saved address of a provider whose key is not saved with it, nor those of its
 * further credentials: whoever may change settings in a browser could have a key of the file or the
 * environment sent anywhere.
 */
export function checkSavedAddresses(
  { faultAt }: FieldValues,
  { saved, written, env, providers }: SavedAddresses,
): void {
  for (const [name, { api_key: key, credential_of: of }] of Object.entries(providers)) {
    const owner = of ?? name;
    const isAddressSaved =
      fieldsOf(saved.providers, owner)['base_url'] !== undefined &&
      fieldsOf(written['providers'], owner)['base_url'] === undefined;
    if (!isAddressSaved || key === null) continue;
    const variable = knownProviderOf(name)?.keyVariable ?? null;
    const savedKey = fieldsOf(saved.providers, name)['api_key'];
    const isKeySaved =
      savedKey !== undefined &&
      // That of the machine goes only where the vendor or the file says.
      savedKey !== machineKey &&
      fieldsOf(written['providers'], name)['api_key'] === undefined &&
      keyFrom(env, variable) === undefined;
    if (isKeySaved) continue;
    const whose = of === null ? '' : ` and that of \`${name}\``;
    throw faultAt(['providers', owner, 'base_url'], {
      problem: `may be saved only together with the provider's key${whose}, which is set in the file, in ${variable ?? 'a variable'} or by the machine`,
      remedy: 'Save the key too and remove it there, or set the address where the key is set.',
    });
  }
}

function fieldsOf(section: unknown, name: string): Readonly<Record<string, unknown>> {
  const entry = isObject(section) && Object.hasOwn(section, name) ? section[name] : undefined;
  return isObject(entry) ? entry : {};
}

/**
 * Returns a known provider's address, place and key when the environment alone enables it; else null.
 */
function fromEnvironment(
  env: Environment,
  known: KnownProvider,
): (Place & Pick<ProviderConfig, 'base_url' | 'api_key'>) | null {
  const { keyVariable } = known;
  const apiKey = keyFrom(env, keyVariable);
  const place = placeFrom(env, known);
  const named = addressFrom(env, known);
  const address = named ?? usualAddressOf(known, place);
  const isNamed = (keyVariable === null ? named : apiKey) !== undefined;
  return isNamed && address !== null
    ? { base_url: address, api_key: apiKey ?? null, ...place }
    : null;
}

type Place = Pick<ProviderConfig, 'region' | 'project'>;

/** The place that a cloud's usual variables name. */
function placeFrom(env: Environment, { placeVariables = {} }: KnownProvider): Place {
  const valueOf = (variable: string | undefined) =>
    (variable !== undefined && env[variable]) || null;
  return { region: valueOf(placeVariables.region), project: valueOf(placeVariables.project) };
}

function usualAddressOf({ baseUrl }: KnownProvider, { region }: Place): string | null {
  return typeof baseUrl === 'function' ? baseUrl(region) : baseUrl;
}

type Completion = {
  readonly values: FieldValues;
  readonly env: Environment;
  readonly name: string;
};

function completeProvider(completion: Completion, entry: ProviderEntry): ProviderConfig {
  const { values, name } = completion;
  if (name === reservedProviderName) {
    throw values.faultAt(
      ['providers', name],
      {
        problem: 'is the name of the built-in sandbox',
        remedy: 'Choose another name; the sandbox needs no entry.',
      },
      'name',
    );
  }
  const key = keyOf(completion, entry);
  if (key !== undefined && !isUsable(kindOf(completion, entry), key))
    throw values.faultAt(['providers', name, 'api_key'], unsendable);
  const provider = {
    ...usualSettings,
    ...entry,
    enabled: entry.enabled && key !== undefined,
    kind: kindOf(completion, entry),
    ...placeOf(completion, entry),
    base_url: baseUrlOf(completion, entry),
    api_key: key === undefined || key === noKey ? null : key,
    tool_prices: toolPricesOf(values, name, entry),
  };
  checkBucket(values, name, provider);
  return provider;
}

/** A proxy has credentials of its own. */
const isAtGoogle = /\.googleapis\.com(?:[:/]|$)/;

/** Throws ConfigError for a bucket with which no batch could run. */
function checkBucket(
  { faultAt }: Pick<FieldValues, 'faultAt'>,
  name: string,
  provider: ProviderConfig,
): void {
  const { kind, api_key: key, project, base_url: baseUrl } = provider;
  const { batch_bucket: bucket, batch_role: role } = provider;
  const [isBedrock, isVertex] = [kind === 'bedrock', kind === 'vertex'];
  const isTaken = bucket === null || bucket.startsWith(isBedrock ? 's3://' : 'gs://');
  const isKey = key !== null && key !== machineKey;
  const fault = (field: keyof ProviderConfig, problem: string, remedy: string) =>
    faultAt(['providers', name, field], { problem, remedy });
  if (bucket !== null && !(isTaken && (isBedrock || isVertex)))
    throw fault(
      'batch_bucket',
      'must begin with `s3://` for the kind bedrock and with `gs://` for vertex; others have none',
      'Correct it, or leave it out.',
    );
  if (role !== null && !(isBedrock && bucket !== null))
    throw fault('batch_role', 'is only for `batch_bucket` of the kind bedrock', 'Leave it out.');
  if (bucket === null) return;
  const orNone = 'or leave `batch_bucket` out.';
  if (isBedrock && role === null)
    throw fault(
      'batch_role',
      'is required beside `batch_bucket`',
      `Write the ARN of the role, ${orNone}`,
    );
  if (isBedrock && isKey && !key.includes(':'))
    throw fault(
      'api_key',
      'must be access keys or `ambient` beside `batch_bucket`: a Bedrock API key opens no bucket',
      `Write \`ACCESS_KEY_ID:SECRET_ACCESS_KEY\`, ${orNone}`,
    );
  if (isVertex && project === null)
    throw fault('project', 'is required beside `batch_bucket`', `Write its id, ${orNone}`);
  if (isVertex && isKey && !key.trimStart().startsWith('{') && isAtGoogle.test(baseUrl))
    throw fault(
      'api_key',
      'must be the JSON of a service account or `ambient` beside `batch_bucket`: an express key opens no bucket',
      `Write one of them, ${orNone}`,
    );
}

/** Fields in which a further credential is like its provider. */
const sharedFields = [
  'kind',
  'base_url',
  'region',
  'project',
  'api_version',
  'batch_bucket',
  'batch_role',
  'tool_prices',
  'pass_fields',
] as const;

function furtherCredential(
  { fields, faultAt }: FieldValues,
  providers: Readonly<Record<string, ProviderConfig>>,
  { name, of }: { readonly name: string; readonly of: string },
): ProviderConfig {
  const main = Object.hasOwn(providers, of) ? providers[of] : undefined;
  if (!main || main.credential_of !== null || of === name) {
    throw faultAt(['providers', name, 'credential_of'], {
      problem: `must be the name of another provider under \`providers\` that has a credential of its own; got ${JSON.stringify(of)}`,
      remedy: 'Add that provider, or correct the name.',
    });
  }
  const shared = sharedFields.find((field) => fields.providers[name]![field] !== undefined);
  if (shared !== undefined) {
    throw faultAt(['providers', name, shared], {
      problem: `is that of ${of}, because of \`credential_of\``,
      remedy: 'Leave it out here.',
    });
  }
  const { enabled, api_key, credential_of, weight, requests_per_minute } = providers[name]!;
  const own = { enabled, api_key, credential_of, weight, requests_per_minute };
  const further = { ...main, ...own, accounts_may_bring_keys: false };
  checkBucket({ faultAt }, name, further);
  return further;
}

function kindOf({ values, name }: Completion, entry: ProviderEntry): ProviderConfig['kind'] {
  const kind = entry.kind ?? knownProviderOf(name)?.kind ?? kindOfMain(values, entry);
  if (kind) return kind;
  throw values.faultAt(['providers', name, 'kind'], {
    problem: `is required: ${providerKindNames.map((word) => `\`${word}\``).join(', ')}`,
    remedy: `It may be left out only for a known provider: ${Object.keys(knownProviders).join(', ')}.`,
  });
}

/**
 * Returns the kind of the provider whose further credential this is; undefined when it is none. For an
 * unknown provider it is any kind, because `furtherCredential` refuses the entry.
 */
function kindOfMain(
  { fields }: FieldValues,
  { credential_of: of }: ProviderEntry,
): ProviderConfig['kind'] | undefined {
  if (of === undefined) return undefined;
  return fields.providers[of]?.kind ?? knownProviderOf(of)?.kind ?? 'openai-compatible';
}

function toolPricesOf(
  { faultAt }: FieldValues,
  name: string,
  { tool_prices: prices = {} }: ProviderEntry,
): ToolPricesEntry {
  checkDecimals(faultAt, prices, ['providers', name, 'tool_prices'], ofCalls);
  return prices;
}

/**
 * The default address applies only to the default kind. A known name with another kind must state
 * its address.
 */
function baseUrlOf(completion: Completion, entry: ProviderEntry): string {
  const { values, env, name } = completion;
  const kind = kindOf(completion, entry);
  const path = ['providers', name, 'base_url'];
  const known = knownProviderOf(name);
  const fromVariable = known?.kind === kind ? addressFrom(env, known) : undefined;
  if (fromVariable !== undefined) return fromVariable;
  if (entry.base_url !== undefined) {
    const address = withoutTrailing(entry.base_url, '/');
    const fault = addressFault(kind, address);
    if (fault) throw values.faultAt(path, fault);
    return address;
  }
  const usualOf = known?.kind === kind ? known : knownProviderOf(kind);
  const usual = usualOf && usualAddressOf(usualOf, placeOf(completion, entry));
  if (usual) return usual;
  // That of its provider follows.
  if (entry.credential_of !== undefined) return '';
  throw values.faultAt(path, {
    problem: `is required for the provider ${name}: the address of its API`,
    remedy: 'Write it with its version if it has one, such as `https://api.example.com/v1`.',
  });
}

/** Ends of addresses that a kind adds itself. */
const addedBy: Readonly<Record<string, RegExp>> = {
  anthropic: /\/v1$/,
  google: /\/v1(?:alpha|beta)?$/,
  cohere: /\/v[12]$/,
  azure: /\/openai\/v1$/,
};

function addressFault(
  kind: string,
  address: string,
): { readonly problem: string; readonly remedy: string } | null {
  const problem = webAddressProblem(address);
  if (problem)
    return {
      problem,
      remedy: 'Write the address of its API, such as `https://api.example.com/v1`.',
    };
  // A proxy may have `/embeddings` in its path, and versions of its own.
  if (
    /\/(?:chat\/completions|v\d\w*\/(?:completions|responses|messages|embeddings))$/.test(address)
  )
    return {
      problem: 'must end before the endpoint, which the gateway adds',
      remedy: 'Leave `/chat/completions` and the like away.',
    };
  if (!addedBy[kind]) return null;
  if (/\/(?:compatibility\/v1|v1(?:beta)?\/openai)$/.test(address))
    return {
      problem: `must not be the address for OpenAI's format: the kind \`${kind}\` speaks its own`,
      remedy: 'Leave it out, or write `kind: openai-compatible`, with which it may stay.',
    };
  const [ending] = addedBy[kind].exec(address) ?? [];
  return ending === undefined
    ? null
    : {
        problem: `must end before \`${ending}\`, which the kind \`${kind}\` adds`,
        remedy: `Leave \`${ending}\` away.`,
      };
}

function placeOf(completion: Completion, entry: ProviderEntry): Place {
  const known = knownProviderOf(kindOf(completion, entry));
  const usual = known ? placeFrom(completion.env, known) : usualSettings;
  return { region: entry.region ?? usual.region, project: entry.project ?? usual.project };
}

/** Returns the address from a known provider's own variable. */
function addressFrom(
  env: Environment,
  { kind, addressVariable }: KnownProvider,
): string | undefined {
  const given = addressVariable === undefined ? undefined : env[addressVariable];
  if (addressVariable === undefined || !given) return undefined;
  const address = withoutTrailing(given, '/');
  const fault = addressFault(kind, address);
  if (fault === null) return address;
  throw new ConfigError({ field: addressVariable, ...fault });
}

/**
 * Returns undefined when there is no key, which disables the provider. The provider's usual
 * variable overrides a key in the file, but not `none` or another variable that the file names:
 * those are the operator's explicit choice.
 */
function keyOf({ values, env, name }: Completion, entry: ProviderEntry): string | undefined {
  if (values.unsetKeys.has(name)) return undefined;
  const known = knownProviderOf(name);
  const usual = keyFrom(env, known?.keyVariable ?? null);
  if (entry.api_key !== undefined) {
    return entry.api_key === noKey || values.expandedKeys.has(name)
      ? entry.api_key
      : (usual ?? entry.api_key);
  }
  if (known) return known.keyVariable === null ? noKey : usual;
  throw values.faultAt(['providers', name, 'api_key'], {
    problem: 'is required: a key, `${VARIABLE}`, or `none`',
    remedy: 'Write `none` for a provider that wants no authentication.',
  });
}

/** Returns the key from a provider's usual variable. */
function keyFrom(env: Environment, variable: string | null): string | undefined {
  const key = variable === null ? undefined : env[variable];
  if (variable === null || !key) return undefined;
  if (isSendable(key)) return key;
  throw new ConfigError({ field: variable, ...unsendable });
}

/** A shorter one could not be told from a word, and removed, in what a provider says. */
const ownKeyCharactersMin = 9;

/**
 * Returns what is wrong with a key that an account brings for a provider, without quoting it; null:
 * nothing. The machine's own credential is the operator's.
 */
export function ownKeyProblem(kind: ProviderConfig['kind'], key: string): string | null {
  if (key === noKey || key === machineKey) return `must be a key of yours; \`${key}\` is none.`;
  if (key.length < ownKeyCharactersMin)
    return `must have at least ${ownKeyCharactersMin} characters.`;
  return isUsable(kind, key) ? null : `${unsendable.problem}. ${unsendable.remedy}`;
}

/** A document, as Vertex takes it, is never sent. */
function isUsable(kind: ProviderConfig['kind'], key: string): boolean {
  return (kind === 'vertex' && key.trimStart().startsWith('{')) || isSendable(key);
}

/** Returns true when the key may be sent in a header. `docker --env-file` keeps quotes. */
function isSendable(key: string): boolean {
  return /^[\x21-\x7e]+$/u.test(key) && !/^(["']).*\1$/.test(key);
}

const unsendable = {
  problem:
    'must be a key of visible ASCII characters without quotes around it; got something else (not shown, it is a secret)',
  remedy: 'Check it for spaces, line breaks and quotes that were copied along.',
} as const;
