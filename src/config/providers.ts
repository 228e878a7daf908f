// Which providers there are and which are switched on: the file's, with known ones completed, and those that the environment alone
// switches on by their usual key variable.
import { ConfigError } from './config-error.ts';
import type { Environment, FieldValues } from './field-values.ts';
import { knownProviders, reservedProviderName } from './known-providers.ts';
import type { ToolPricesEntry } from './model-schema.ts';
import { checkToolPrices } from './models.ts';
import type { ConfigFile, ProviderConfig } from './schema.ts';
import { webAddressProblem } from './web-address.ts';

type ProviderEntry = ConfigFile['providers'][string];
/** As in the file: this word instead of a key means that the provider wants none. */
const noKey = 'none';

/** Throws ConfigError for a provider of the file that cannot be completed. */
export function resolveProviders(
  values: FieldValues,
  { env, defaultTimeouts }: { readonly env: Environment; readonly defaultTimeouts: ProviderConfig['timeouts'] },
): Record<string, ProviderConfig> {
  const providers: Record<string, ProviderConfig> = {};
  for (const [name, entry] of Object.entries(values.fields.providers)) {
    providers[name] = completeProvider({ values, env, name }, entry);
  }
  for (const [name, { kind, baseUrl, keyVariable }] of Object.entries(knownProviders)) {
    const apiKey = keyFrom(env, keyVariable);
    if (apiKey === undefined || Object.hasOwn(providers, name)) continue;
    providers[name] = { enabled: true, kind, base_url: baseUrl, api_key: apiKey, timeouts: defaultTimeouts, tool_prices: {} };
  }
  return providers;
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
  if (key !== undefined && !isSendable(key)) throw values.faultAt(['providers', name, 'api_key'], unsendable);
  return {
    enabled: entry.enabled && key !== undefined,
    kind: kindOf(completion, entry),
    base_url: baseUrlOf(completion, entry),
    api_key: key === undefined || key === noKey ? null : key,
    timeouts: entry.timeouts,
    tool_prices: toolPricesOf(values, name, entry),
  };
}

function kindOf({ values, name }: Completion, entry: ProviderEntry): ProviderConfig['kind'] {
  const kind = entry.kind ?? knownOf(name)?.kind;
  if (kind) return kind;
  throw values.faultAt(['providers', name, 'kind'], {
    problem: 'is required: `openai`, `openai-compatible`, `anthropic` or `google`',
    remedy: `It may be left out only for a known provider: ${Object.keys(knownProviders).join(', ')}.`,
  });
}

function toolPricesOf({ faultAt }: FieldValues, name: string, { tool_prices: prices = {} }: ProviderEntry): ToolPricesEntry {
  checkToolPrices(faultAt, prices, ['providers', name, 'tool_prices']);
  return prices;
}

/** The usual address goes with the usual kind: under a known name of another kind, the file must say where it is. */
function baseUrlOf(completion: Completion, entry: ProviderEntry): string {
  const { values, name } = completion;
  const kind = kindOf(completion, entry);
  const path = ['providers', name, 'base_url'];
  if (entry.base_url !== undefined) {
    const problem = webAddressProblem(entry.base_url);
    if (problem)
      throw values.faultAt(path, { problem, remedy: 'Write the address of its API, such as `https://api.example.com/v1`.' });
    return entry.base_url.replace(/\/+$/u, '');
  }
  const known = knownOf(name);
  if (known?.kind === kind) return known.baseUrl;
  if (kind !== 'openai-compatible') return knownProviders[kind]!.baseUrl;
  throw values.faultAt(path, {
    problem: `is required for the provider ${name}: the address of its API`,
    remedy: 'Write it with its version, such as `https://api.example.com/v1`.',
  });
}

/**
 * undefined: there is no key, so the provider is off. The environment goes over the file: the usual variable over a key written
 * there, but not over `none` or over another variable that the file names, which are the operator's choice of no key or of that one.
 */
function keyOf({ values, env, name }: Completion, entry: ProviderEntry): string | undefined {
  if (values.unsetKeys.has(name)) return undefined;
  const known = knownOf(name);
  const usual = keyFrom(env, known?.keyVariable ?? null);
  if (entry.api_key !== undefined) {
    return entry.api_key === noKey || values.expandedKeys.has(name) ? entry.api_key : (usual ?? entry.api_key);
  }
  if (known) return known.keyVariable === null ? noKey : usual;
  throw values.faultAt(['providers', name, 'api_key'], {
    problem: 'is required: a key, `${VARIABLE}`, or `none`',
    remedy: 'Write `none` for a provider that wants no authentication.',
  });
}

/** The key in a provider's usual variable. Files of secrets often end in a line break, which is no part of the key. */
function keyFrom(env: Environment, variable: string | null): string | undefined {
  const key = variable === null ? undefined : env[variable]?.trim();
  if (variable === null || !key) return undefined;
  if (isSendable(key)) return key;
  throw new ConfigError({ place: null, field: variable, ...unsendable });
}

/** Whether a text can stand in a header at all. */
function isSendable(key: string): boolean {
  return /^[\x21-\x7e]+$/u.test(key);
}

const unsendable = {
  problem: 'must be a key of visible ASCII characters; got something else (not shown, it is a secret)',
  remedy: 'Check it for spaces, line breaks and quotes that were copied along.',
} as const;

function knownOf(name: string): (typeof knownProviders)[string] | undefined {
  return Object.hasOwn(knownProviders, name) ? knownProviders[name] : undefined;
}
