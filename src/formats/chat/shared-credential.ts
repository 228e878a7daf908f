// All tenants share the operator's credential at the provider. What has a price that the catalogue does not state, or names state kept
// at the provider, is refused here; `store` and `metadata` are dealt with by the relay. A test keeps the list against the SDK's types.
import { invalidRequest } from '../../canonical/errors.ts';
import { isObject } from '../../lib/json.ts';
import type { JsonObject } from '../format.ts';

type Rule = { readonly isRefused: (value: unknown) => boolean; readonly why: string };

const isSet = (value: unknown) => value !== false;
const extraCharge = 'has a price of its own, which is not sold here; leave it out';
const otherModel = 'chooses models or hosts by itself, which is not possible here; use `model` alone';

/** The first group is OpenAI's; the others belong to hosts that speak its format. */
const rules: Readonly<Record<string, Rule>> = {
  service_tier: {
    isRefused: (value) => value !== 'auto' && value !== 'default' && value !== 'standard',
    why: 'must be `auto` or `default`: other tiers have a price of their own, which is not sold here',
  },
  web_search_options: { isRefused: isSet, why: extraCharge },
  audio: { isRefused: isSet, why: 'asks for audio output, which is not sold here; leave it out' },
  modalities: {
    isRefused: (value) => !Array.isArray(value) || value.some((modality) => modality !== 'text'),
    why: 'must be ["text"]: other output is not sold here',
  },
  prompt_cache_options: {
    isRefused: (value) => isLongCache(value),
    why: 'must have the `ttl` `30m`: longer cache writes are not sold here',
  },
  // vLLM: more answers are computed than are counted
  best_of: {
    isRefused: (value) => value !== 1,
    why: 'must be 1: only answers that are given can be charged, which `n` asks for',
  },
  use_beam_search: { isRefused: isSet, why: 'computes more than is counted; leave it out' },
  // OpenRouter
  models: { isRefused: isSet, why: otherModel },
  route: { isRefused: isSet, why: otherModel },
  provider: { isRefused: isSet, why: otherModel },
  preset: { isRefused: isSet, why: 'names state kept at the provider; send its content instead' },
  plugins: { isRefused: isSet, why: extraCharge },
  // xAI
  search_parameters: { isRefused: isSet, why: extraCharge },
  deferred: { isRefused: isSet, why: 'keeps the answer at the provider, which is not possible here; leave it out' },
  // Alibaba, Groq, Azure, Google
  enable_search: { isRefused: isSet, why: extraCharge },
  compound_custom: { isRefused: isSet, why: extraCharge },
  search_settings: { isRefused: isSet, why: extraCharge },
  data_sources: { isRefused: isSet, why: 'names state kept at the provider; send its content instead' },
  cached_content: { isRefused: isSet, why: 'names state kept at the provider; send its content instead' },
};
const ruleEntries = Object.entries(rules);

/** Throws ApiError `invalid_request` that names the field. */
export function refuseUnpriced(body: JsonObject): void {
  for (const [name, { isRefused, why }] of ruleEntries) {
    const value = body[name];
    if (value !== undefined && value !== null && isRefused(value)) refuse(name, why);
  }
  if (Array.isArray(body.tools)) body.tools.forEach(refuseUnpricedTool);
  if (Array.isArray(body.messages)) body.messages.forEach(refuseUnpricedMessage);
}

function refuseUnpricedTool(tool: JsonObject, index: number): void {
  const path = `tools[${index}]`;
  if (tool.type !== 'function' && tool.type !== 'custom') {
    refuse(
      `${path}.type`,
      'must be `function` or `custom`: tools that the provider runs have a price of their own, which is not sold here',
    );
  }
  refuseLongCache(tool, path);
}

function refuseUnpricedMessage(message: JsonObject, index: number): void {
  const path = `messages[${index}]`;
  if (isObject(message.audio))
    refuse(`${path}.audio`, 'names an answer kept at the provider; send its transcript as content instead');
  refuseLongCache(message, path);
  if (!Array.isArray(message.content)) return;
  for (const [partIndex, part] of (message.content as readonly JsonObject[]).entries()) {
    const partPath = `${path}.content[${partIndex}]`;
    if (isObject(part.file) && part.file.file_id) {
      refuse(`${partPath}.file.file_id`, 'names a file kept at the provider; send its content as file_data instead');
    }
    refuseLongCache(part, partPath);
  }
}

/** OpenAI's mark and, for Claude behind other hosts, Anthropic's. */
function refuseLongCache(holder: JsonObject, path: string): void {
  for (const name of ['prompt_cache_breakpoint', 'cache_control']) {
    if (holder[name] !== undefined && isLongCache(holder[name])) {
      refuse(`${path}.${name}.ttl`, 'is longer than the usual lifetime; longer cache writes are not sold here, leave it out');
    }
  }
}

function isLongCache(value: unknown): boolean {
  return isObject(value) && value.ttl !== undefined && value.ttl !== null && value.ttl !== '5m' && value.ttl !== '30m';
}

function refuse(path: string, why: string): never {
  throw invalidRequest(path, `${path} ${why}`);
}
