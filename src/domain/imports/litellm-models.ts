// Reads LiteLLM's models, from its config.yaml and its database, which add up: each deployment is a
// route. What the database has sealed is opened with LiteLLM's own salt key.
import { withoutTrailing } from '../../lib/without-trailing.ts';
import { createDecipheriv, hash } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import hosts from '../../../catalog/other-gateways.json' with { type: 'json' };
import type { ForeignDatabase, ForeignRow } from '../../db/foreign.ts';
import type { ModelType } from '../../terms/model-type.ts';
import { type Decimal, pricesOf, readDecimal, times } from './decimal.ts';
import { literalKey, notesOf, type PlanDraft } from './plan-draft.ts';
import type { PlannedProvider } from './plan.ts';
import { isTrue, listOf, objectOf, text } from './reading.ts';

export type LiteLlmSource = {
  /** The content of config.yaml; `{}`: there is none. */
  readonly config: ForeignRow;
  readonly database: ForeignDatabase | null;
  /** LITELLM_SALT_KEY, else the master key; null: unknown. */
  readonly saltKey: string | null;
};

type Deployment = { readonly name: string; readonly params: ForeignRow; readonly info: ForeignRow };
/** Names of access groups, and the models in them. */
export type AccessGroups = ReadonlyMap<string, readonly string[]>;

export async function readModels(draft: PlanDraft, source: LiteLlmSource): Promise<AccessGroups> {
  const { config, database, saltKey } = source;
  const rows = async (table: string) => (await database?.rows(`LiteLLM_${table}`)) ?? [];
  const credentials = new Map<string, ForeignRow>();
  const fromFile = listOf(config['credential_list']).map(objectOf);
  for (const row of fromFile)
    credentials.set(text(row['credential_name']), objectOf(row['credential_values']));
  for (const row of await rows('CredentialsTable'))
    credentials.set(text(row['credential_name']), unsealed(row['credential_values'], saltKey));
  const deployments: readonly Deployment[] = [
    ...listOf(config['model_list'])
      .map(objectOf)
      .map((row) => ({
        name: text(row['model_name']),
        params: objectOf(row['litellm_params']),
        info: objectOf(row['model_info']),
      })),
    ...(await rows('ProxyModelTable')).map((row) => ({
      name: text(row['model_name']),
      params: unsealed(row['litellm_params'], saltKey),
      info: { ...objectOf(row['model_info']), blocked: row['blocked'] },
    })),
  ];
  for (const { name, params, info } of deployments) {
    const credential = credentials.get(text(params['litellm_credential_name']));
    readDeployment(draft, {
      name,
      info,
      params: { ...lastOf(deployments, name), ...credential, ...params },
    });
  }
  const stored = new Map(
    (await rows('Config')).map((row) => [text(row['param_name']), row['param_value']]),
  );
  const settings = (name: string) => ({ ...objectOf(config[name]), ...objectOf(stored.get(name)) });
  readSettings(draft, { ...settings('litellm_settings'), ...settings('router_settings') });
  if (config['include'] !== undefined)
    draft.loses('include', 'files that it names are not read: import them too');
  const groups = new Map<string, readonly string[]>();
  for (const { name, info } of deployments)
    for (const group of listOf(info['access_groups']).map(text))
      groups.set(group, [...(groups.get(group) ?? []), name]);
  return groups;
}

/** Who has no order comes after those of the same name that have one. */
function lastOf(deployments: readonly Deployment[], name: string): ForeignRow {
  const others = deployments.filter((other) => other.name === name);
  return { order: others.some(({ params }) => params['order'] !== undefined) ? rankMax : 0 };
}

const rankMax = 1_000;

type Host = {
  readonly base?: string;
  readonly variable?: string;
  readonly kind?: string;
  readonly refused?: boolean;
};
const known: Readonly<Record<string, Host>> = hosts.litellm;
/** Our names of hosts that have another name there. */
const renamed: Readonly<Record<string, string>> = {
  gemini: 'google',
  together_ai: 'together',
  fireworks_ai: 'fireworks',
  moonshot: 'moonshotai',
  hosted_vllm: 'vllm',
  ollama_chat: 'ollama',
};
const bareNames: readonly (readonly [RegExp, string])[] = [
  [/^(?:gpt|chatgpt|o\d)/, 'openai'],
  [/^claude/, 'anthropic'],
  [/^gemini/, 'gemini'],
];

/** By LiteLLM's modes; others are of chat. */
const modelTypes: ReadonlyMap<string, ModelType> = new Map([
  ['embedding', 'embedding'],
  ['rerank', 'rerank'],
  ['moderation', 'moderation'],
  ['audio_speech', 'speech'],
  ['audio_transcription', 'transcription'],
]);

