// Token counts. Chat's input includes the cached part, and its output the reasoning. Some hosts
// count a part beside them instead: xAI its reasoning, Mistral its audio, others their cache. The
// total shows which. Layers over Gemini count its thoughts in the total only.
import {
  readTokenCount,
  totalAudioTokens,
  totalInputTokens,
  unlessEmpty,
  type Usage,
} from '../../canonical/usage.ts';
import { readTier } from '../../canonical/service-tier.ts';
import { isObject, type JsonObject, listOf, objectOf } from '../../lib/json.ts';
import type { ClientRequest } from '../format.ts';
import { shownUsage } from '../shown-usage.ts';

/**
 * Reads the usage of an answer or a chunk. A missing or implausible count is 0. Returns null when
 * all are.
 */
export function readUsage(body: JsonObject): Usage | null {
  const usage = usageOf(body);
  if (!isObject(usage)) return null;
  const { model, service_tier } = body;
  const counts = readCounts(usage);
  const { prompt, completion, cacheRead, cacheWrite, audio, reasoning } = counts;
  const isGemini = typeof model === 'string' && /gemini|gemma/i.test(model);
  const isUntold = isGemini || (typeof model === 'string' && /sonar-deep-research/i.test(model));
  const beside = partsBeside(counts, isUntold);
  // Without a count of the input, the rest of the total is the input.
  const rest = prompt === 0 ? 0 : Math.max((surplusOf(counts) ?? 0) - sumOf(counts, beside), 0);
  const thoughts = isGemini && reasoning === 0 ? rest : 0;
  const outputTokens = completion + (beside.has('reasoning') ? reasoning : 0) + thoughts;
  const readInside = beside.has('cacheRead') ? 0 : Math.min(cacheRead, prompt);
  const writeInside = beside.has('cacheWrite') ? 0 : Math.min(cacheWrite, prompt - readInside);
  const inputTokens = prompt - readInside - writeInside + (beside.has('audio') ? audio : 0);
  const cacheReadTokens = readInside || (beside.has('cacheRead') ? cacheRead : 0);
  const unexplainedTokens = Math.max(rest - thoughts, reasoning - outputTokens);
  return unlessEmpty({
    inputTokens,
    cacheReadTokens,
    cacheWriteTokens: writeInside || (beside.has('cacheWrite') ? cacheWrite : 0),
    cacheWrite1hTokens: 0,
    outputTokens,
    reasoningTokens: Math.min(reasoning, outputTokens),
    ...splitSound(audio, { inputTokens, cacheReadTokens }),
    ...(unexplainedTokens > 0 && { unexplainedTokens }),
    ...readTier(service_tier),
  });
}

/** Hosts do not say how much of the sound came from the cache: as little as can be. */
function splitSound(
  audio: number,
  { inputTokens, cacheReadTokens }: Pick<Usage, 'inputTokens' | 'cacheReadTokens'>,
): Partial<Usage> {
  const audioTokens = Math.min(audio, inputTokens);
  const cacheReadAudioTokens = Math.min(audio - audioTokens, cacheReadTokens);
  return audioTokens + cacheReadAudioTokens > 0 ? { audioTokens, cacheReadAudioTokens } : {};
}

/** Older streams of Groq have it in `x_groq` only, those of Moonshot in the last choice. */
export function usageOf({ usage, x_groq: own, choices }: JsonObject): unknown {
  return usage ?? objectOf(own).usage ?? objectOf(listOf(choices)[0]).usage;
}

/**
 * Returns the usage to show for the one that is charged: the host's own, with the sums in OpenAI's
 * way, unless its parts differ.
 */
export function showUsage(reported: unknown, charged: Usage): JsonObject {
  if (!isObject(reported)) return writeUsage(charged);
  const counts = readCounts(reported);
  const { cacheRead, cacheWrite, audio, reasoning } = counts;
  const isSplitAlike =
    cacheRead === charged.cacheReadTokens &&
    cacheWrite === charged.cacheWriteTokens + charged.cacheWrite1hTokens &&
    audio === totalAudioTokens(charged) &&
    reasoning === charged.reasoningTokens;
  if (!isSplitAlike) return writeUsage(charged);
  const [prompt_tokens, completion_tokens] = [totalInputTokens(charged), charged.outputTokens];
  const total_tokens = prompt_tokens + completion_tokens;
  // Under these names: clients know no others.
  const isSame =
    reported.prompt_tokens === prompt_tokens &&
    reported.completion_tokens === completion_tokens &&
    (counts.total ?? total_tokens) === total_tokens;
  const shown = shownUsage(reported) as JsonObject;
  return isSame ? shown : { ...shown, prompt_tokens, completion_tokens, total_tokens };
}

