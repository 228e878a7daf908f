// Writes the canonical request as the body of an upstream call. Every request has its output limit
// and, because the operator's credential is shared, the standard service tier.
import type { Emulated } from '../adapting/emulated.ts';
import { jsonInstruction } from '../adapting/json-object.ts';
import { searchedStops } from '../adapting/stop-cut.ts';
import { hasCacheMarks } from '../../canonical/cache-control.ts';
import type { CanonicalRequest, Message, Tool, ToolChoice } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { CacheMarks } from '../../terms/prompt-cache.ts';
import type { UpstreamRequest, UpstreamTarget } from '../format.ts';
import { unofferedTier } from '../service-tiers.ts';
import { withoutNulls } from '../edit-json.ts';
import { fitSchema, type Lose } from '../fit-schema.ts';
import { anthropicTable, writeOutputSchema } from '../claude-schema.ts';
import { asObjectSchema, describeAlternatives } from '../tool-parameters.ts';
import { addCacheMarks, limitCacheMarks } from './cache-marks.ts';
import { writeCacheControl } from './media.ts';
import { claudeTraits, fitSampling, withoutForcing, type ClaudeTraits } from '../claude-traits.ts';
import { mayThinkWithBudget, writeThinkingConfig } from '../claude-thinking.ts';
import { writeConversation } from './write-conversation.ts';
import { lackedFields } from '../lacked-fields.ts';

/**
 * Throws ApiError `invalid_request` on what Messages cannot express without changing the meaning.
 */
export function writeRequest(given: CanonicalRequest, target: UpstreamTarget): UpstreamRequest {
  const traits = claudeTraits(target.model);
  const request = withoutForcing(given, traits);
  const ignored = new Set(lackedFields(request, unknownHere));
  if (request !== given) ignored.add('tool_choice');
  if (request.messages.some(hasImageDetail)) ignored.add('detail');
  const emulated = emulatedOf(request);
  const instructed = emulated.jsonObject
    ? { ...request, system: [...request.system, jsonInstruction] }
    : request;
  const { system, messages } = writeConversation(instructed, traits, ignored);
  const mayUseBudget = mayThinkWithBudget(messages);
  const config = writeThinkingConfig(request, { target, traits, mayUseBudget }, ignored);
  const { thinking, effort } = config;
  const isThinking = thinking !== null && thinking.type !== 'disabled';
  const body: Record<string, unknown> = {
    model: target.model,
    max_tokens: target.maxOutputTokens,
    ...(system.length > 0 ? { system } : {}),
    messages,
    ...writeTools(request, ignored),
    ...writeStopSequences(request),
    ...fitSampling(request, { traits, isThinking }, ignored),
    ...(thinking ? { thinking } : {}),
    ...writeOutputConfig(request, effort, ignored),
    ...(request.endUser === null ? {} : { metadata: { user_id: request.endUser } }),
    service_tier: 'standard_only',
    ...speedField(target),
    ...(target.stream ? { stream: true } : {}),
  };
  let cacheMarks: CacheMarks = 'gateway';
  if (marksCache(request, target, traits)) addCacheMarks(body);
  else {
    if (request.promptCacheKey !== null) ignored.add('prompt_cache_key');
    cacheMarks = limitCacheMarks(body, ignored);
  }
  return {
    body,
    ignored: [...ignored],
    emulated,
    ...(traits.cachedTokensMin !== null && { cacheMarks }),
  };
}

/** Messages has no field for them. */
const unknownHere =
  'seed frequency_penalty presence_penalty metadata verbosity prompt_cache_retention';

/** Throws ApiError `invalid_request` for a tier that Anthropic has not. */
export function speedField({ tier }: UpstreamTarget): JsonObject {
  if (!tier) return {};
  if (tier !== 'priority') throw unofferedTier(tier);
  return { speed: 'fast' };
}

