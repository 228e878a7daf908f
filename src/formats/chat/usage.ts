// Token counts. Chat's input includes the cached part, and its output the reasoning. xAI counts
// reasoning beside the output, and layers over Gemini count it only in the total.
import {
  readTokenCount,
  totalInputTokens,
  unlessEmpty,
  type Usage,
} from '../../canonical/usage.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { ClientRequest } from '../format.ts';

/** A missing or implausible count is 0. Returns null when all are. */
export function readUsage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  const prompt = readTokenCount(value.prompt_tokens) ?? 0;
  const completion = readTokenCount(value.completion_tokens) ?? 0;
  const reasoning =
    readTokenCount(detail(value, 'completion_tokens_details', 'reasoning_tokens')) ?? 0;
  const cacheRead = Math.min(readCachedTokens(value), prompt);
  const cacheWrite = Math.min(readCacheWriteTokens(value), prompt - cacheRead);
  return unlessEmpty({
    inputTokens: prompt - cacheRead - cacheWrite,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    cacheWrite1hTokens: 0,
    outputTokens: completion + extraOutput(value, { prompt, completion, reasoning }),
    reasoningTokens: reasoning,
  });
}

export function writeUsage(usage: Usage): JsonObject {
  const promptTokens = totalInputTokens(usage);
  const cacheWriteTokens = usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: promptTokens + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      ...(cacheWriteTokens === 0 ? null : { cache_write_tokens: cacheWriteTokens }),
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

/** OpenAI's field, then DeepSeek's and Together's. */
function readCachedTokens(usage: JsonObject): number {
  return (
    readTokenCount(detail(usage, 'prompt_tokens_details', 'cached_tokens')) ??
    readTokenCount(usage.prompt_cache_hit_tokens) ??
    readTokenCount(usage.cached_tokens) ??
    0
  );
}

/** OpenRouter's field, then Alibaba's. */
function readCacheWriteTokens(usage: JsonObject): number {
  const count = (name: string) => readTokenCount(detail(usage, 'prompt_tokens_details', name));
  return count('cache_write_tokens') ?? count('cache_creation_input_tokens') ?? 0;
}

type Counts = { readonly prompt: number; readonly completion: number; readonly reasoning: number };

/**
 * Returns the output that `completion_tokens` leaves out. xAI: prompt 12, completion 1, reasoning
 * 228, total 241. Gemini's thoughts: prompt 20, completion 198, total 623. The total shows it, or
 * reasoning that is larger than the output.
 */
function extraOutput(usage: JsonObject, { prompt, completion, reasoning }: Counts): number {
  if (reasoning > completion) return reasoning;
  const total = readTokenCount(usage.total_tokens);
  // Without an input count, the total says nothing about the output.
  if (total === null || prompt === 0) return 0;
  const extra = total - prompt - completion;
  const isThoughts = reasoning === 0 && completion > 0;
  return isThoughts || extra === reasoning ? Math.max(extra, 0) : 0;
}

function detail(usage: JsonObject, group: string, name: string): unknown {
  const details = usage[group];
  return isObject(details) ? details[name] : undefined;
}
