// A canonical request to the body for a Responses upstream. Nothing is stored there, and reasoning comes back encrypted, so that the
// next turn can bring it along.
import { hasCacheMarks } from '../../canonical/cache-control.ts';
import { effortOfBudget } from '../../canonical/effort.ts';
import { invalidRequest } from '../../canonical/errors.ts';
import type { CanonicalRequest, Reasoning, Tool, ToolChoice, Verbosity } from '../../canonical/request.ts';
import { requireChosenTool } from '../../canonical/tool-choice.ts';
import type { JsonObject, UpstreamRequest, UpstreamTarget } from '../format.ts';
import { fitKnownEffort, takesVerbosity } from '../openai-models.ts';
import { writeInput } from './write-input.ts';

/** OpenAI refuses less; what it gives beyond the caller's maximum is a handful of tokens. */
export const outputTokensMin = 16;
export const encryptedReasoning = 'reasoning.encrypted_content';

/** Throws ApiError `invalid_request` on what this format cannot express and the answer would depend on. */
export function writeRequest(request: CanonicalRequest, target: UpstreamTarget): UpstreamRequest {
  refuseStopSequences(request);
  refusePrefill(request);
  requireChosenTool(request);
  const { items, ignored } = writeInput(request);
  const reasoning = target.thinking ? writeReasoning(request.reasoning, target.model) : undefined;
  const samples = !target.thinking || reasoning?.effort === 'none';
  const verbosity = takesVerbosity(target.model) ? request.verbosity : undefined;
  const body: JsonObject = {
    model: target.model,
    ...optionalField('instructions', request.system[0]?.text),
    input: items,
    stream: target.stream,
    store: false,
    max_output_tokens: Math.max(outputTokensMin, target.maxOutputTokens),
    ...(target.thinking ? { include: [encryptedReasoning] } : {}),
    ...optionalField('reasoning', reasoning),
    ...(samples ? writeSampling(request) : {}),
    ...(request.tools.length > 0 ? { tools: request.tools.map(writeTool) } : {}),
    ...optionalField('tool_choice', request.toolChoice && writeToolChoice(request.toolChoice, request.tools)),
    ...optionalField('parallel_tool_calls', request.parallelToolCalls),
    ...optionalField('text', writeText(request.outputFormat, verbosity)),
    ...optionalField('safety_identifier', request.endUser),
    ...optionalField('metadata', request.metadata),
    ...optionalField('prompt_cache_key', request.promptCacheKey),
  };
  if (request.verbosity && !verbosity) ignored.push('verbosity');
  if (hasCacheMarks(request)) ignored.push('cache_control');
  return { body, ignored: [...ignored, ...listIgnored(request, { samples, thinks: target.thinking })] };
}

function optionalField(name: string, value: unknown): JsonObject {
  return value === null || value === undefined ? {} : { [name]: value };
}

function refuseStopSequences({ stopSequences }: CanonicalRequest): void {
  if (stopSequences.length === 0) return;
  throw invalidRequest('stop', 'stop: stop sequences are not available on this model. Leave them out.');
}

/** Responses answers a last message of the assistant as if it were an earlier turn. */
function refusePrefill({ isPrefilled, messages }: CanonicalRequest): void {
  if (!isPrefilled) return;
  const path = `messages[${messages.length - 1}]`;
  throw invalidRequest(
    'messages',
    `${path} begins the answer, which this model cannot go on from; end with a message of the user`,
  );
}

/** OpenAI's thinking models refuse sampling parameters unless they are told not to think. */
function writeSampling({ temperature, topP }: CanonicalRequest): JsonObject {
  return { ...optionalField('temperature', temperature), ...optionalField('top_p', topP) };
}

function listIgnored(request: CanonicalRequest, { samples, thinks }: { samples: boolean; thinks: boolean }): string[] {
  const lost: [string, unknown][] = [
    ['temperature', samples ? null : request.temperature],
    ['top_p', samples ? null : request.topP],
    ['top_k', request.topK],
    ['seed', request.seed],
    ['frequency_penalty', request.frequencyPenalty],
    ['presence_penalty', request.presencePenalty],
    ['reasoning', thinks || request.reasoning?.effort === 'none' ? null : request.reasoning],
  ];
  return lost.filter(([, value]) => value !== null).map(([name]) => name);
}

/** The summary is OpenAI's only visible reasoning; clients of other formats expect to see some when they ask the model to think. */
function writeReasoning(reasoning: Reasoning | null, model: string): JsonObject | undefined {
  if (!reasoning) return undefined;
  const { effort, budgetTokens } = reasoning;
  const wanted = effort ?? (budgetTokens === null ? null : effortOfBudget(budgetTokens));
  if (wanted === null) return { summary: 'auto' };
  const fitted = fitKnownEffort(wanted, model);
  return fitted === 'none' ? { effort: fitted } : { effort: fitted, summary: 'auto' };
}

/** Without `strict`, Responses would tighten the schema by itself and refuse those it cannot. */
function writeTool({ kind, name, description, parameters, strict, grammar }: Tool): JsonObject {
  if (kind === 'custom') {
    const format = grammar ? { type: 'grammar', ...grammar } : undefined;
    return { type: 'custom', name, ...optionalField('description', description), ...optionalField('format', format) };
  }
  return { type: 'function', name, ...optionalField('description', description), parameters, strict: strict ?? false };
}

function writeToolChoice(choice: ToolChoice, tools: readonly Tool[]): unknown {
  if (choice.type !== 'tool') return choice.type;
  const kind = tools.find((tool) => tool.name === choice.name)?.kind ?? 'function';
  return { type: kind, name: choice.name };
}

function writeText(format: CanonicalRequest['outputFormat'], verbosity: Verbosity | undefined): JsonObject | undefined {
  const fields = { ...optionalField('verbosity', verbosity), ...optionalField('format', writeFormat(format)) };
  return Object.keys(fields).length === 0 ? undefined : fields;
}

function writeFormat(format: CanonicalRequest['outputFormat']): JsonObject | undefined {
  switch (format.type) {
    case 'text':
      return undefined;
    case 'json':
      return { type: 'json_object' };
    case 'json-schema': {
      const { name, description, schema, strict } = format;
      return {
        type: 'json_schema',
        name,
        schema,
        ...optionalField('description', description),
        ...optionalField('strict', strict),
      };
    }
  }
}
