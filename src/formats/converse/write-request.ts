// Writes the canonical request as the body of Converse. The URL holds the model and whether to stream.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
import type { CanonicalRequest, Effort, Tool } from '../../canonical/request.ts';
import { jsonInstruction } from '../adapting/json-object.ts';
import { searchedStops } from '../adapting/stop-cut.ts';
import type { Emulated } from '../adapting/emulated.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { UpstreamRequest, UpstreamTarget } from '../format.ts';
import { unofferedTier } from '../service-tiers.ts';
import { modelTraits, type ModelTraits } from './model-traits.ts';
import { writeTools } from './tools.ts';
import { writeConversation, writeMark } from './write-messages.ts';

/** Throws ApiError `invalid_request` on what Converse cannot express without changing the meaning. */
export function writeRequest(request: CanonicalRequest, target: UpstreamTarget): UpstreamRequest {
  const traits = modelTraits(target.model);
  const ignored = new Set(unknownFields(request));
  const emulated = emulatedOf(request);
  const instructed = emulated.jsonObject
    ? { ...request, system: [...request.system, jsonInstruction] }
    : request;
  const { system, messages } = writeConversation(instructed, traits, ignored);
  const toolTraits = { cacheMarks: traits.cacheMarks === 'nova' ? null : traits.cacheMarks };
  const markTool = ({ cacheControl }: Tool) => writeMark(cacheControl, toolTraits, ignored);
  if (target.tier === 'ultrafast') throw unofferedTier(target.tier);
  return {
    body: {
      messages,
      ...(system.length > 0 && { system }),
      inferenceConfig: {
        maxTokens: target.maxOutputTokens,
        ...writeSampling(request, ignored),
        ...(request.stopSequences.length > 0 &&
          !emulated.stopSequences && { stopSequences: request.stopSequences }),
      },
      ...writeTools(request, markTool, ignored),
      ...writeOutputFormat(request),
      ...(target.tier && { serviceTier: { type: target.tier } }),
      ...writeModelFields(request, { traits, target }, ignored),
    },
    ignored: [...ignored],
    emulated,
  };
}

const stopSequencesMax = 4;

function emulatedOf({ stopSequences, outputFormat }: CanonicalRequest): Emulated {
  return {
    ...(stopSequences.length > stopSequencesMax && { stopSequences: searchedStops(stopSequences) }),
    ...(outputFormat.type === 'json' && { jsonObject: true }),
  };
}

/** Lists what Converse has no field for and the answer does not need. */
function unknownFields(request: CanonicalRequest): string[] {
  const ignored: string[] = [];
  if (request.seed !== null) ignored.push('seed');
  if (request.frequencyPenalty) ignored.push('frequency_penalty');
  if (request.presencePenalty) ignored.push('presence_penalty');
  if (request.endUser !== null) ignored.push('user');
  if (request.metadata !== null) ignored.push('metadata');
  if (request.promptCacheKey !== null) ignored.push('prompt_cache_key');
  if (request.verbosity) ignored.push('verbosity');
  return ignored;
}

/** A temperature above Converse's maximum becomes the maximum. */
function writeSampling({ temperature, topP }: CanonicalRequest, ignored: Set<string>): JsonObject {
  if (temperature !== null && temperature > 1) ignored.add('temperature');
  return {
    ...(temperature !== null && { temperature: Math.min(temperature, 1) }),
    ...(topP !== null && { topP }),
  };
}

/** The schema is a text there. */
function writeOutputFormat({ outputFormat }: CanonicalRequest): JsonObject {
  if (outputFormat.type !== 'json-schema') return {};
  const { name, description, schema } = outputFormat;
  const jsonSchema = {
    name: name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'answer',
    schema: JSON.stringify(schema),
    ...(description !== null && { description }),
  };
  return { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } };
}

/** What only the models of one vendor have. */
function writeModelFields(
  { topK, reasoning }: CanonicalRequest,
  { traits, target }: { readonly traits: ModelTraits; readonly target: UpstreamTarget },
  ignored: Set<string>,
): JsonObject {
  if (topK !== null && traits.topK === null) ignored.add('top_k');
  const thinking = target.thinking && reasoning ? writeReasoning(reasoning, traits) : null;
  if (reasoning && reasoning.effort !== 'none' && !thinking) ignored.add('reasoning_effort');
  const fields = {
    ...(topK !== null && traits.topK === 'claude' && { top_k: topK }),
    ...(topK !== null && traits.topK === 'nova' && { inferenceConfig: { topK } }),
    ...thinking,
  };
  return Object.keys(fields).length > 0 ? { additionalModelRequestFields: fields } : {};
}

function writeReasoning(
  { effort, budgetTokens }: NonNullable<CanonicalRequest['reasoning']>,
  traits: ModelTraits,
): JsonObject | null {
  if (effort === 'none') return null;
  switch (traits.reasoning) {
    case 'claude':
      if (budgetTokens !== null)
        return { thinking: { type: 'enabled', budget_tokens: budgetTokens } };
      return effort === null ? null : { output_config: { effort: levelOf(effort) } };
    // With the highest effort it refuses an output limit, which every request has.
    case 'nova': {
      const level = levelOf(effort ?? 'medium');
      return {
        reasoningConfig: {
          type: 'enabled',
          maxReasoningEffort: level === 'high' ? 'medium' : level,
        },
      };
    }
    case 'gpt':
      return effort === null ? null : { reasoning: { effort: levelOf(effort) } };
    case 'gpt-oss':
      return effort === null ? null : { reasoning_effort: levelOf(effort) };
    case null:
      return null;
  }
}

function levelOf(effort: Exclude<Effort, 'none'>): 'low' | 'medium' | 'high' {
  if (effort === 'minimal' || effort === 'low') return 'low';
  return effort === 'medium' ? 'medium' : 'high';
}