/**
 * Returns true when the gateway marks the prompt for the cache. A marked prompt costs a quarter more
 * the first time, so only a prompt that will probably be read again is marked. Marks of the
 * client come first.
 */
function marksCache(
  request: CanonicalRequest,
  { cacheableTokens }: UpstreamTarget,
  { cachedTokensMin }: ClaudeTraits,
): boolean {
  if (cacheableTokens === undefined || cachedTokensMin === null) return false;
  if (cacheableTokens < cachedTokensMin || hasCacheMarks(request)) return false;
  const { messages, tools, toolChoice, promptCacheKey } = request;
  const mayCall = (toolChoice?.type ?? 'auto') === 'auto';
  return (
    promptCacheKey !== null ||
    messages.some(({ role }) => role === 'assistant') ||
    (tools.length > 0 && mayCall)
  );
}

function emulatedOf({ outputFormat, stopSequences }: CanonicalRequest): Emulated {
  const blank = stopSequences.filter(isBlank);
  return {
    ...(blank.length > 0 && { stopSequences: searchedStops(blank) }),
    ...(outputFormat.type === 'json' && { jsonObject: true }),
  };
}

/** Anthropic refuses blank stop sequences. */
function isBlank(sequence: string): boolean {
  return sequence.trim() === '';
}

function writeStopSequences({ stopSequences }: CanonicalRequest): JsonObject {
  const taken = stopSequences.filter((sequence) => !isBlank(sequence));
  return taken.length > 0 ? { stop_sequences: taken } : {};
}

/** Claude always sees images in full, within its limits. */
function hasImageDetail({ content }: Message): boolean {
  return content.some((part) => {
    if (part.type === 'tool-result') return part.content.some(isDetailed);
    return isDetailed(part);
  });
}

function isDetailed(part: Message['content'][number]): boolean {
  return part.type === 'image' && (part.detail ?? 'auto') !== 'auto';
}

/** Anthropic refuses `tool_choice` without tools; `auto` and `none` have no effect then. */
function writeTools(
  { tools, toolChoice, parallelToolCalls }: CanonicalRequest,
  ignored: Set<string>,
): JsonObject {
  if (tools.length === 0) return {};
  const choice = writeToolChoice(toolChoice, parallelToolCalls);
  const lose = (word: string) => ignored.add(`tools.${word}`);
  const written = tools.map((tool) => writeTool(tool, lose));
  return { tools: written, ...(choice ? { tool_choice: choice } : {}) };
}

/** Calls `lose` with the schema keywords that move into the description. */
function writeTool(tool: Tool, lose: Lose): JsonObject {
  const parameters = describeAlternatives(asObjectSchema(tool.parameters ?? {}), lose);
  return withoutNulls({
    name: tool.name,
    description: tool.description,
    input_schema: tool.strict ? fitSchema(parameters, anthropicTable, lose) : parameters,
    strict: tool.strict,
    ...writeCacheControl(tool.cacheControl),
  });
}

function writeToolChoice(choice: ToolChoice | null, parallel: boolean | null): JsonObject | null {
  if (choice?.type === 'none') return { type: 'none' };
  if (!choice && parallel !== false) return null;
  const parallelField = parallel === null ? {} : { disable_parallel_tool_use: !parallel };
  if (choice?.type === 'tool') return { type: 'tool', name: choice.name, ...parallelField };
  return { type: choice?.type === 'required' ? 'any' : 'auto', ...parallelField };
}

function writeOutputConfig(
  { outputFormat }: CanonicalRequest,
  effort: string | null,
  ignored: Set<string>,
): JsonObject {
  const config: Record<string, unknown> = effort === null ? {} : { effort };
  if (outputFormat.type === 'json-schema') {
    const { schema, description } = outputFormat;
    const lose = (word: string) => ignored.add(`schema.${word}`);
    config.format = { type: 'json_schema', schema: writeOutputSchema(schema, description, lose) };
  }
  return Object.keys(config).length > 0 ? { output_config: config } : {};
}
