// Writes the canonical request as a chat completion request.
import { hasCacheMarks } from '../../canonical/cache-control.ts';
import { wantedEffort } from '../../canonical/effort.ts';
import type {
  CanonicalRequest,
  Effort,
  OutputFormat,
  Reasoning,
  Tool,
  ToolChoice,
} from '../../canonical/request.ts';
import type { Emulated } from '../adapting/emulated.ts';
import { refusePrefill } from '../adapting/answerable.ts';
import { searchedStops } from '../adapting/stop-cut.ts';
import { wrapSchema } from '../adapting/wrapped-schema.ts';
import type { JsonObject } from '../../lib/json.ts';
import { withoutNulls } from '../edit-json.ts';
import type { Lose } from '../fit-schema.ts';
import type { UpstreamRequest, UpstreamTarget } from '../format.ts';
import { refusedSampling, takesStops } from '../model-abilities.ts';
import { callsOneByOne, fitEffort, fitKnownEffort, takesVerbosity } from '../openai-models.ts';
import { tierField } from '../service-tiers.ts';
import { mendSchema } from '../mend-schema.ts';
import { fitOpenAiParameters, fitOpenAiSchema } from '../openai-schema.ts';
import { asObjectParameters } from '../tool-parameters.ts';
import { fitKimiParameters, fitKimiSchema, isKimi } from './kimi-schema.ts';
import { outputLimitField } from './output-limit.ts';
import { writeConversation } from './write-conversation.ts';

/** Throws ApiError `invalid_request` on what Chat cannot express if it would change the answer. */
export function writeRequest(request: CanonicalRequest, target: UpstreamTarget): UpstreamRequest {
  // Many other hosts continue a last assistant message.
  if (target.isOpenAi) refusePrefill(request);
  const ignored = new Set<string>();
  const messages = writeConversation(request, target, ignored);
  const last = messages.at(-1);
  // Thoughts of other vendors may be left out, and the message with them.
  const prefill = request.isPrefilled && last?.role === 'assistant' ? target.prefill : undefined;
  const begun = last?.content;
  const wrapped = wrapSchema(request.outputFormat);
  const emulated: Emulated = {
    ...(!takesStops(request.stopSequences, target) && {
      stopSequences: searchedStops(request.stopSequences),
    }),
    ...(prefill?.echoes && typeof begun === 'string' && { echo: begun }),
    ...(wrapped && { wrapped: true }),
  };
  const body: JsonObject = {
    model: target.model,
    messages: prefill ? [...messages.slice(0, -1), { ...last, [prefill.mark]: true }] : messages,
    [outputLimitField(target)]: target.maxOutputTokens,
    ...writeSampling(request, target, ignored),
    ...(request.stopSequences.length === 0 || emulated.stopSequences
      ? null
      : { stop: request.stopSequences }),
    ...writeTools(request, target, ignored),
    ...writeReasoningEffort(request.reasoning, target, ignored),
    ...writeOutputFormat(wrapped ?? request.outputFormat, target, ignored),
    ...writeOpenAiFields(request, target, ignored),
    ...tierField(target),
    ...(target.stream ? { stream: true, stream_options: { include_usage: true } } : null),
  };
  if (request.topK !== null) ignored.add('top_k');
  // OpenAI accepts metadata only for stored answers.
  if (request.metadata !== null) ignored.add('metadata');
  if (hasCacheMarks(request)) ignored.add('cache_control');
  return {
    body,
    ignored: [...ignored],
    ...(Object.keys(emulated).length > 0 && { emulated }),
    ...(prefill?.path !== undefined && { at: { path: prefill.path, isAtOrigin: true } }),
  };
}

function writeSampling(
  request: CanonicalRequest,
  target: UpstreamTarget,
  ignored: Set<string>,
): JsonObject {
  const { temperature, topP, seed, frequencyPenalty, presencePenalty, reasoning } = request;
  const refused = refusedSampling(effortOf(reasoning, target), target);
  const sampling = {
    temperature,
    top_p: topP,
    frequency_penalty: frequencyPenalty,
    presence_penalty: presencePenalty,
  };
  const fields: Record<string, number> = seed === null ? {} : { seed };
  for (const [name, value] of Object.entries(sampling)) {
    if (value === null) continue;
    if (refused.includes(name)) ignored.add(name);
    else fields[name] = value;
  }
  return fields;
}

