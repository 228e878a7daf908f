// The web search of a Gemini request, run by the gateway for a model that has none.
import { searchFunction } from '../../canonical/own-tools.ts';
import type { ClientRequest } from '../format.ts';
import type { HostedSearch, HostedTools } from '../hosted-tools.ts';
import type { GeminiRequest } from './schema.ts';
import { asksForSearch, declarationsOf, withoutSearch } from './shared-credential.ts';

export const hostedTools: HostedTools = { readSearch, withFunctions };

/** Gemini has no limit of the searches. Returns null also when the client has a function of its name. */
function readSearch({ body }: ClientRequest): HostedSearch | null {
  const isTaken = declarationsOf(body).some(({ name }) => name === searchFunction.name);
  if (isTaken || !asksForSearch(body)) return null;
  return { name: 'web_search', searchesMax: null, limitField: null };
}

/** A choice of no tool is about the client's own. */
function withFunctions(request: ClientRequest): ClientRequest {
  const { toolConfig, ...body } = withoutSearch(request.body as GeminiRequest);
  const isNone = toolConfig?.functionCallingConfig?.mode?.toUpperCase() === 'NONE';
  const search = { functionDeclarations: [searchFunction] };
  return {
    ...request,
    body: {
      ...body,
      tools: [...(isNone ? [] : (body.tools ?? [])), search],
      ...(!isNone && { toolConfig }),
    },
  };
}
