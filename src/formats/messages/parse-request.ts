// Validates a client's body. The body itself stays unchanged, because the straight path sends it
// on.
import { invalidRequest, refuseProblem } from '../../canonical/errors.ts';
import { compileSchema } from '../../lib/schema.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ClientRequest, RequestLimits } from '../format.ts';
import { requestSchema, type MessagesRequest } from './schema.ts';

const findProblem = compileSchema(requestSchema);

/**
 * Throws ApiError `invalid_request` that names the field: `temperature must be a number from 0 to
 * 1; got 3`.
 */
export function parseRequest(
  body: unknown,
  _limits: RequestLimits,
): ClientRequest<MessagesRequest> {
  refuseProblem(findProblem(body));
  const request = body as MessagesRequest & JsonObject;
  return {
    body: request,
    model: request.model,
    stream: request.stream ?? false,
    maxOutputTokens: request.max_tokens,
    choices: 1,
    thinkingBudgetTokens: readBudget(request),
    ...(request['speed'] === 'fast' && { tier: 'priority' }),
  };
}

function readBudget({ thinking, max_tokens: maxTokens }: MessagesRequest): number {
  if (thinking?.type !== 'enabled') return 0;
  const { budget_tokens: budget } = thinking;
  if (budget < maxTokens) return budget;
  throw invalidRequest(
    'thinking.budget_tokens',
    `thinking.budget_tokens must be below max_tokens, which it counts towards; got ${budget} of ${maxTokens}`,
  );
}