function readDeployment(draft: PlanDraft, { name, params, info }: Deployment): void {
  const model = text(params['model']);
  const first = model.includes('/') ? model.slice(0, model.indexOf('/')) : '';
  const bare = bareNames.find(([pattern]) => pattern.test(model))?.[1] ?? '';
  const prefix =
    text(params['custom_llm_provider']) || (Object.hasOwn(known, first) ? first : bare);
  const host = Object.hasOwn(known, prefix) ? known[prefix] : undefined;
  const base = reference(params['api_base'] ?? params['base_url']) || host?.base;
  const isSealed = Object.values(params).includes(sealed);
  const stays = notesOf({
    'it is sealed: set LITELLM_SALT_KEY (or LITELLM_MASTER_KEY) to the key of that installation':
      isSealed,
    'disabled there': isTrue(info['blocked']),
    'a pattern: name each model that it stands for': name.includes('*'),
    [`its host (${prefix || model}) is not spoken here`]: host === undefined || host.refused,
    'it has no api_base': host !== undefined && !host.refused && base === undefined,
  });
  if (stays.length > 0) return draft.note('model', name, ...(isSealed ? stays.slice(0, 1) : stays));
  const kind = host!.kind ?? 'openai-compatible';
  const provider: PlannedProvider = {
    kind,
    base_url: withoutAddition(base!, kind),
    api_key:
      reference(params['api_key']) ||
      (host!.variable === undefined ? 'none' : `\${${host!.variable}}`),
  };
  const upstream = first === prefix && first !== '' ? model.slice(first.length + 1) : model;
  const type = modelTypes.get(text(info['mode'])) ?? 'chat';
  const prices = pricesOfDeployment({ ...info, ...params }, type);
  const target = draft.idOf(upstream);
  // A model of the catalogue keeps its routes and prices there, under one more name.
  const isAlias =
    prices === null && target !== null && target !== name && !draft.modelNames().includes(name);
  const providerName = draft.provider(renamed[prefix] ?? prefix, provider);
  if (isAlias) return draft.alias(name, target);
  const weight = Number(params['weight'] ?? 1);
  const route = {
    provider: providerName,
    model: upstream,
    rank: Math.min(rankMax, Math.max(0, Math.trunc(Number(params['order'])) || 0)),
    weight: Math.min(
      1_000_000,
      Math.max(1, Math.round(Number.isInteger(weight) ? weight : weight * 100) || 1),
    ),
  };
  draft.route(name, route, type);
  if (prices) draft.price(name, prices);
  const lost = Object.keys(params).filter((field) =>
    /^(?:rpm|tpm|max_budget|budget_duration)$|_cost_per_\w+_(?:above_(?!1hr)|batches|flex|priority)/.test(
      field,
    ),
  );
  if (lost.length > 0) draft.loses(`${lost.join(', ')} of ${name}`, 'a route has none');
}

/** `os.environ/NAME` becomes `${NAME}`. */
function reference(value: unknown): string {
  const [, name] = /^os\.environ\/(\w+)$/.exec(text(value)) ?? [];
  return name === undefined ? literalKey(text(value)) : `\${${name}}`;
}

const million: Decimal = { digits: 1_000_000n, scale: 0 };
const priceFields = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cache_read: 'cache_read_input_token_cost',
  cache_write: 'cache_creation_input_token_cost',
  cache_write_1h: 'cache_creation_input_token_cost_above_1hr',
};

/** null: the deployment has no price of its own. */
function pricesOfDeployment(
  fields: ForeignRow,
  type: ModelType,
): Readonly<Record<string, number>> | null {
  const perToken = Object.entries(priceFields).map(
    ([field, name]) => [field, readDecimal(fields[name])] as const,
  );
  const hasNoOutput = type === 'embedding' || type === 'rerank';
  const prices: Readonly<Record<string, number>> = {
    ...(hasNoOutput && { output: 0 }),
    ...pricesOf(
      Object.fromEntries(perToken.map(([field, price]) => [field, price && times(price, million)])),
    ),
  };
  return 'input' in prices && 'output' in prices ? prices : null;
}

function readSettings(draft: PlanDraft, settings: ForeignRow): void {
  for (const [alias, target] of Object.entries(objectOf(settings['model_group_alias'])))
    draft.alias(alias, text(objectOf(target)['model'] ?? target));
  for (const field of ['fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'])
    for (const entry of listOf(settings[field]))
      draft.loses(
        `${field} of ${Object.keys(objectOf(entry)).join(', ')}`,
        'another model is another price here: only routes of one model replace each other',
      );
  if (settings['max_budget'] !== undefined)
    draft.loses('max_budget of the whole proxy', 'there is none: balances are prepaid');
  const zone = text(settings['timezone']);
  if (!/^(?:UTC|Etc\/UTC|)$/.test(zone))
    draft.loses(`timezone ${zone}`, 'days and months are UTC here');
}

const sealed = Symbol('sealed');

/** Opens the strings of a sealed object. Without the right key, they become a symbol. */
function unsealed(value: unknown, saltKey: string | null): ForeignRow {
  const open = (each: unknown) => {
    if (typeof each !== 'string' || readDecimal(each)) return each;
    return saltKey === null ? sealed : unseal(each, saltKey);
  };
  return Object.fromEntries(
    Object.entries(objectOf(value)).map(([name, each]) => [name, open(each)]),
  );
}

/** Opens a text that LiteLLM has sealed, in its old or its new way. */
export function unseal(stored: string, saltKey: string): string | typeof sealed {
  const key = hash('sha256', saltKey, 'buffer');
  const [, gcm] = /^v2:gcm:(.*)$/.exec(stored) ?? [];
  const bytes = Buffer.from(gcm ?? stored, 'base64');
  try {
    if (gcm === undefined)
      return Buffer.from(
        xsalsa20poly1305(key, bytes.subarray(0, 24)).decrypt(bytes.subarray(24)),
      ).toString();
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), {
      authTagLength: 16,
    }).setAuthTag(bytes.subarray(-16));
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString();
  } catch {
    return sealed;
  }
}

/** Takes away what LiteLLM adds where it is missing, and a kind adds always. */
function withoutAddition(address: string, kind: string): string {
  const isVersionless = kind === 'anthropic' || kind === 'google';
  const addition = isVersionless ? /\/v1(?:beta)?(?:\/messages)?$/ : /\/chat\/completions$/;
  return withoutTrailing(address, '/').replace(addition, '');
}
