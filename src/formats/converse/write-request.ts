// Writes the canonical request as the body of Converse. The URL holds the model and whether to stream.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
import { nearestEffort, wantedEffort } from '../../canonical/effort.ts';
import type { CanonicalRequest, Tool } from '../../canonical/request.ts';
import { jsonInstruction } from '../adapting/json-object.ts';
import { searchedStops } from '../adapting/stop-cut.ts';
import type { Emulated } from '../adapting/emulated.ts';
import type { JsonObject } from '../../lib/json.ts';
import { writeOutputSchema } from '../claude-schema.ts';
import { writeThinkingConfig } from '../claude-thinking.ts';
import { fitSampling, withoutForcing } from '../claude-traits.ts';
import type { UpstreamRequest, UpstreamTarget } from '../format.ts';
import { unofferedTier } from '../service-tiers.ts';
import { modelTraits, toolTraits, type ModelTraits } from './model-traits.ts';
import { writeTools } from './tools.ts';
import { writeConversation, writeMark } from './write-conversation.ts';
import { lackedFields } from '../lacked-fields.ts';

/** Throws ApiError `invalid_request` on what Converse cannot express without changing the meaning. */
export function writeRequest(given: CanonicalRequest, target: UpstreamTarget): UpstreamRequest {
  const traits = modelTraits(target.model);
  const request = traits.claude ? withoutForcing(given, traits.claude) : given;
  const ignored = new Set(lackedFields(request, unknownHere));
  if (request !== given) ignored.add('tool_choice');
  const emulated = emulatedOf(request, traits);
  const instructed = emulated.jsonObject
    ? { ...request, system: [...request.system, jsonInstruction] }
    : request;
  const { system, messages } = writeConversation(instructed, traits, ignored);
  const markTool = ({ cacheControl }: Tool) => writeMark(cacheControl, toolTraits(traits), ignored);
  if (target.tier === 'ultrafast') throw unofferedTier(target.tier);
  const reasoning = writeReasoning(request, { traits, target, messages }, ignored);
  const sampling = writeSampling(request, { traits, isThinking: reasoning.isThinking }, ignored);
  return {
    body: {
      messages,
      ...(system.length > 0 && { system }),
      inferenceConfig: {
        maxTokens: target.maxOutputTokens,
        ...sampling.common,
        ...(request.stopSequences.length > 0 &&
          !emulated.stopSequences && { stopSequences: request.stopSequences }),
      },
      ...writeTools(request, { mark: markTool, forces: traits.forces }, ignored),
      ...writeOutputFormat(request, ignored),
      ...(target.tier && { serviceTier: { type: target.tier } }),
      ...writeModelFields({ ...sampling.own, ...reasoning.fields }),
    },
    ignored: [...ignored],
    emulated,
  };
}

/** Converse has no field for them. */
const unknownHere =
  'seed frequency_penalty presence_penalty user metadata prompt_cache_key prompt_cache_retention verbosity';

const stopSequencesMax = 4;

/** Claude refuses blank stop sequences. */
function emulatedOf(
  { stopSequences, outputFormat }: CanonicalRequest,
  { claude }: ModelTraits,
): Emulated {
  const isRefused = claude !== null && stopSequences.some((sequence) => sequence.trim() === '');
  return {
    ...((isRefused || stopSequences.length > stopSequencesMax) && {
      stopSequences: searchedStops(stopSequences),
    }),
    ...(outputFormat.type === 'json' && { jsonObject: true }),
  };
}

type Sampling = {
  /** Fields of all models. */
  readonly common: JsonObject;
  /** Fields of the vendor's. */
  readonly own: JsonObject;
};

/** A temperature above Converse's maximum becomes the maximum. */
function writeSampling(
  request: CanonicalRequest,
  { traits, isThinking }: { readonly traits: ModelTraits; readonly isThinking: boolean },
  ignored: Set<string>,
): Sampling {
  const { temperature, topP, topK } = request;
  if (traits.claude) {
    const claude = { traits: traits.claude, isThinking };
    const { top_p: highest, top_k, ...rest } = fitSampling(request, claude, ignored);
    return {
      common: { ...rest, ...(highest !== undefined && { topP: highest }) },
      own: top_k === undefined ? {} : { top_k },
    };
  }
  if (temperature !== null && temperature > 1) ignored.add('temperature');
  if (topK !== null && traits.topK === null) ignored.add('top_k');
  return {
    common: {
      ...(temperature !== null && { temperature: Math.min(temperature, 1) }),
      ...(topP !== null && { topP }),
    },
    own: topK !== null && traits.topK === 'nova' ? { inferenceConfig: { topK } } : {},
  };
}

/** The schema is a text there. */
function writeOutputFormat({ outputFormat }: CanonicalRequest, ignored: Set<string>): JsonObject {
  if (outputFormat.type !== 'json-schema') return {};
  const { name, description } = outputFormat;
  const lose = (word: string) => ignored.add(`schema.${word}`);
  const schema = writeOutputSchema(outputFormat.schema, null, lose);
  const jsonSchema = {
    name: name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'answer',
    schema: JSON.stringify(schema),
    ...(description !== null && { description }),
  };
  return { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } };
}

/** What only the models of one vendor have. */
function writeModelFields(fields: JsonObject): JsonObject {
  return Object.keys(fields).length > 0 ? { additionalModelRequestFields: fields } : {};
}

type WrittenReasoning = {
  readonly fields: JsonObject;
  readonly isThinking: boolean;
};

function writeReasoning(
  request: CanonicalRequest,
  {
    traits,
    target,
    messages,
  }: {
    readonly traits: ModelTraits;
    readonly target: UpstreamTarget;
    readonly messages: readonly JsonObject[];
  },
  ignored: Set<string>,
): WrittenReasoning {
  const { claude } = traits;
  if (claude) {
    const mayUseBudget = mayThinkWithBudget(messages);
    const options = { target, traits: claude, mayUseBudget };
    const { thinking, effort } = writeThinkingConfig(request, options, ignored);
    return {
      fields: {
        ...(thinking && { thinking }),
        ...(effort !== null && { output_config: { effort } }),
      },
      isThinking: thinking !== null && thinking['type'] !== 'disabled',
    };
  }
  const { reasoning } = request;
  const fields = target.thinking && reasoning ? writeEffort(reasoning, traits) : null;
  if (reasoning && reasoning.effort !== 'none' && !fields) ignored.add('reasoning_effort');
  return { fields: fields ?? {}, isThinking: false };
}

/** With a budget, Claude wants the turn that made the answered calls to begin with its thinking. */
function mayThinkWithBudget(messages: readonly JsonObject[]): boolean {
  const last = messages.findLast(({ role }) => role === 'assistant');
  const blocks = (last?.['content'] ?? []) as readonly JsonObject[];
  return !blocks.some((block) => 'toolUse' in block) || 'reasoningContent' in blocks[0]!;
}

function writeEffort(
  asked: NonNullable<CanonicalRequest['reasoning']>,
  { reasoning }: ModelTraits,
): JsonObject | null {
  const wanted = wantedEffort(asked);
  if (wanted === 'none') return null;
  // With the highest effort Nova refuses an output limit, which every request has.
  if (reasoning === 'nova') {
    const maxReasoningEffort = nearestEffort(wanted ?? 'medium', ['low', 'medium']);
    return { reasoningConfig: { type: 'enabled', maxReasoningEffort } };
  }
  if (reasoning === null || wanted === null) return null;
  const level = nearestEffort(wanted, ['low', 'medium', 'high']);
  return reasoning === 'gpt' ? { reasoning: { effort: level } } : { reasoning_effort: level };
}
