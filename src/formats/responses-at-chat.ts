// Reads a Responses body at the address of Chat, as Cursor sends it: it becomes a Chat request, so
// that limits, routes and answers are those of Chat.
import { requireChosenTool } from '../canonical/tool-choice.ts';
import { isObject, type JsonObject } from '../lib/json.ts';
import { chat } from './chat/index.ts';
import type { ClientFormat, ClientRequest, RequestLimits } from './format.ts';
import { verdictTable } from './responses/field-verdicts.ts';
import { responses } from './responses/index.ts';

/** Chat for clients. A body without `messages` and with an `input` is read as a Responses request. */
export const chatForClients: ClientFormat = {
  ...chat,
  parseRequest: (body, limits) =>
    isObject(body) && (body.messages ?? null) === null && (body.input ?? null) !== null
      ? parseResponses(body, limits)
      : chat.parseRequest(body, limits),
};

/** Fields that both formats have under one name. Chat's own, and unknown ones, stay, too. */
const shared = (
  'model stream stream_options temperature top_p metadata user safety_identifier prompt_cache_key ' +
  'prompt_cache_retention parallel_tool_calls service_tier store'
).split(' ');

/** Throws ApiError `invalid_request` that names the field as Responses does. */
function parseResponses(given: JsonObject, limits: RequestLimits): ClientRequest {
  const request = responses.parseRequest(given, limits);
  const leftOut = new Set<string>();
  const read = responses.readRequest(request, { leftOut });
  requireChosenTool(read);
  // Any host's: the route's own is not known yet, and the request is written for it later.
  const host = { maxOutputTokens: 1, thinking: true, isOpenAi: false };
  const { model, stream } = request;
  const { messages, tools, tool_choice, response_format } = chat.writeRequest(read, {
    ...host,
    model,
    stream,
  }).body;
  const kept = Object.fromEntries(
    Object.entries(given).filter(
      ([name]) => shared.includes(name) || !Object.hasOwn(verdictTable.request, name),
    ),
  );
  const translated = {
    max_completion_tokens: read.maxOutputTokens,
    ...kept,
    messages,
    ...(tools !== undefined && { tools, tool_choice }),
    ...(response_format !== undefined && { response_format }),
    ...(read.reasoning?.effort && { reasoning_effort: read.reasoning.effort }),
    ...(read.verbosity && { verbosity: read.verbosity }),
  };
  const ignored = [...(responses.ignoredFields?.(request) ?? []), ...leftOut].filter(
    (name) => !Object.hasOwn(kept, name),
  );
  const isGiven = ([, value]: [string, unknown]) => value !== undefined && value !== null;
  const body = Object.fromEntries(Object.entries(translated).filter(isGiven));
  return { ...chat.parseRequest(body, limits), ignored };
}