export function writeUsage(usage: Usage): JsonObject {
  const promptTokens = totalInputTokens(usage);
  const cacheWriteTokens = usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  const audioTokens = totalAudioTokens(usage);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: promptTokens + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      ...(cacheWriteTokens === 0 ? null : { cache_write_tokens: cacheWriteTokens }),
      ...(audioTokens === 0 ? null : { audio_tokens: audioTokens }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

/**
 * Returns true when the client asked for usage in its stream. The gateway always asks the upstream.
 */
export function wantsStreamUsage({ body }: ClientRequest): boolean {
  return isObject(body.stream_options) && body.stream_options.include_usage === true;
}

/** Parts of the prompt or completion, which some hosts count beside it. */
const partNames = ['reasoning', 'cacheRead', 'cacheWrite', 'audio'] as const;
type Part = (typeof partNames)[number];

type Counts = Readonly<Record<Part | 'prompt' | 'completion', number>> & {
  readonly total: number | null;
};

/** Every host has names of its own: the largest of them counts. */
function readCounts(usage: JsonObject): Counts {
  const input = usage.prompt_tokens_details ?? usage.input_tokens_details;
  const output = usage.completion_tokens_details ?? usage.output_tokens_details;
  const largest = (details: unknown, names: readonly string[]) => {
    const inside = isObject(details) ? details : usage;
    let most = 0;
    for (const name of names)
      for (const place of [usage, inside]) most = Math.max(most, readTokenCount(place[name]) ?? 0);
    return most;
  };
  const completion = readTokenCount(usage.completion_tokens ?? usage.output_tokens) ?? 0;
  const total = readTokenCount(usage.total_tokens);
  return {
    prompt:
      readTokenCount(usage.prompt_tokens) ?? otherInput(usage, (total ?? Infinity) - completion),
    completion,
    total,
    cacheRead: largest(input, cacheReadNames),
    cacheWrite: largest(input, cacheWriteNames),
    audio: isObject(input) ? (readTokenCount(input.audio_tokens) ?? 0) : 0,
    reasoning: largest(output, ['reasoning_tokens']),
  };
}

/**
 * Layers over other formats may keep their names. Anthropic's input is without what it caches,
 * unless the total has no room for that. `most`: the input in the total.
 */
function otherInput(usage: JsonObject, most: number): number {
  const count = (name: string) => readTokenCount(usage[name]) ?? 0;
  const input = count('input_tokens');
  const cached = count('cache_read_input_tokens') + count('cache_creation_input_tokens');
  return cached <= input && input + cached > most ? input : input + cached;
}

/** OpenAI, Anthropic, Mistral and DeepSeek; Together and Moonshot send the first at the top. */
const cacheReadNames =
  'cached_tokens cache_read_input_tokens num_cached_tokens prompt_cache_hit_tokens'.split(' ');
/** OpenRouter, proxies for Anthropic, and Alibaba. */
const cacheWriteNames =
  'cache_write_tokens cache_creation_tokens cache_creation_input_tokens'.split(' ');

/**
 * Returns the parts that are counted beside prompt and completion: those that add up to the
 * surplus of the total, else those that are too large to be inside, if the total has room for them.
 * `isUntold`: the total may leave the reasoning out.
 */
function partsBeside(counts: Counts, isUntold: boolean): ReadonlySet<Part> {
  const { prompt, completion, reasoning, cacheRead, cacheWrite, audio } = counts;
  const surplus = surplusOf(counts);
  const exact = besides.find((parts) => sumOf(counts, parts) === surplus);
  if (exact && prompt > 0 && !(surplus === 0 && isUntold)) return exact;
  const isTooLarge = {
    reasoning: reasoning > completion,
    cacheRead: cacheRead + cacheWrite > prompt,
    cacheWrite: cacheRead + cacheWrite > prompt,
    audio: audio > prompt,
  };
  const tooLarge = new Set(partNames.filter((part) => isTooLarge[part]));
  if (sumOf(counts, tooLarge) <= (surplus ?? Infinity)) return tooLarge;
  // DeepInfra's totals leave out the thoughts of Gemini, too: 84 tokens beside 1,081. So do those of
  // Perplexity's research.
  return new Set(isUntold && isTooLarge.reasoning ? (['reasoning'] as const) : []);
}

/** The tokens of the total that are in neither prompt nor completion; null: there is no total. */
function surplusOf({ total, prompt, completion }: Counts): number | null {
  return total === null ? null : total - prompt - completion;
}

/** Every choice of parts, none first. */
const besides: readonly ReadonlySet<Part>[] = Array.from(
  { length: 2 ** partNames.length },
  (_, mask) => new Set(partNames.filter((_part, bit) => mask & (1 << bit))),
);

function sumOf(counts: Counts, parts: ReadonlySet<Part>): number {
  let sum = 0;
  for (const part of parts) sum += counts[part];
  return sum;
}
