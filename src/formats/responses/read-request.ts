// Reads the client's body as a canonical request, for upstreams of another format. Fields that it
// cannot express are refused by name if they would change the answer, else `ignoredFields` lists
// them.
import { invalidRequest, quoted, refuseField } from '../../canonical/errors.ts';
import {
  emptyRequest,
  type CanonicalRequest,
  type OutputFormat,
  type Reasoning,
} from '../../canonical/request.ts';
import type { UnknownFields } from '../field-verdicts.ts';
import type { ClientRequest } from '../format.ts';
import { givenFields } from '../given-fields.ts';
import { asksForCompaction } from './compaction.ts';
import { isLeftOut, readConversation } from './read-conversation.ts';
import { leaveOutHosted } from './optional-tools.ts';
import { ignoredToolFields, readToolChoice, readTools } from './read-tools.ts';
import { readReasoning as readReasoningItem } from './reasoning.ts';
import type { InputItem, ResponsesRequest } from './schema.ts';
import { refuseUnshareable } from './shared-credential.ts';
import { toolNamesOf } from './tool-names.ts';

/** Throws ApiError `invalid_request` that names the field. */
export function readRequest(
  { body: asked }: ClientRequest<ResponsesRequest>,
  unknown?: UnknownFields,
): CanonicalRequest {
  const { body: request } = leaveOutHosted(asked);
  const names = toolNamesOf(request);
  // Before the next check, whose message (the tool has no price) would be the wrong one.
  const tools = readTools(request, names);
  refuseUnshareable(request, { unknown });
  refuseLogprobs(request);
  // The tools stay, because the provider's cache of the prompt begins with them.
  const isCompaction = asksForCompaction(request);
  const { system, messages } = readConversation(request.input, names);
  return {
    ...emptyRequest,
    system: request.instructions
      ? [{ type: 'text', text: request.instructions }, ...system]
      : system,
    messages,
    ...(isCompaction
      ? { tools, toolChoice: tools.length > 0 ? { type: 'none' as const } : null }
      : readToolChoice(request.tool_choice, tools, names)),
    parallelToolCalls: request.parallel_tool_calls ?? null,
    maxOutputTokens: request.max_output_tokens ?? null,
    temperature: request.temperature ?? null,
    topP: request.top_p ?? null,
    reasoning: readReasoning(request.reasoning),
    outputFormat: isCompaction ? { type: 'text' } : readOutputFormat(request.text?.format),
    endUser: request.safety_identifier ?? request.user ?? null,
    metadata: request.metadata ?? null,
    promptCacheKey: request.prompt_cache_key ?? null,
    ...(request.prompt_cache_retention && {
      promptCacheRetention: request.prompt_cache_retention,
    }),
    ...(request.text?.verbosity ? { verbosity: request.text.verbosity } : {}),
  };
}

/**
 * Fields that `readRequest` reads or that have no effect elsewhere: every answer's reasoning is
 * returned signed, and nothing is ever stored.
 */
const readFields = new Set(
  (
    'model input instructions stream max_output_tokens temperature top_p tools tool_choice parallel_tool_calls reasoning text ' +
    'metadata user safety_identifier include service_tier prompt_cache_key prompt_cache_retention top_logprobs generate'
  ).split(' '),
);

/** Fields below the top level without a meaning elsewhere. */
const unread =
  'reasoning.context input.phase input.async input.author input.recipient input.content.prompt_cache_breakpoint input.output.prompt_cache_breakpoint'.split(
    ' ',
  );

/** Lists the fields that are lost without changing the meaning: `truncation` and unknown ones. */
export function ignoredFields({ body }: ClientRequest<ResponsesRequest>): readonly string[] {
  const { body: request, leftOut } = leaveOutHosted(body);
  const ignored = Object.keys(request).filter(
    (field) => !readFields.has(field) && asksForSomething(field, request[field]),
  );
  if (request.safety_identifier && request.user) ignored.push('user');
  return [
    ...ignored,
    ...leftOut,
    ...ignoredToolFields(request),
    ...givenFields(request, unread),
    ...ignoredItems(request.input),
  ];
}

/**
 * Lists empty reasoning items, like those that we insert, and the items that `readConversation` leaves
 * out.
 */
function ignoredItems(input: ResponsesRequest['input']): string[] {
  if (!Array.isArray(input)) return [];
  const isIgnored = (item: InputItem) =>
    item.type === 'reasoning'
      ? readReasoningItem(item) === null
      : isLeftOut(item) && item.type !== 'additional_tools';
  return [...input.entries()].flatMap(([index, item]) =>
    isIgnored(item) ? [`input[${index}]`] : [],
  );
}

/** `store: false` and `truncation: "disabled"` are always true here. */
function asksForSomething(field: string, value: unknown): boolean {
  if (value === null || value === undefined || value === false) return false;
  return !(field === 'truncation' && value === 'disabled');
}

function refuseLogprobs({ top_logprobs: count, include }: ResponsesRequest): void {
  if (count) refuseField('top_logprobs', 'is not available on this model. Leave it out.');
  if (!include?.includes('message.output_text.logprobs')) return;
  throw invalidRequest(
    'include',
    'include: `message.output_text.logprobs` is not available on this model. Leave it out.',
  );
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
  return invalidRequest(path, `${path} ${quoted(type)} is not available on this model.`);
}
