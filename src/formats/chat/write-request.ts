// The canonical request as a chat completion request for an upstream.
import type { CanonicalRequest, OutputFormat, Reasoning, Tool, ToolChoice } from '../../canonical/request.ts';
import type { JsonObject, UpstreamRequest, UpstreamTarget } from '../format.ts';
import { writeMessages } from './write-messages.ts';

/** Throws ApiError `invalid_request` on what Chat cannot express and would change the answer. */
export function writeRequest(request: CanonicalRequest, target: UpstreamTarget): UpstreamRequest {
  const ignored = new Set<string>();
  const body: Record<string, unknown> = {
    model: target.model,
    messages: writeMessages(request, target, ignored),
    [target.maxTokensField]: target.maxOutputTokens,
    ...writeSampling(request),
    ...writeTools(request),
    ...writeReasoningEffort(request.reasoning, target, ignored),
    ...writeOutputFormat(request.outputFormat),
    ...writeCacheKey(request.promptCacheKey, target, ignored),
  };
  if (request.endUser !== null) body.user = request.endUser;
  if (target.stream) Object.assign(body, { stream: true, stream_options: { include_usage: true } });
  if (request.topK !== null) ignored.add('top_k');
  // OpenAI takes metadata only for answers that it stores.
  if (request.metadata !== null) ignored.add('metadata');
  if (request.tools.some((tool) => tool.cacheControl)) ignored.add('cache_control');
  return { body, ignored: [...ignored] };
}

function writeSampling(request: CanonicalRequest): JsonObject {
  const { temperature, topP, seed, frequencyPenalty, presencePenalty, stopSequences } = request;
  return {
    ...(temperature === null ? null : { temperature }),
    ...(topP === null ? null : { top_p: topP }),
    ...(seed === null ? null : { seed }),
    ...(frequencyPenalty === null ? null : { frequency_penalty: frequencyPenalty }),
    ...(presencePenalty === null ? null : { presence_penalty: presencePenalty }),
    ...(stopSequences.length === 0 ? null : { stop: stopSequences }),
  };
}

/** OpenAI refuses the choice and the parallel switch where there are no tools; a forced call without any is left to be refused. */
function writeTools({ tools, toolChoice, parallelToolCalls }: CanonicalRequest): JsonObject {
  const isForced = toolChoice?.type === 'required' || toolChoice?.type === 'tool';
  return {
    ...(tools.length === 0 ? null : { tools: tools.map(writeTool) }),
    ...(toolChoice && (tools.length > 0 || isForced) ? { tool_choice: writeToolChoice(toolChoice, tools) } : null),
    ...(tools.length > 0 && parallelToolCalls !== null ? { parallel_tool_calls: parallelToolCalls } : null),
  };
}

function writeTool({ name, description, parameters, strict, kind }: Tool): JsonObject {
  const described = { name, ...(description === null ? null : { description }) };
  if (kind === 'custom') return { type: 'custom', custom: described };
  const withParameters = { ...described, ...(parameters === null ? null : { parameters }) };
  return { type: 'function', function: { ...withParameters, ...(strict === null ? null : { strict }) } };
}

function writeToolChoice(choice: ToolChoice, tools: readonly Tool[]): string | JsonObject {
  if (choice.type !== 'tool') return choice.type;
  const kind = tools.find((tool) => tool.name === choice.name)?.kind ?? 'function';
  return { type: kind, [kind]: { name: choice.name } };
}

function writeReasoningEffort(reasoning: Reasoning | null, target: UpstreamTarget, ignored: Set<string>): JsonObject | null {
  if (!reasoning) return null;
  const effort = reasoning.effort ?? effortOfBudget(reasoning.budgetTokens ?? 0);
  if (target.thinking) return { reasoning_effort: effort };
  if (effort !== 'none') ignored.add('reasoning_effort');
  return null;
}

/** Chat has no budgets. Google's own mapping of low, medium and high is 1K, 8K and 24K tokens; the nearest is taken. */
function effortOfBudget(budgetTokens: number): string {
  if (budgetTokens === 0) return 'none';
  if (budgetTokens < 4_608) return 'low';
  return budgetTokens < 16_384 ? 'medium' : 'high';
}

function writeOutputFormat(format: OutputFormat): JsonObject | null {
  if (format.type === 'text') return null;
  if (format.type === 'json') return { response_format: { type: 'json_object' } };
  const { name, description, schema, strict } = format;
  const described = { name, ...(description === null ? null : { description }), schema };
  return { response_format: { type: 'json_schema', json_schema: { ...described, ...(strict === null ? null : { strict }) } } };
}

/** Only OpenAI knows it, as only OpenAI wants `max_completion_tokens`; several hosts refuse fields that they do not know. */
function writeCacheKey(key: string | null, target: UpstreamTarget, ignored: Set<string>): JsonObject | null {
  if (key === null) return null;
  if (target.maxTokensField === 'max_completion_tokens') return { prompt_cache_key: key };
  ignored.add('prompt_cache_key');
  return null;
}
