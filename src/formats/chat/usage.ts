// Token counts. Chat's input includes the cached part, and its output the reasoning. Only xAI
// counts reasoning beside the output.
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
  const cacheWrite = Math.min(
    readTokenCount(detail(value, 'prompt_tokens_details', 'cache_write_tokens')) ?? 0,
    prompt - cacheRead,
  );
  return unlessEmpty({
    inputTokens: prompt - cacheRead - cacheWrite,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    cacheWrite1hTokens: 0,
    outputTokens: isReasoningExtra(value, { prompt, completion, reasoning })
      ? completion + reasoning
      : completion,
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

type Counts = { readonly prompt: number; readonly completion: number; readonly reasoning: number };

/**
 * Returns true when the output excludes the reasoning. xAI: prompt 12, completion 1, reasoning 228,
 * total 241. The total shows it, or reasoning that is larger than the output.
 */
function isReasoningExtra(usage: JsonObject, { prompt, completion, reasoning }: Counts): boolean {
  if (reasoning > completion) return true;
  // Without an input count, the total says nothing about the output.
  return (
    reasoning > 0 &&
    prompt > 0 &&
    readTokenCount(usage.total_tokens) === prompt + completion + reasoning
  );
}

function detail(usage: JsonObject, group: string, name: string): unknown {
  const details = usage[group];
  return isObject(details) ? details[name] : undefined;
}
