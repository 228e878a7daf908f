// The efforts and the verbosity that OpenAI's models accept; they answer 400 to anything else. From
// OpenAI's messages about unsupported values, collected in community.openai.com/t/1371738, and
// developers.openai.com/api/docs/guides/reasoning (read 2026-11-21).
import { nearestEffort } from '../canonical/effort.ts';
import type { Effort } from '../canonical/request.ts';

const usual: readonly Effort[] = ['low', 'medium', 'high'];

/** The efforts for models of other vendors: hosts of Chat Completions agree on no more. */
const elsewhere: readonly Effort[] = ['none', ...usual];

/**
 * For translation. Returns null when the model has no level for it. Example: `fitEffort('max',
 * 'gpt-5.2')` is `xhigh`.
 */
export function fitEffort(effort: Effort, upstreamModel: string): Effort | null {
  return fitTo(knownEfforts(upstreamModel) ?? elsewhere, effort);
}

/**
 * For the straight path: the effort for an unknown model is left unchanged, because the model says
 * itself what it accepts. Returns null when the model has no level for it.
 */
export function fitKnownEffort(effort: Effort, upstreamModel: string): Effort | null {
  const known = knownEfforts(upstreamModel);
  return known ? fitTo(known, effort) : effort;
}

function fitTo(known: readonly Effort[], effort: Effort): Effort | null {
  const fitting = effort === 'none' ? known : known.filter((level) => level !== 'none');
  return fitting.length === 0 ? null : nearestEffort(effort, fitting);
}

/**
 * The effort of a request without one, as far as it is known: GPT-5.1 to 5.4 do not think then. From
 * npm `openai` 7.55, `ReasoningEffort`; 5.2 and 5.4 from OpenAI's guides (from memory).
 */
export function defaultEffort(upstreamModel: string): Effort | null {
  const version = versionOf(upstreamModel) ?? 0;
  const isBase = version > 500 && version < 505 && !/-(?:chat|codex|pro)/.test(upstreamModel);
  return isBase ? 'none' : null;
}

/**
 * Returns true when OpenAI refuses functions in Chat: from GPT-5.4 on while the model thinks.
 * `asked`: null when the request has no effort. github.com/BerriAI/litellm/pull/34569 (read
 * 2026-11-30).
 */
export function refusesChatTools(asked: Effort | null, upstreamModel: string): boolean {
  const effort = asked ? fitKnownEffort(asked, upstreamModel) : defaultEffort(upstreamModel);
  const isNew = takesVerbosity(upstreamModel) && versionOf(upstreamModel)! >= 504;
  return isNew && effort !== 'none';
}

/** `verbosity` came with GPT-5. */
export function takesVerbosity(upstreamModel: string): boolean {
  return versionOf(upstreamModel) !== null && !upstreamModel.includes('-chat');
}

/**
 * For the straight path: OpenAI's models before GPT-5 take only `medium`
 * (github.com/google-deepmind/concordia/issues/164, read 2026-11-30). Unknown names may be those of
 * deployments.
 */
export function refusesVerbosity(verbosity: unknown, upstreamModel: string): boolean {
  const isKnown = /^(?:gpt-|o\d)/.test(idOf(upstreamModel));
  return isKnown && (verbosity ?? 'medium') !== 'medium' && !takesVerbosity(upstreamModel);
}

/**
 * Returns true when OpenAI's Chat refuses `parallel_tool_calls`: these models call one tool at a time.
 * github.com/tensorzero/tensorzero/issues/2805 (read 2026-11-30)
 */
export function callsOneByOne(upstreamModel: string): boolean {
  return /^o\d/.test(idOf(upstreamModel));
}

/** The efforts of models whose vendors document others, by the model's name. */
const documentedElsewhere: readonly (readonly [model: RegExp, efforts: readonly Effort[]])[] = [
  // api-docs.deepseek.com/guides/thinking_mode (read 2026-11-21).
  [/deepseek/i, ['none', ...usual, 'max']],
  // Kimi K3 always thinks, as much as it can where it does not know the level; so do these of K2,
  // which have no levels: docs.rs/synaps-engine/0.11.0 on platform.kimi.ai (read 2026-11-30).
  [/kimi-k[3-9]/i, ['low', 'high', 'max']],
  [/kimi-k2(?:\.7|-thinking)/i, usual],
  // Since 4.5 Grok always thinks, and since 4.6 it knows xhigh; 4.20 has no levels:
  // docs.x.ai/developers/model-capabilities/text/reasoning, and
  // github.com/NousResearch/hermes-agent/pull/23435 (read 2026-11-26).
  [/grok-4\.20(?!-multi)/i, []],
  [/grok-4\.5/i, usual],
  [/grok-4\.[6-9]/i, [...usual, 'xhigh']],
  // docs.bigmodel.cn/api-reference (read 2026-11-26), docs.z.ai/guides/llm/glm-5.2 (2026-11-30).
  [/glm-5\.[3-9]/i, ['low', 'high', 'max']],
  [/glm-5\.2/i, ['none', 'high', 'max']],
  // It always thinks, and as much as it can unasked: platform.minimax.io/docs/guides/text-generation,
  // dev.to/aihubmix on M3.1 Flash (read 2026-11-30).
  [/minimax-m3\.[1-9]/i, [...usual, 'xhigh', 'max']],
  // They think or not: github.com/anomalyco/models.dev/pull/1986 (read 2026-11-30).
  [/mistral-(?:small|medium)|magistral/i, ['none', 'high']],
  // They always think: docs.qwencloud.com/developer-guides/text-generation/thinking, and
  // github.com/lobehub/lobehub/issues/8613 (read 2026-11-30).
  [/qwq|qwen.*-thinking/i, usual],
];

function knownEfforts(model: string): readonly Effort[] | undefined {
  return openAiEfforts(model) ?? documentedElsewhere.find(([name]) => name.test(model))?.[1];
}

/**
 * Returns null when it is no model of OpenAI's. Other hosts put the vendor first: `openai/gpt-5.2`.
 */
function openAiEfforts(model: string): readonly Effort[] | null {
  const id = idOf(model);
  if (/^(?:o\d|gpt-oss|codex-mini)/.test(id)) return usual;
  const version = versionOf(model);
  return version === null ? null : gptEfforts(version, id);
}

function idOf(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1);
}

/** Returns 502 for GPT-5.2, and null for other models, also Azure's `gpt-35-turbo`, and GPTs before 5. */
function versionOf(model: string): number | null {
  const match = /^gpt-(\d)(?:\.(\d+))?(?![\dk])/.exec(idOf(model));
  return match && Number(match[1]) >= 5 ? Number(match[1]) * 100 + Number(match[2] ?? 0) : null;
}

function gptEfforts(version: number, id: string): readonly Effort[] {
  if (id.includes('-chat')) return ['medium'];
  const highest: readonly Effort[] =
    version > 505 ? ['xhigh', 'max'] : version > 501 || id.includes('-codex-max') ? ['xhigh'] : [];
  if (id.includes('-codex')) return [...usual, ...highest];
  if (id.includes('-pro')) return version === 500 ? ['high'] : ['medium', 'high', ...highest];
  return [version === 500 ? 'minimal' : 'none', ...usual, ...highest];
}
