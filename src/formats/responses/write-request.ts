// Writes the body for a Responses upstream. Nothing is stored there. Reasoning comes back
// encrypted, so that the next turn can include it.
import { hasCacheMarks } from '../../canonical/cache-control.ts';
import { wantedEffort } from '../../canonical/effort.ts';
import { effortLevels } from '../../canonical/request.ts';
import type {
  CanonicalRequest,
  Effort,
  Reasoning,
  Tool,
  ToolChoice,
  Verbosity,
} from '../../canonical/request.ts';
import { refusePrefill } from '../adapting/answerable.ts';
import { searchedStops } from '../adapting/stop-cut.ts';
import { wrapSchema } from '../adapting/wrapped-schema.ts';
import { type JsonObject, objectOf } from '../../lib/json.ts';
import { withoutNulls } from '../edit-json.ts';
import type { UpstreamRequest, UpstreamTarget } from '../format.ts';
import { lackedFields } from '../lacked-fields.ts';
import { refusedSampling } from '../model-abilities.ts';
import { tierField } from '../service-tiers.ts';
import { fitKnownEffort, takesVerbosity } from '../openai-models.ts';
import { fitOpenAiParameters, fitOpenAiSchema } from '../openai-schema.ts';
import { writeConversation } from './write-conversation.ts';

/** OpenAI refuses less. This may exceed the client's maximum by a few tokens. */
export const outputTokensMin = 16;
export const encryptedReasoning = 'reasoning.encrypted_content';

/**
 * Throws ApiError `invalid_request` on what this format cannot express if it would change the
 * answer.
 */
export function writeRequest(request: CanonicalRequest, target: UpstreamTarget): UpstreamRequest {
  refusePrefill(request);
  const reasoning = target.thinking ? writeReasoning(request.reasoning, target) : null;
  const samples = refusedSampling(effortIn(reasoning), target).length === 0;
  const ignored = new Set(
    lackedFields(request, samples ? unknownHere : `${unknownHere} ${sampling}`),
  );
  const verbosity = (takesVerbosity(target.model) && request.verbosity) || null;
  const wrapped = wrapSchema(request.outputFormat);
  const body = withoutNulls({
    model: target.model,
    instructions: request.system[0]?.text ?? null,
    input: writeConversation(request, ignored),
    stream: target.stream,
    store: false,
    max_output_tokens: Math.max(outputTokensMin, target.maxOutputTokens),
    include: target.thinking ? [encryptedReasoning] : null,
    reasoning,
    ...(samples && { temperature: request.temperature, top_p: request.topP }),
    tools: request.tools.length > 0 ? request.tools.map((tool) => writeTool(tool, ignored)) : null,
    tool_choice: request.toolChoice && writeToolChoice(request.toolChoice, request.tools),
    parallel_tool_calls: request.parallelToolCalls,
    text: writeText(wrapped ?? request.outputFormat, verbosity, ignored),
    safety_identifier: request.endUser,
    metadata: request.metadata,
    prompt_cache_key: request.promptCacheKey,
    prompt_cache_retention: request.promptCacheRetention ?? null,
    ...tierField(target),
  });
  if (!target.thinking && request.reasoning && request.reasoning.effort !== 'none')
    ignored.add('reasoning_effort');
  if (request.verbosity && !verbosity) ignored.add('verbosity');
  if (hasCacheMarks(request)) ignored.add('cache_control');
  const stopSequences = searchedStops(request.stopSequences);
  return {
    body,
    ignored: [...ignored],
    emulated: {
      ...(stopSequences.length > 0 && { stopSequences }),
      ...(wrapped && { wrapped: true }),
    },
  };
}

/** Responses has no field for them. */
const unknownHere = 'top_k seed frequency_penalty presence_penalty';
const sampling = 'temperature top_p';

/** Returns the effort of a `reasoning` field; null: the model's own. */
export function effortIn(reasoning: unknown): Effort | null {
  const asked = objectOf(reasoning).effort;
  return effortLevels.find((level) => level === asked) ?? null;
}

/**
 * The summary is OpenAI's only visible reasoning, and clients of other formats expect to see some
 * when they ask the model to think.
 */
function writeReasoning(
  reasoning: Reasoning | null,
  { model, refusesSummaries }: UpstreamTarget,
): JsonObject | null {
  if (!reasoning) return null;
  const summary = refusesSummaries ? null : { summary: 'auto' };
  const wanted = wantedEffort(reasoning);
  const fitted = wanted && fitKnownEffort(wanted, model);
  if (!fitted) return summary;
  return fitted === 'none' ? { effort: fitted } : { effort: fitted, ...summary };
}

/**
 * Without `strict`, Responses would tighten the schema by itself and refuse those it cannot.
 * Adds to `ignored` the keywords that move into the description.
 */
function writeTool(
  { kind, name, description, parameters, strict, grammar }: Tool,
  ignored: Set<string>,
): JsonObject {
  if (kind === 'custom') {
    const format = grammar ? { type: 'grammar', ...grammar } : null;
    return withoutNulls({ type: 'custom', name, description, format });
  }
  const lose = (word: string) => ignored.add(`tools.${word}`);
  return withoutNulls({
    type: 'function',
    name,
    description,
    parameters: fitOpenAiParameters(parameters, strict, lose),
    strict: strict ?? false,
  });
}

function writeToolChoice(choice: ToolChoice, tools: readonly Tool[]): unknown {
  if (choice.type !== 'tool') return choice.type;
  const kind = tools.find((tool) => tool.name === choice.name)?.kind ?? 'function';
  return { type: kind, name: choice.name };
}

function writeText(
  format: CanonicalRequest['outputFormat'],
  verbosity: Verbosity | null,
  ignored: Set<string>,
): JsonObject | null {
  const fields = withoutNulls({ verbosity, format: writeFormat(format, ignored) });
  return Object.keys(fields).length === 0 ? null : fields;
}

function writeFormat(format: CanonicalRequest['outputFormat'], ignored: Set<string>) {
  switch (format.type) {
    case 'text':
      return null;
    case 'json':
      return { type: 'json_object' };
    case 'json-schema': {
      const { name, description, strict } = format;
      const lose = (word: string) => ignored.add(`schema.${word}`);
      const schema = fitOpenAiSchema(format.schema, strict, lose);
      return withoutNulls({ type: 'json_schema', name, schema, description, strict });
    }
  }
}
