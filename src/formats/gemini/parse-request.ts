// Validates a client's body, into which the path's model and method have been put (`address.ts`).
import { invalidRequest } from '../../canonical/errors.ts';
import { readAskedTier } from '../../canonical/service-tier.ts';
import type { JsonObject } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import type { ClientRequest, RequestLimits } from '../format.ts';
import { inCamelCase } from './field-names.ts';
import { addressedSchema, type GeminiRequest } from './schema.ts';

const findProblem = compileSchema(addressedSchema);

/** Throws ApiError `invalid_request` that names the field. */
export function parseRequest(given: unknown, _limits: RequestLimits): ClientRequest<GeminiRequest> {
  const body = inCamelCase(given);
  const problem = findProblem(body);
  if (problem)
    throw invalidRequest(problem.path || null, `${problem.path || 'The body'} ${problem.message}`);
  // Whole and streamed, the same request counts the same.
  const { alt: _alt, ...request } = body as GeminiRequest & JsonObject;
  const { maxOutputTokens, candidateCount, thinkingConfig } = request.generationConfig ?? {};
  const tier = request.serviceTier?.replace(/^SERVICE_TIER_/i, '').toLowerCase();
  return {
    body: request,
    model: request.model,
    stream: request.stream ?? false,
    maxOutputTokens: maxOutputTokens ?? null,
    choices: candidateCount ?? 1,
    thinkingBudgetTokens: Math.max(thinkingConfig?.thinkingBudget ?? 0, 0),
    ...readAskedTier(tier),
    given: given as JsonObject,
  };
}
