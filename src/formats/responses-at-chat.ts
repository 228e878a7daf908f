// Reads a Responses body at the address of Chat, as Cursor sends it: it becomes a Chat request, so
// that limits, routes and answers are those of Chat.
import { isObject, type JsonObject } from '../lib/json.ts';
import { chat } from './chat/index.ts';
import type { ClientFormat, ClientRequest, RequestLimits } from './format.ts';
import { responses } from './responses/index.ts';

/** Chat for clients. A body without `messages` and with an `input` is read as a Responses request. */
export const chatForClients: ClientFormat = {
  ...chat,
  parseRequest: (body, limits) =>
    isObject(body) && (body.messages ?? null) === null && (body.input ?? null) !== null
      ? parseResponses(body, limits)
      : chat.parseRequest(body, limits),
};

/** Fields that both formats have under one name. */
const shared = (
  'model stream stream_options temperature top_p metadata user safety_identifier prompt_cache_key ' +
  'prompt_cache_retention parallel_tool_calls service_tier store'
).split(' ');

/** Throws ApiError `invalid_request` that names the field as Responses does. */
function parseResponses(given: JsonObject, limits: RequestLimits): ClientRequest {
  const request = responses.parseRequest(given, limits);
  const leftOut = new Set<string>();
  const read = responses.readRequest(request, { leftOut });
  const { body } = chat.writeRequest(read, {
    model: request.model,
    stream: request.stream,
    maxOutputTokens: 1,
    thinking: true,
    isOpenAi: false,
  });
  const kept = Object.entries(request.body).filter(([name]) => shared.includes(name));
  const { messages, tools, tool_choice: choice, response_format: format } = body;
  const parsed = chat.parseRequest(
    {
      ...Object.fromEntries(kept),
      messages,
      ...(tools !== undefined && { tools }),
      ...(choice !== undefined && { tool_choice: choice }),
      ...(format !== undefined && { response_format: format }),
      ...(read.reasoning?.effort && { reasoning_effort: read.reasoning.effort }),
      ...(read.verbosity && { verbosity: read.verbosity }),
      ...(read.maxOutputTokens && { max_completion_tokens: read.maxOutputTokens }),
    },
    limits,
  );
  const ignored = responses.ignoredFields?.(request) ?? [];
  return {
    ...parsed,
    ignored: [...ignored.filter((name) => !shared.includes(name)), ...leftOut],
  };
}