/** Without tools, OpenAI refuses `tool_choice` and `parallel_tool_calls`. */
function writeTools(
  { tools, toolChoice, parallelToolCalls }: CanonicalRequest,
  target: UpstreamTarget,
  ignored: Set<string>,
): JsonObject | null {
  if (tools.length === 0) return null;
  const takesParallel = !(target.isOpenAi && callsOneByOne(target.model));
  if (parallelToolCalls && !takesParallel) ignored.add('parallel_tool_calls');
  return {
    tools: tools.map((tool) => writeTool(tool, target, ignored)),
    ...(toolChoice ? { tool_choice: writeToolChoice(toolChoice, tools) } : null),
    ...(parallelToolCalls !== null && takesParallel
      ? { parallel_tool_calls: parallelToolCalls }
      : null),
  };
}

function writeTool(tool: Tool, target: UpstreamTarget, ignored: Set<string>): JsonObject {
  const { name, description, strict, kind, grammar } = tool;
  if (kind === 'custom') {
    const format = grammar ? { type: 'grammar', grammar } : null;
    return { type: 'custom', custom: withoutNulls({ name, description, format }) };
  }
  const parameters = fitParameters(tool, target, (word) => ignored.add(`tools.${word}`));
  const called = withoutNulls({ name, description, parameters, strict });
  return { type: 'function', function: called };
}

/** For translation and the straight path. */
export function fitParameters(
  { parameters, strict }: Pick<Tool, 'parameters' | 'strict'>,
  target: UpstreamTarget,
  lose: Lose,
): JsonObject {
  if (target.isOpenAi) return fitOpenAiParameters(parameters, strict, lose);
  if (isKimi(target.model)) return fitKimiParameters(parameters, lose);
  return asObjectParameters(parameters);
}

function writeToolChoice(choice: ToolChoice, tools: readonly Tool[]): string | JsonObject {
  if (choice.type !== 'tool') return choice.type;
  const kind = tools.find((tool) => tool.name === choice.name)?.kind ?? 'function';
  return { type: kind, [kind]: { name: choice.name } };
}

function writeReasoningEffort(
  reasoning: Reasoning | null,
  target: UpstreamTarget,
  ignored: Set<string>,
): JsonObject | null {
  if (!reasoning) return null;
  const wanted = wantedEffort(reasoning);
  if (target.thinking && wanted === null) return null;
  const effort = target.thinking ? effortOf(reasoning, target) : null;
  if (effort !== null) return { reasoning_effort: effort };
  if (wanted !== 'none' || target.thinking) ignored.add('reasoning_effort');
  return null;
}

/** Returns null when the model uses its own default. */
function effortOf(reasoning: Reasoning | null, target: UpstreamTarget): Effort | null {
  const wanted = reasoning && wantedEffort(reasoning);
  if (wanted === null) return null;
  return target.isOpenAi ? fitKnownEffort(wanted, target.model) : fitEffort(wanted, target.model);
}

function writeOutputFormat(
  format: OutputFormat,
  target: UpstreamTarget,
  ignored: Set<string>,
): JsonObject | null {
  if (format.type === 'text') return null;
  if (format.type === 'json') return { response_format: { type: 'json_object' } };
  const { name, description, strict } = format;
  const lose = (word: string) => ignored.add(`schema.${word}`);
  const schema = fitOutputSchema(format, target, lose);
  const json_schema = withoutNulls({ name, description, schema, strict });
  return { response_format: { type: 'json_schema', json_schema } };
}

/** For translation and the straight path. */
export function fitOutputSchema(
  { schema, strict }: { readonly schema: JsonObject; readonly strict: boolean | null },
  target: UpstreamTarget,
  lose: Lose,
): JsonObject {
  if (target.isOpenAi) return fitOpenAiSchema(schema, strict, lose);
  const mended = mendSchema(schema);
  return isKimi(target.model) ? fitKimiSchema(mended, lose) : mended;
}

/** Most other hosts know only the older `user`. */
function writeOpenAiFields(
  request: CanonicalRequest,
  target: UpstreamTarget,
  ignored: Set<string>,
): JsonObject {
  const { endUser, promptCacheKey, promptCacheRetention, verbosity } = request;
  const fields: Record<string, string> = {};
  if (endUser !== null) fields[target.isOpenAi ? 'safety_identifier' : 'user'] = endUser;
  if (promptCacheKey !== null && target.isOpenAi) fields.prompt_cache_key = promptCacheKey;
  if (promptCacheKey !== null && !target.isOpenAi) ignored.add('prompt_cache_key');
  if (promptCacheRetention && target.isOpenAi) fields.prompt_cache_retention = promptCacheRetention;
  else if (promptCacheRetention) ignored.add('prompt_cache_retention');
  if (verbosity && target.isOpenAi && takesVerbosity(target.model)) fields.verbosity = verbosity;
  else if (verbosity) ignored.add('verbosity');
  return fields;
}
