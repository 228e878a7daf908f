// The canonical request as a chat completion request for an upstream.
import { hasCacheMarks } from '../../canonical/cache-control.ts';
import { effortOfBudget } from '../../canonical/effort.ts';
import { invalidRequest } from '../../canonical/errors.ts';
import type { CanonicalRequest, Effort, OutputFormat, Reasoning, Tool, ToolChoice } from '../../canonical/request.ts';
import { requireChosenTool } from '../../canonical/tool-choice.ts';
import type { JsonObject, UpstreamRequest, UpstreamTarget } from '../format.ts';
import { fitEffort, fitKnownEffort, takesVerbosity } from '../openai-models.ts';
import { isOpenAi } from './openai-host.ts';
import { writeMessages } from './write-messages.ts';

/** Throws ApiError `invalid_request` on what Chat cannot express and would change the answer. */
export function writeRequest(request: CanonicalRequest, target: UpstreamTarget): UpstreamRequest {
  requireChosenTool(request);
  refusePrefill(request, target);
  const ignored = new Set<string>();
  const body: JsonObject = {
    model: target.model,
    messages: writeMessages(request, target, ignored),
    [target.maxTokensField]: target.maxOutputTokens,
    ...writeSampling(request, target, ignored),
    ...(request.stopSequences.length === 0 ? null : { stop: request.stopSequences }),
    ...writeTools(request),
    ...writeReasoningEffort(request.reasoning, target, ignored),
    ...writeOutputFormat(request.outputFormat),
    ...writeOpenAiFields(request, target, ignored),
    ...(target.stream ? { stream: true, stream_options: { include_usage: true } } : null),
  };
  if (request.topK !== null) ignored.add('top_k');
  // OpenAI takes metadata only for answers that it stores.
  if (request.metadata !== null) ignored.add('metadata');
  if (hasCacheMarks(request)) ignored.add('cache_control');
  return { body, ignored: [...ignored] };
}

/** Many other hosts go on from a last message of the assistant; OpenAI answers it as if it were an earlier turn. */
function refusePrefill({ isPrefilled, messages }: CanonicalRequest, target: UpstreamTarget): void {
  if (!isPrefilled || !isOpenAi(target)) return;
  const path = `messages[${messages.length - 1}]`;
  throw invalidRequest(
    'messages',
    `${path} begins the answer, which this model cannot go on from; end with a message of the user`,
  );
}

/** OpenAI's thinking models refuse sampling parameters unless they are told not to think. */
function writeSampling(request: CanonicalRequest, target: UpstreamTarget, ignored: Set<string>): JsonObject {
  const { temperature, topP, seed, frequencyPenalty, presencePenalty, reasoning } = request;
  const refusesSampling = isOpenAi(target) && target.thinking && effortOf(reasoning, target) !== 'none';
  const sampling = { temperature, top_p: topP, frequency_penalty: frequencyPenalty, presence_penalty: presencePenalty };
  const fields: Record<string, number> = seed === null ? {} : { seed };
  for (const [name, value] of Object.entries(sampling)) {
    if (value === null) continue;
    if (refusesSampling) ignored.add(name);
    else fields[name] = value;
  }
  return fields;
}

/** OpenAI refuses the choice and the parallel switch where there are no tools. */
function writeTools({ tools, toolChoice, parallelToolCalls }: CanonicalRequest): JsonObject | null {
  if (tools.length === 0) return null;
  return {
    tools: tools.map(writeTool),
    ...(toolChoice ? { tool_choice: writeToolChoice(toolChoice, tools) } : null),
    ...(parallelToolCalls === null ? null : { parallel_tool_calls: parallelToolCalls }),
  };
}

function writeTool({ name, description, parameters, strict, kind, grammar }: Tool): JsonObject {
  const described = { name, ...(description === null ? null : { description }) };
  if (kind === 'custom') {
    return { type: 'custom', custom: { ...described, ...(grammar ? { format: { type: 'grammar', grammar } } : null) } };
  }
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
  const effort = effortOf(reasoning, target);
  if (target.thinking) return effort === null ? null : { reasoning_effort: effort };
  if (effort !== 'none') ignored.add('reasoning_effort');
  return null;
}

/** null: the model thinks as much as it does by itself. */
function effortOf(reasoning: Reasoning | null, target: UpstreamTarget): Effort | null {
  const wanted =
    reasoning?.effort ?? ((reasoning?.budgetTokens ?? null) === null ? null : effortOfBudget(reasoning!.budgetTokens!));
  if (wanted === null || !target.thinking) return wanted;
  return isOpenAi(target) ? fitKnownEffort(wanted, target.model) : fitEffort(wanted, target.model);
}

function writeOutputFormat(format: OutputFormat): JsonObject | null {
  if (format.type === 'text') return null;
  if (format.type === 'json') return { response_format: { type: 'json_object' } };
  const { name, description, schema, strict } = format;
  const described = { name, ...(description === null ? null : { description }), schema };
  return { response_format: { type: 'json_schema', json_schema: { ...described, ...(strict === null ? null : { strict }) } } };
}

/** Most other hosts know the older `user` alone. */
function writeOpenAiFields(request: CanonicalRequest, target: UpstreamTarget, ignored: Set<string>): JsonObject {
  const { endUser, promptCacheKey, verbosity } = request;
  const fields: Record<string, string> = {};
  if (endUser !== null) fields[isOpenAi(target) ? 'safety_identifier' : 'user'] = endUser;
  if (promptCacheKey !== null && isOpenAi(target)) fields.prompt_cache_key = promptCacheKey;
  if (promptCacheKey !== null && !isOpenAi(target)) ignored.add('prompt_cache_key');
  if (verbosity && isOpenAi(target) && takesVerbosity(target.model)) fields.verbosity = verbosity;
  else if (verbosity) ignored.add('verbosity');
  return fields;
}
