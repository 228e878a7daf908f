// The canonical request as the body of an upstream call. The model and whether to stream stand in the path.
import { hasCacheMarks } from '../../canonical/cache-control.ts';
import { invalidRequest } from '../../canonical/errors.ts';
import type { CanonicalRequest, OutputFormat } from '../../canonical/request.ts';
import type { JsonObject, UpstreamRequest, UpstreamTarget } from '../format.ts';
import { modelTraits, type ModelTraits } from './model-traits.ts';
import { writeThinkingConfig } from './thinking-config.ts';
import { ignoredOfTools, writeTools } from './tools.ts';
import { writeContents } from './write-contents.ts';

/** Throws ApiError `invalid_request` on what Gemini cannot express without changing its meaning. */
export function writeRequest(request: CanonicalRequest, target: UpstreamTarget): UpstreamRequest {
  const traits = modelTraits(target.model);
  const ignored = new Set([...ignoredOfTools(request), ...unknownFields(request)]);
  const { systemInstruction, contents } = writeContents(request, traits, ignored);
  const thinking = writeThinkingConfig(request.reasoning, target, traits);
  if (thinking.isDropped) ignored.add('reasoning_effort');
  return {
    body: {
      contents,
      ...(systemInstruction ? { systemInstruction } : {}),
      ...writeTools(request),
      generationConfig: {
        maxOutputTokens: target.maxOutputTokens,
        ...writeSampling(request, traits, ignored),
        ...writeStopSequences(request.stopSequences),
        ...writeOutputFormat(request, traits),
        ...(thinking.config ? { thinkingConfig: thinking.config } : {}),
      },
    },
    ignored: [...ignored],
  };
}

/** What Gemini has no field for and an answer does without. */
function unknownFields(request: CanonicalRequest): string[] {
  const ignored: string[] = [];
  if (request.endUser !== null) ignored.push('user');
  if (request.metadata !== null) ignored.push('metadata');
  if (request.promptCacheKey !== null) ignored.push('prompt_cache_key');
  if (request.verbosity) ignored.push('verbosity');
  if (hasCacheMarks(request)) ignored.push('cache_control');
  return ignored;
}

/** Adds to `ignored` what the model does not take. A penalty of 0 is none. */
function writeSampling(request: CanonicalRequest, { sampling, penalties }: ModelTraits, ignored: Set<string>): JsonObject {
  const fields: Record<string, number> = {};
  const put = (name: string, value: number | null, { as, isTaken }: { as: string; isTaken: boolean }) => {
    if (value === null) return;
    if (isTaken) fields[as] = value;
    else ignored.add(name);
  };
  put('temperature', request.temperature, { as: 'temperature', isTaken: sampling });
  put('top_p', request.topP, { as: 'topP', isTaken: sampling });
  put('top_k', request.topK, { as: 'topK', isTaken: sampling });
  put('seed', request.seed, { as: 'seed', isTaken: isInt32(request.seed) });
  put('frequency_penalty', request.frequencyPenalty || null, { as: 'frequencyPenalty', isTaken: penalties });
  put('presence_penalty', request.presencePenalty || null, { as: 'presencePenalty', isTaken: penalties });
  return fields;
}

function isInt32(value: number | null): boolean {
  return value !== null && (value | 0) === value;
}

const stopSequencesMax = 5;

function writeStopSequences(stopSequences: readonly string[]): JsonObject {
  if (stopSequences.length > stopSequencesMax) {
    throw invalidRequest(
      'stop',
      `stop: this model takes at most ${stopSequencesMax} stop sequences; got ${stopSequences.length}`,
    );
  }
  return stopSequences.length > 0 ? { stopSequences } : {};
}

function writeOutputFormat({ outputFormat, tools }: CanonicalRequest, { schemaWithTools }: ModelTraits): JsonObject {
  if (outputFormat.type === 'text') return {};
  if (tools.length > 0 && !schemaWithTools) {
    throw invalidRequest(
      'response_format',
      'response_format: this model does not give JSON output together with tools; leave out the output format or the tools',
    );
  }
  return { responseMimeType: 'application/json', ...writeSchema(outputFormat) };
}

/** The description is told to the model, so it goes where Gemini looks for one. The name is only the caller's label. */
function writeSchema(format: Exclude<OutputFormat, { type: 'text' }>): JsonObject {
  if (format.type === 'json') return {};
  const { description, schema } = format;
  return { responseJsonSchema: description === null ? schema : { description, ...schema } };
}
