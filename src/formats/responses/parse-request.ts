// The client's body, checked: every later step may rely on the schema.
import { invalidRequest, type ApiError } from '../../canonical/errors.ts';
import { isObject } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import type { ClientRequest, RequestLimits } from '../format.ts';
import { RequestSchema, type ResponsesRequest } from './schema.ts';

const findProblem = compileSchema(RequestSchema);

/**
 * Validates a body of `POST /v1/responses`. Throws ApiError `invalid_request` that names the field:
 * `temperature must be a number from 0 to 2; got 3`.
 */
export function parseRequest(body: unknown, _limits: RequestLimits): ClientRequest {
  if (!isObject(body)) throw invalidRequest(null, 'the body must be a JSON object');
  refuseReferences(body.input);
  const problem = findProblem(body);
  if (problem) throw invalidRequest(problem.path || null, `${problem.path || 'the body'} ${problem.message}`);
  requireInput(body);
  return {
    body,
    model: body.model as string,
    stream: body.stream === true,
    maxOutputTokens: (body as ResponsesRequest).max_output_tokens ?? null,
    choices: 1,
    thinkingBudgetTokens: 0,
  };
}

/** Items by reference live in a conversation kept at the provider, and this endpoint keeps none. */
function refuseReferences(input: unknown): void {
  if (!Array.isArray(input)) return;
  const index = input.findIndex(isReference);
  if (index !== -1) throw referenceError(`input[${index}]`);
}

/** The official types let a reference leave out its `type`. */
function isReference(item: unknown): boolean {
  if (!isObject(item)) return false;
  return (
    item.type === 'item_reference' || ((item.type ?? null) === null && typeof item.id === 'string' && item.role === undefined)
  );
}

function referenceError(path: string): ApiError {
  return invalidRequest(
    path,
    `${path} refers to an item by its id, but nothing is kept between requests: send the item itself, as client libraries do with ` +
      '`store: false`.',
  );
}

/** A stored prompt could stand in for the input; it is refused later, with the reason. */
function requireInput(body: Record<string, unknown>): void {
  if ((body.input ?? null) !== null || (body.prompt ?? null) !== null) return;
  throw invalidRequest('input', 'input is required: a string, or an array of items with the whole conversation.');
}
