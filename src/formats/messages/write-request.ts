// The canonical request as the body of an upstream call. Every request has its output limit and, since the operator's credential is
// shared, the standard service tier.
import { invalidRequest } from '../../canonical/errors.ts';
import { requireChosenTool } from '../../canonical/tool-choice.ts';
import type { CanonicalRequest, Message, Tool, ToolChoice } from '../../canonical/request.ts';
import type { JsonObject, UpstreamRequest, UpstreamTarget } from '../format.ts';
import { writeCacheControl } from './media.ts';
import { modelTraits, type ModelTraits } from './model-traits.ts';
import { writeOutputSchema } from './output-schema.ts';
import { writeThinkingConfig } from './thinking-config.ts';
import { writeConversation } from './write-message.ts';

/** Throws ApiError `invalid_request` on what Messages cannot express without changing its meaning. */
export function writeRequest(request: CanonicalRequest, target: UpstreamTarget): UpstreamRequest {
  const traits = modelTraits(target.model);
  const ignored = unknownFields(request);
  const conversation = writeConversation(request.system, request.messages, traits);
  ignored.push(...conversation.ignored);
  const thinking = writeThinkingConfig(request, { target, traits, messages: conversation.messages });
  if (thinking.isDropped) ignored.push('reasoning_effort');
  const isThinking = thinking.thinking !== null && thinking.thinking.type !== 'disabled';
  return {
    body: {
      model: target.model,
      max_tokens: target.maxOutputTokens,
      ...(conversation.system.length > 0 ? { system: conversation.system } : {}),
      messages: conversation.messages,
      ...writeTools(request),
      ...(request.stopSequences.length > 0 ? { stop_sequences: request.stopSequences } : {}),
      ...writeSampling(request, { traits, isThinking }, ignored),
      ...(thinking.thinking ? { thinking: thinking.thinking } : {}),
      ...writeOutputConfig(request, thinking.effort),
      ...(request.endUser === null ? {} : { metadata: { user_id: request.endUser } }),
      service_tier: 'standard_only',
      ...(target.stream ? { stream: true } : {}),
    },
    ignored,
  };
}

/** What Messages has no field for and an answer does without. */
function unknownFields(request: CanonicalRequest): string[] {
  const ignored: string[] = [];
  if (request.seed !== null) ignored.push('seed');
  if (request.frequencyPenalty) ignored.push('frequency_penalty');
  if (request.presencePenalty) ignored.push('presence_penalty');
  if (request.metadata !== null) ignored.push('metadata');
  if (request.promptCacheKey !== null) ignored.push('prompt_cache_key');
  if (request.verbosity) ignored.push('verbosity');
  if (request.messages.some(hasImageDetail)) ignored.push('detail');
  return ignored;
}

/** Claude sees every image in full, within its limits. */
function hasImageDetail({ content }: Message): boolean {
  return content.some((part) => {
    if (part.type === 'tool-result') return part.content.some(isDetailed);
    return isDetailed(part);
  });
}

function isDetailed(part: Message['content'][number]): boolean {
  return part.type === 'image' && (part.detail ?? 'auto') !== 'auto';
}

/** `tool_choice` is refused without tools, where `auto` and `none` say nothing anyway. */
function writeTools({ tools, toolChoice, parallelToolCalls }: CanonicalRequest): JsonObject {
  requireChosenTool({ tools, toolChoice });
  if (tools.length === 0) return {};
  const choice = writeToolChoice(toolChoice, parallelToolCalls);
  return { tools: tools.map(writeTool), ...(choice ? { tool_choice: choice } : {}) };
}

function writeTool(tool: Tool, index: number): JsonObject {
  if (tool.kind === 'custom') {
    throw invalidRequest(
      `tools[${index}]`,
      `tools[${index}] is a custom (free-form) tool, which this model does not know; use a function with a JSON schema`,
    );
  }
  return {
    name: tool.name,
    ...(tool.description === null ? {} : { description: tool.description }),
    input_schema: { type: 'object', ...tool.parameters },
    ...(tool.strict === null ? {} : { strict: tool.strict }),
    ...writeCacheControl(tool.cacheControl),
  };
}

function writeToolChoice(choice: ToolChoice | null, parallel: boolean | null): JsonObject | null {
  if (choice?.type === 'none') return { type: 'none' };
  if (!choice && parallel !== false) return null;
  const parallelField = parallel === null ? {} : { disable_parallel_tool_use: !parallel };
  if (choice?.type === 'tool') return { type: 'tool', name: choice.name, ...parallelField };
  return { type: choice?.type === 'required' ? 'any' : 'auto', ...parallelField };
}

/** Adds to `ignored` what the model, or its thinking, does not take; a temperature above Messages' highest counts as that one. */
function writeSampling(
  { temperature, topP, topK }: CanonicalRequest,
  { traits, isThinking }: { traits: ModelTraits; isThinking: boolean },
  ignored: string[],
): JsonObject {
  const takesAny = traits.sampling !== 'none';
  const fields: Record<string, number> = {};
  const put = (name: string, value: number | null, isTaken: boolean) => {
    if (value === null) return;
    if (isTaken) fields[name] = value;
    else ignored.push(name);
  };
  const highest = temperature === null ? null : Math.min(temperature, 1);
  put('temperature', highest, takesAny && (!isThinking || highest === 1));
  if (temperature !== highest && fields.temperature !== undefined) ignored.push('temperature');
  const hasRoom = traits.sampling === 'all' || fields.temperature === undefined;
  put('top_p', topP, takesAny && hasRoom && (!isThinking || (topP ?? 0) >= 0.95));
  put('top_k', topK, takesAny && !isThinking);
  return fields;
}

function writeOutputConfig({ outputFormat }: CanonicalRequest, effort: string | null): JsonObject {
  if (outputFormat.type === 'json') {
    throw invalidRequest(
      'response_format',
      'response_format `json_object` (JSON of any shape) is not available on this model; give a JSON schema with `json_schema`',
    );
  }
  const format =
    outputFormat.type === 'json-schema'
      ? { format: { type: 'json_schema', schema: writeOutputSchema(outputFormat.schema, outputFormat.description) } }
      : {};
  const config = { ...(effort === null ? {} : { effort }), ...format };
  return Object.keys(config).length > 0 ? { output_config: config } : {};
}
