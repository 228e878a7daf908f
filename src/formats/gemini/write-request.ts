// Writes the canonical request as the body of an upstream call. The URL holds the model and whether
// to stream.
import { hasCacheMarks } from '../../canonical/cache-control.ts';
import type { Emulated } from '../adapting/emulated.ts';
import { invalidRequest } from '../../canonical/errors.ts';
import { jsonInstruction } from '../adapting/json-object.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import { searchedStops } from '../adapting/stop-cut.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { UpstreamRequest, UpstreamTarget } from '../format.ts';
import { unofferedTier } from '../service-tiers.ts';
import { modelTraits, type ModelTraits } from './model-traits.ts';
import { writeResponseSchema } from './response-schema.ts';
import { writeThinkingConfig } from './thinking-config.ts';
import { ignoredOfTools, writeTools } from './tools.ts';
import { writeConversation } from './write-conversation.ts';
import { lackedFields } from '../lacked-fields.ts';

/** Throws ApiError `invalid_request` on what Gemini cannot express without changing the meaning. */
export function writeRequest(request: CanonicalRequest, target: UpstreamTarget): UpstreamRequest {
  const traits = modelTraits(target.model);
  const ignored = new Set([
    ...ignoredOfTools(request),
    ...lackedFields(request, 'user metadata prompt_cache_key prompt_cache_retention verbosity'),
  ]);
  if (hasCacheMarks(request)) ignored.add('cache_control');
  const emulated = emulatedOf(request, traits);
  const instructed = emulated.jsonObject
    ? { ...request, system: [...request.system, jsonInstruction] }
    : request;
  const { systemInstruction, contents } = writeConversation(instructed, traits, ignored);
  const thinkingConfig = writeThinkingConfig(request.reasoning, { target, traits }, ignored);
  if (target.tier === 'ultrafast') throw unofferedTier(target.tier);
  return {
    body: {
      contents,
      ...(systemInstruction ? { systemInstruction } : {}),
      ...(target.tier ? { serviceTier: target.tier } : {}),
      ...writeTools(request),
      generationConfig: {
        maxOutputTokens: target.maxOutputTokens,
        ...writeSampling(request, traits, ignored),
        ...(request.stopSequences.length > 0 && !emulated.stopSequences
          ? { stopSequences: request.stopSequences }
          : {}),
        ...(emulated.jsonObject ? {} : writeOutputFormat(request, traits, ignored)),
        ...(thinkingConfig ? { thinkingConfig } : {}),
      },
    },
    ignored: [...ignored],
    emulated,
  };
}

const stopSequencesMax = 5;

/** Emulates stop sequences beyond Gemini's maximum, and JSON mode beside tools before Gemini 3. */
function emulatedOf(
  { stopSequences, outputFormat, tools }: CanonicalRequest,
  { schemaWithTools }: ModelTraits,
): Emulated {
  const isJson = outputFormat.type === 'json' && tools.length > 0 && !schemaWithTools;
  return {
    ...(stopSequences.length > stopSequencesMax && { stopSequences: searchedStops(stopSequences) }),
    ...(isJson && { jsonObject: true }),
  };
}

/** Adds to `ignored` what the model does not accept. A penalty of 0 means none. */
function writeSampling(
  request: CanonicalRequest,
  { sampling, penalties }: ModelTraits,
  ignored: Set<string>,
): JsonObject {
  const { temperature, topP, topK, seed, frequencyPenalty, presencePenalty } = request;
  const rows: readonly [name: string, as: string, value: number | null, isTaken: boolean][] = [
    ['temperature', 'temperature', temperature, sampling],
    ['top_p', 'topP', topP, sampling],
    ['top_k', 'topK', topK, sampling],
    ['seed', 'seed', seed, isInt32(seed)],
    ['frequency_penalty', 'frequencyPenalty', frequencyPenalty || null, penalties],
    ['presence_penalty', 'presencePenalty', presencePenalty || null, penalties],
  ];
  const fields: Record<string, number> = {};
  for (const [name, as, value, isTaken] of rows)
    if (value !== null && isTaken) fields[as] = value;
    else if (value !== null) ignored.add(name);
  return fields;
}

function isInt32(value: number | null): boolean {
  return value !== null && (value | 0) === value;
}

function writeOutputFormat(
  { outputFormat, tools }: CanonicalRequest,
  { schemaWithTools }: ModelTraits,
  ignored: Set<string>,
): JsonObject {
  if (outputFormat.type === 'text') return {};
  if (tools.length > 0 && !schemaWithTools) {
    throw invalidRequest(
      'response_format',
      'response_format: this model does not support JSON output together with tools; leave out the output format or the tools',
    );
  }
  const responseMimeType = 'application/json';
  if (outputFormat.type === 'json') return { responseMimeType };
  // The name is only the client's label.
  const { schema, description } = outputFormat;
  const lose = (word: string) => ignored.add(`schema.${word}`);
  return { responseMimeType, responseJsonSchema: writeResponseSchema(schema, description, lose) };
}
