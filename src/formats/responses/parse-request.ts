// Validates the client's body, so that later steps can rely on the schema.
import { invalidRequest, refuseProblem, type ApiError } from '../../canonical/errors.ts';
import { readAskedTier } from '../../canonical/service-tier.ts';
import { isObject, type JsonObject, objectOf, objectsOf, textOf } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import { editFields, editItems } from '../edit-json.ts';
import type { ClientRequest, RequestLimits } from '../format.ts';
import { mapChanged, toResponsesTool } from '../tool-shapes.ts';
import { asksForCompaction, summaryRequest } from './compaction.ts';
import { isOwnItemId } from './output-item.ts';
import { RequestSchema, type ResponsesRequest } from './schema.ts';

const findProblem = compileSchema(RequestSchema);

/**
 * Throws ApiError `invalid_request` that names the field: `temperature must be a number from 0 to
 * 2; got 3`.
 */
export function parseRequest(
  given: unknown,
  _limits: RequestLimits,
): ClientRequest<ResponsesRequest> {
  if (!isObject(given)) throw invalidRequest(null, 'the body must be a JSON object');
  const shaped = checkReferences(inOwnShape(given));
  const body = withoutOwnImages(shaped);
  // A warm-up may have no input yet, as Codex's.
  const isEmpty = Array.isArray(body.input) && body.input.length === 0;
  const checked = body.generate === false && isEmpty ? { ...body, input: '' } : body;
  refuseProblem(findProblem(checked));
  requireInput(checked);
  requireCallIds(checked);
  const request = body as ResponsesRequest & JsonObject;
  const isCompaction = asksForCompaction(request);
  // Elsewhere a warning is enough, because the client keeps its conversation.
  if (isCompaction && (request.previous_response_id ?? null) !== null)
    throw invalidRequest(
      'previous_response_id',
      'previous_response_id names a response that is not kept, so it cannot be compacted. Send the whole conversation in `input`.',
    );
  return {
    body: request,
    model: request.model,
    stream: request.stream ?? false,
    maxOutputTokens: request.max_output_tokens ?? null,
    choices: 1,
    thinkingBudgetTokens: 0,
    ...(body !== shaped && mayEdit(shaped) && { given: shaped }),
    ...(request.generate === false && { isWarmUp: true }),
    ...(isCompaction && { addedText: summaryRequest }),
    ...readAskedTier(request.service_tier),
  };
}

/** Rewrites fields that some clients send in Chat's shape, or under Chat's names, as those of Responses. */
function inOwnShape(given: JsonObject): JsonObject {
  const body = underOwnNames(given);
  const { tools, tool_choice: choice } = body;
  return editFields(body, {
    tools: mapChanged(tools, toResponsesTool),
    tool_choice: toResponsesTool(choice),
    input: editItems(body.input, withWords),
  });
}

/** JSON leaves out what a client's program has not set, as where a tool takes or returns nothing. */
function withWords(item: JsonObject): JsonObject {
  switch (item.type) {
    case 'function_call':
      return editFields(item, { arguments: item.arguments ?? '{}' });
    case 'function_call_output':
    case 'custom_tool_call_output':
      return editFields(item, { output: item.output ?? '' });
    default:
      return item;
  }
}

/**
 * An output format and an output limit under Chat's names. They are not merely unknown: without them
 * the answer is another, or costs more. What the own names say already stays unknown, and is listed.
 */
function underOwnNames(body: JsonObject): JsonObject {
  const isFree = (value: unknown) => (value ?? null) === null;
  const text = objectOf(body.text);
  const format =
    isFree(text.format) && isObject(body.response_format) ? body.response_format : null;
  const limit = ['max_completion_tokens', 'max_tokens'].find(
    (name) => isFree(body.max_output_tokens) && !isFree(body[name]),
  );
  if (limit === undefined && format === null) return body;
  const isTaken = (name: string) => name === limit || (format && name === 'response_format');
  const { json_schema: schema, ...typed } = format ?? {};
  return {
    ...Object.fromEntries(Object.entries(body).filter(([name]) => !isTaken(name))),
    ...(limit !== undefined && { max_output_tokens: body[limit] }),
    ...(format && {
      text: { ...text, format: isObject(schema) ? { ...typed, ...schema } : typed },
    }),
  };
}

/** The gateway's tool may change earlier images. Without it they need no memory. */
function mayEdit({ tools }: JsonObject): boolean {
  return objectsOf(tools).some(({ type }) => type === 'image_generation');
}

/**
 * Images of ours, and masks, are sent to no model, so they do not count as input. One that failed has no
 * image.
 */
function withoutOwnImages(body: JsonObject): JsonObject {
  const isImage = ({ type, id, result }: JsonObject) =>
    type === 'image_generation_call' && isOwnItemId(id) && result !== '';
  const input = editItems(body.input, (item) => (isImage(item) ? { ...item, result: '' } : item));
  const tools = editItems(body.tools, (tool) =>
    tool.type === 'image_generation' ? editFields(tool, { input_image_mask: undefined }) : tool,
  );
  return editFields(body, { input, tools });
}

/**
 * A reference names an item of a conversation kept at the provider, and this endpoint keeps none. A
 * reference to reasoning, which the Vercel AI SDK sends by default, is left out later, like
 * reasoning without its content: the answer does not need it. All others are refused.
 */
function checkReferences(body: JsonObject): JsonObject {
  const { input } = body;
  if (!Array.isArray(input)) return body;
  const index = input.findIndex((item) => isReference(item) && !isReasoningReference(item));
  if (index !== -1) throw referenceError(`input[${index}]`);
  // The official types make `type` optional in a reference; the next steps need it.
  return input.some(isUntyped)
    ? { ...body, input: input.map((item) => (isUntyped(item) ? withType(item) : item)) }
    : body;
}

function isReference(item: unknown): item is JsonObject {
  return isObject(item) && (item.type === 'item_reference' || isUntyped(item));
}

function isUntyped(item: unknown): item is JsonObject {
  return (
    isObject(item) &&
    (item.type ?? null) === null &&
    typeof item.id === 'string' &&
    item.role === undefined
  );
}

function withType(reference: JsonObject): JsonObject {
  return { ...reference, type: 'item_reference' };
}

/** The prefix of reasoning ids, OpenAI's and our own. */
function isReasoningReference({ id }: JsonObject): boolean {
  return typeof id === 'string' && id.startsWith('rs_');
}

function referenceError(path: string): ApiError {
  return invalidRequest(
    path,
    `${path} refers to an item by its id, but nothing is kept between requests: send the item itself, as client libraries do with ` +
      '`store: false`.',
  );
}

/** Only a tool that was not called, which is named instead, puts out without a `call_id`. */
function requireCallIds({ input }: JsonObject): void {
  if (!Array.isArray(input)) return;
  const index = input.findIndex(
    (item) =>
      isObject(item) &&
      item.type === 'function_call_output' &&
      (item.call_id ?? null) === null &&
      textOf(item.name) === '',
  );
  if (index === -1) return;
  const path = `input[${index}].call_id`;
  throw invalidRequest(path, `${path} is required: that of the call to which this output belongs.`);
}

/** A stored prompt could replace the input; it is refused later, with the reason. */
function requireInput(body: Record<string, unknown>): void {
  if ((body.input ?? null) !== null || (body.prompt ?? null) !== null) return;
  throw invalidRequest(
    'input',
    'input is required: a string, or an array of items with the whole conversation.',
  );
}
