// A canonical request to the body for a Responses upstream. Nothing is stored there, and reasoning comes back encrypted, so that the
// next turn can bring it along.
import { invalidRequest } from '../../canonical/errors.ts';
import type { CanonicalRequest, Effort, Reasoning, Tool, ToolChoice } from '../../canonical/request.ts';
import type { JsonObject, UpstreamRequest, UpstreamTarget } from '../format.ts';
import { writeInput } from './write-input.ts';

/** OpenAI refuses less; what it gives beyond the caller's maximum is a handful of tokens. */
export const outputTokensMin = 16;
export const encryptedReasoning = 'reasoning.encrypted_content';

/** Throws ApiError `invalid_request` on what this format cannot express and the answer would depend on. */
export function writeRequest(request: CanonicalRequest, target: UpstreamTarget): UpstreamRequest {
  refuseStopSequences(request);
  const { items, ignored } = writeInput(request);
  const reasoning = target.thinking ? writeReasoning(request.reasoning) : undefined;
  const samples = !target.thinking || request.reasoning?.effort === 'none';
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
    ...optionalField('text', writeText(request.outputFormat)),
    ...optionalField('safety_identifier', request.endUser),
    ...optionalField('metadata', request.metadata),
    ...optionalField('prompt_cache_key', request.promptCacheKey),
  };
  return { body, ignored: [...ignored, ...listIgnored(request, { samples, thinks: target.thinking })] };
}

function optionalField(name: string, value: unknown): JsonObject {
  return value === null || value === undefined ? {} : { [name]: value };
}

function refuseStopSequences({ stopSequences }: CanonicalRequest): void {
  if (stopSequences.length === 0) return;
  throw invalidRequest('stop', 'stop: stop sequences are not available on this model. Leave them out.');
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
function writeReasoning(reasoning: Reasoning | null): JsonObject | undefined {
  const effort = reasoning && (reasoning.effort ?? effortOfBudget(reasoning.budgetTokens));
  if (!effort) return undefined;
  return effort === 'none' ? { effort } : { effort, summary: 'auto' };
}

/** Between Google's published equivalents for low, medium and high: 1 024, 8 192 and 24 576 tokens. */
function effortOfBudget(budgetTokens: number | null): Effort | null {
  if (budgetTokens === null) return null;
  if (budgetTokens === 0) return 'none';
  if (budgetTokens < 4_096) return 'low';
  return budgetTokens < 16_384 ? 'medium' : 'high';
}

/** Without `strict`, Responses would tighten the schema by itself and refuse those it cannot. */
function writeTool({ kind, name, description, parameters, strict }: Tool): JsonObject {
  if (kind === 'custom') return { type: 'custom', name, ...optionalField('description', description) };
  return { type: 'function', name, ...optionalField('description', description), parameters, strict: strict ?? false };
}

function writeToolChoice(choice: ToolChoice, tools: readonly Tool[]): unknown {
  if (choice.type !== 'tool') return choice.type;
  const kind = tools.find((tool) => tool.name === choice.name)?.kind ?? 'function';
  return { type: kind, name: choice.name };
}

function writeText(format: CanonicalRequest['outputFormat']): JsonObject | undefined {
  switch (format.type) {
    case 'text':
      return undefined;
    case 'json':
      return { format: { type: 'json_object' } };
    case 'json-schema': {
      const { name, description, schema, strict } = format;
      return {
        format: {
          type: 'json_schema',
          name,
          schema,
          ...optionalField('description', description),
          ...optionalField('strict', strict),
        },
      };
    }
  }
}
