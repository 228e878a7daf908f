// The client's body to a canonical request, for upstreams of another format. What no canonical request can say is refused by name;
// harmless fields without a canonical form are named by `ignoredFields`.
import { invalidRequest } from '../../canonical/errors.ts';
import type { CanonicalRequest, OutputFormat, Reasoning } from '../../canonical/request.ts';
import type { OpenedFields } from '../field-verdicts.ts';
import type { ClientRequest } from '../format.ts';
import { isLeftOut, readInput } from './read-input.ts';
import { ignoredToolFields, readToolChoice, readTools } from './read-tools.ts';
import { readReasoning as readReasoningItem } from './reasoning.ts';
import type { InputItem, ResponsesRequest } from './schema.ts';
import { refuseUnshareable } from './shared-credential.ts';
import { toolNamesOf } from './tool-names.ts';

/** Throws ApiError `invalid_request` that names the field. */
export function readRequest({ body }: ClientRequest, opened?: OpenedFields): CanonicalRequest {
  const request = body as ResponsesRequest;
  const names = toolNamesOf(request);
  // Ahead of the next check: that a tool has no price is not what is wrong with it here.
  const tools = readTools(request, names);
  refuseUnshareable(body, { opened });
  refuseLogprobs(request);
  const { system, messages } = readInput(request.input, names);
  return {
    system: request.instructions ? [{ type: 'text', text: request.instructions }, ...system] : system,
    messages,
    ...readToolChoice(request.tool_choice, tools, names),
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
    ...(request.text?.verbosity ? { verbosity: request.text.verbosity } : {}),
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

/** The body's fields that are lost in translation without changing the meaning: `truncation`, unknown ones. */
export function ignoredFields({ body }: ClientRequest): readonly string[] {
  const ignored = Object.keys(body).filter((field) => !readFields.has(field) && asksForSomething(field, body[field]));
  const request = body as ResponsesRequest;
  if (request.safety_identifier && request.user) ignored.push('user');
  return [...ignored, ...ignoredToolFields(request), ...ignoredItems(request.input)];
}

/** Reasoning items that hold nothing, as those that we make up, and what `readInput` leaves out. */
function ignoredItems(input: ResponsesRequest['input']): string[] {
  if (!Array.isArray(input)) return [];
  const isIgnored = (item: InputItem) =>
    item.type === 'reasoning' ? readReasoningItem(item) === null : isLeftOut(item) && item.type !== 'additional_tools';
  return [...input.entries()].flatMap(([index, item]) => (isIgnored(item) ? [`input[${index}]`] : []));
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
