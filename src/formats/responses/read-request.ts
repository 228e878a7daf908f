// The client's body to a canonical request, for upstreams of another format. What no canonical request can say is refused by name;
// harmless fields without a canonical form are named by `ignoredFields`.
import { invalidRequest } from '../../canonical/errors.ts';
import type { CanonicalRequest, OutputFormat, Reasoning, Tool, ToolChoice } from '../../canonical/request.ts';
import type { ClientRequest } from '../format.ts';
import { readInput } from './read-input.ts';
import type { ResponsesRequest } from './schema.ts';
import { refuseUnshareable } from './shared-credential.ts';

/** Throws ApiError `invalid_request` that names the field. */
export function readRequest({ body }: ClientRequest): CanonicalRequest {
  refuseUnshareable(body);
  const request = body as ResponsesRequest;
  refuseLogprobs(request);
  const { system, messages, additionalTools } = readInput(request.input);
  return {
    system: request.instructions ? [{ type: 'text', text: request.instructions }, ...system] : system,
    messages,
    tools: [...readTools(request.tools, 'tools'), ...additionalTools.flatMap(({ tools, path }) => readTools(tools, path))],
    toolChoice: readToolChoice(request.tool_choice),
    parallelToolCalls: request.parallel_tool_calls ?? null,
    maxOutputTokens: request.max_output_tokens ?? null,
    temperature: request.temperature ?? null,
    topP: request.top_p ?? null,
    topK: null,
    seed: null,
    frequencyPenalty: null,
    presencePenalty: null,
    stopSequences: [],
    reasoning: readReasoning(request.reasoning),
    outputFormat: readOutputFormat(request.text?.format),
    endUser: request.safety_identifier ?? request.user ?? null,
    metadata: request.metadata ?? null,
    promptCacheKey: request.prompt_cache_key ?? null,
  };
}

/** What `readRequest` reads, and what says nothing elsewhere: every answer's reasoning is sent back signed, and nothing is ever stored. */
const readFields = new Set([
  'model',
  'input',
  'instructions',
  'stream',
  'max_output_tokens',
  'temperature',
  'top_p',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
  'metadata',
  'user',
  'safety_identifier',
  'include',
  'service_tier',
  'prompt_cache_key',
  'top_logprobs',
]);

/** The body's fields that are lost in translation without changing the meaning: `truncation`, `text.verbosity`, unknown ones. */
export function ignoredFields({ body }: ClientRequest): readonly string[] {
  const ignored = Object.keys(body).filter((field) => !readFields.has(field) && asksForSomething(field, body[field]));
  const { text, tools } = body as ResponsesRequest;
  if ((text?.verbosity ?? null) !== null) ignored.push('text.verbosity');
  for (const [index, tool] of (tools ?? []).entries()) {
    if (tool.type === 'custom' && (tool.format?.type ?? 'text') !== 'text') ignored.push(`tools[${index}].format`);
  }
  return ignored;
}

/** `store: false` and `truncation: "disabled"` are how things are anyway. */
function asksForSomething(field: string, value: unknown): boolean {
  if (value === null || value === undefined || value === false) return false;
  return !(field === 'truncation' && value === 'disabled');
}

function refuseLogprobs({ top_logprobs: count, include }: ResponsesRequest): void {
  if (count) throw invalidRequest('top_logprobs', 'top_logprobs is not available on this model. Leave it out.');
  if (!include?.includes('message.output_text.logprobs')) return;
  throw invalidRequest('include', 'include: `message.output_text.logprobs` is not available on this model. Leave it out.');
}

function readTools(tools: ResponsesRequest['tools'], path: string): Tool[] {
  return (tools ?? []).map((tool, index): Tool => {
    switch (tool.type) {
      case 'function':
        return {
          name: tool.name,
          description: tool.description ?? null,
          // A function without parameters still takes an object.
          parameters: tool.parameters ?? { type: 'object', properties: {} },
          strict: tool.strict ?? null,
          kind: 'function',
        };
      case 'custom':
        return { name: tool.name, description: describeCustomTool(tool), parameters: null, strict: null, kind: 'custom' };
      default:
        throw notAvailable(`${path}[${index}].type`, (tool as { type: string }).type);
    }
  });
}

/** No other format constrains free text by a grammar; the model is told of it instead, and the loss of the constraint is listed. */
function describeCustomTool({ description, format }: { description?: string | null; format?: object | null }): string | null {
  const { type, syntax, definition } = (format ?? {}) as Readonly<Record<string, unknown>>;
  if (type !== 'grammar') return description ?? null;
  const grammar = `The input must match this ${String(syntax)} grammar:\n${String(definition)}`;
  return description ? `${description}\n\n${grammar}` : grammar;
}

function readToolChoice(choice: ResponsesRequest['tool_choice']): ToolChoice | null {
  if (choice === null || choice === undefined) return null;
  if (typeof choice === 'string') return { type: choice };
  switch (choice.type) {
    case 'function':
    case 'custom':
      return { type: 'tool', name: choice.name };
    default:
      throw notAvailable('tool_choice.type', (choice as { type: string }).type);
  }
}

function readReasoning(reasoning: ResponsesRequest['reasoning']): Reasoning | null {
  const effort = reasoning?.effort ?? null;
  return effort === null ? null : { effort, budgetTokens: null };
}

function readOutputFormat(format: NonNullable<ResponsesRequest['text']>['format']): OutputFormat {
  switch (format?.type) {
    case undefined:
    case 'text':
      return { type: 'text' };
    case 'json_object':
      return { type: 'json' };
    case 'json_schema':
      return {
        type: 'json-schema',
        name: format.name,
        description: format.description ?? null,
        schema: format.schema,
        strict: format.strict ?? null,
      };
    default:
      throw notAvailable('text.format.type', (format as unknown as { type: string }).type);
  }
}

function notAvailable(path: string, type: string) {
  return invalidRequest(path, `${path} '${type}' is not available on this model.`);
}
