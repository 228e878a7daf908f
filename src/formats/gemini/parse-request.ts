// Validates a client's body, into which the path's model and method have been put (`address.ts`).
import { invalidRequest } from '../../canonical/errors.ts';
import { readAskedTier } from '../../canonical/service-tier.ts';
import { isObject, type JsonObject, objectOf } from '../../lib/json.ts';
import { compileSchema } from '../../lib/schema.ts';
import { editAt } from '../edit-json.ts';
import type { ClientRequest, RequestLimits } from '../format.ts';
import { inCamelCase } from './field-names.ts';
import { addressedSchema, type GeminiRequest } from './schema.ts';

const findProblem = compileSchema(addressedSchema);

/** Throws ApiError `invalid_request` that names the field. */
export function parseRequest(given: unknown, _limits: RequestLimits): ClientRequest<GeminiRequest> {
  const named = inCamelCase(given);
  const body = isObject(named) ? editAt(named, ['generationConfig'], withOlderFormat) : named;
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

/**
 * Google's newer `responseFormat.text` becomes `responseMimeType` and `responseJsonSchema`, which Vertex
 * takes too. https://ai.google.dev/api/generate-content#ResponseFormatConfig (read 2026-11-30)
 */
function withOlderFormat(config: JsonObject): JsonObject {
  const { responseFormat, ...rest } = config;
  const { text, ...others } = objectOf(responseFormat);
  if (!isObject(text)) return config;
  const { mimeType: type, schema } = text;
  return {
    ...rest,
    // `APPLICATION_JSON`
    ...(type !== undefined && {
      responseMimeType: typeof type === 'string' ? type.toLowerCase().replace('_', '/') : type,
    }),
    ...(schema !== undefined && { responseJsonSchema: schema }),
    ...(Object.keys(others).length > 0 && { responseFormat: others }),
  };
}
