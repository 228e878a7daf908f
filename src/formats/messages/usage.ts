// Usage in Messages: `input_tokens` excludes reads and writes of the prompt cache, `output_tokens`
// includes thinking.
import { noUsage, readTokenCount, unlessEmpty, type Usage } from '../../canonical/usage.ts';
import { readTier } from '../../canonical/service-tier.ts';
import type { SearchPart } from '../../canonical/own-tools.ts';
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';
import type { AnswerContext, ClientRequest } from '../format.ts';
import { shownSpeed } from '../service-tiers.ts';

/** A missing or implausible count is 0. Returns null when all are. */
export function readUsage(reported: unknown): Usage | null {
  const value = inOwnWords(reported);
  if (!isObject(value)) return null;
  const outputTokens = readTokenCount(value.output_tokens) ?? 0;
  const details = objectOf(value.output_tokens_details);
  return unlessEmpty({
    inputTokens: readTokenCount(value.input_tokens) ?? 0,
    cacheReadTokens: readTokenCount(value.cache_read_input_tokens) ?? 0,
    ...readCacheWrites(value),
    outputTokens,
    reasoningTokens: Math.min(readTokenCount(details.thinking_tokens) ?? 0, outputTokens),
    // `service_tier` is about capacity that was bought, which is never used.
    ...readTier(value.speed),
  });
}

/**
 * Kimi counts cache reads as a part of the input, in `cached_tokens`, and as 0 under Anthropic's name
 * (github.com/Wei-Shaw/sub2api/pull/497, read 2026-11-30). Returns any other usage unchanged.
 */
export function inOwnWords(usage: unknown): unknown {
  if (!isObject(usage) || (readTokenCount(usage.cache_read_input_tokens) ?? 0) > 0) return usage;
  const { cached_tokens, ...counts } = usage;
  const cached = readTokenCount(cached_tokens) ?? 0;
  if (cached === 0) return usage;
  const input = readTokenCount(usage.input_tokens);
  const inside = Math.min(cached, input ?? cached);
  return {
    ...counts,
    ...(input !== null && { input_tokens: input - inside }),
    cache_read_input_tokens: inside,
  };
}

/**
 * Splits cache writes by lifetime. The total is authoritative. In a stream only the first event has
 * the split, so later growth goes to the one-hour lifetime if the request used only that one, else
 * to the short one.
 */
function readCacheWrites(
  usage: Record<string, unknown>,
): Pick<Usage, 'cacheWriteTokens' | 'cacheWrite1hTokens'> {
  const split = objectOf(usage.cache_creation);
  const short = readTokenCount(split.ephemeral_5m_input_tokens) ?? 0;
  const long = readTokenCount(split.ephemeral_1h_input_tokens) ?? 0;
  const total = readTokenCount(usage.cache_creation_input_tokens) ?? short + long;
  const cacheWrite1hTokens = short === 0 && long > 0 ? total : Math.min(long, total);
  return { cacheWriteTokens: total - cacheWrite1hTokens, cacheWrite1hTokens };
}

const inputCounts = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];

function cachedTokens(usage: Record<string, unknown>): number {
  const { cacheWriteTokens, cacheWrite1hTokens } = readCacheWrites(usage);
  return (
    cacheWriteTokens + cacheWrite1hTokens + (readTokenCount(usage.cache_read_input_tokens) ?? 0)
  );
}

/**
 * Collects the usage of a stream. `message_start` counts the input early; `message_delta` has
 * cumulative totals. Older upstreams send only `output_tokens` there, and some hosts send 0 for an
 * input that the start counted, which is not a count. Alibaba counts all input as uncached at the
 * start, and reports the cached part only at the end.
 */
export class StreamUsage {
  #merged: Record<string, unknown> = {};
  #hasTotal = false;
  /** Has no output until the stream has sent a total. */
  soFar: Usage | null = null;

  start(usage: unknown): void {
    if (!isObject(usage)) return;
    this.#merged = { ...usage };
    this.#readMerged();
  }

  update(usage: unknown): void {
    if (!isObject(usage)) return;
    const countsInput = inputCounts.some((name) => (readTokenCount(usage[name]) ?? 0) > 0);
    const cachedBefore = cachedTokens(this.#merged);
    for (const [name, value] of Object.entries(usage)) {
      if (value !== null && (countsInput || !inputCounts.includes(name)))
        this.#merged[name] = value;
    }
    if (countsInput && cachedBefore === 0 && readTokenCount(usage.input_tokens) === null) {
      const input = readTokenCount(this.#merged['input_tokens']) ?? 0;
      this.#merged['input_tokens'] = Math.max(input - cachedTokens(this.#merged), 0);
    }
    // The start's `output_tokens` counts about one token and must not be taken for the total.
    if (readTokenCount(usage.output_tokens) !== null) this.#hasTotal = true;
    this.#readMerged();
  }

  #readMerged(): void {
    this.soFar = readUsage(this.#hasTotal ? this.#merged : { ...this.#merged, output_tokens: 0 });
  }
}

/**
 * Writes the usage of a whole message. The official type always has every field, including those
 * that only Anthropic's own platform could fill.
 */
export function writeMessageUsage(usage: Usage, request: ClientRequest): JsonObject {
  return { ...writeUsage(usage), ...platformUsage(usage, request) };
}

/**
 * Writes the usage of a message whose input is only estimated. Leaves out the split of cache
 * writes, because SDKs would keep it although the last event has the real one.
 */
export function writeEstimatedUsage({
  estimatedInputTokens,
  request,
}: Pick<AnswerContext, 'estimatedInputTokens' | 'request'>): JsonObject {
  return {
    ...writeUsage({ ...noUsage, inputTokens: estimatedInputTokens }),
    cache_creation: null,
    output_tokens_details: null,
    ...platformUsage(null, request),
  };
}

function platformUsage(usage: Usage | null, request: ClientRequest): JsonObject {
  return { service_tier: 'standard', inference_geo: null, speed: shownSpeed(usage, request) };
}

/** Writes the usage of `message_delta`. */
export function writeUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWriteTokens,
      ephemeral_1h_input_tokens: usage.cacheWrite1hTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    server_tool_use: null,
  };
}

/** Counts the searches of the gateway, of which those that failed are free. */
export function writeSearchUsage(searches: readonly Pick<SearchPart, 'found'>[]): JsonObject {
  if (searches.length === 0) return {};
  const found = searches.filter((search) => typeof search.found !== 'string').length;
  return { server_tool_use: { web_search_requests: found, web_fetch_requests: 0 } };
}
