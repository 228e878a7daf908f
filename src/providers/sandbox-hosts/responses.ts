// The sandbox's host for OpenAI's Responses.
import type {
  AssistantPart,
  Message,
  OutputFormat,
  Tool,
  ToolChoice,
} from '../../canonical/request.ts';
import { type JsonObject, objectOf, objectsOf, textOf } from '../../lib/json.ts';
import type { AnswerContext } from '../../formats/format.ts';
import { responses as format } from '../../formats/responses/index.ts';
import type { ResponsesRequest } from '../../formats/responses/schema.ts';
import { toolListsOf, toolNamesOf, type ToolNames } from '../../formats/responses/tool-names.ts';
import type { SandboxRequest } from '../sandbox/request.ts';
import {
  booleanOf,
  callPart,
  jsonSchema,
  nameOf,
  numberOf,
  readChoiceWord,
  readOpenAiParts,
  reasoningIf,
  resultPart,
  textPart,
  textsOf,
  thinkingPart,
  toolOf,
} from './fields.ts';
import { changeFrames, writeEvents } from './frames.ts';
import type { Host, AnswerOptions } from './host.ts';

export const responses: Host = {
  readRequest,
  writeAnswer: (answer, options) =>
    changeResponse(format.writeAnswer(answer, options.context), options),
  writeStream: (options) => {
    const write = writeEvents(format.writeStream(options.context));
    const change = createEventChange(options);
    return (event) => changeFrames(write(event), change);
  },
};

function readRequest(body: JsonObject): SandboxRequest {
  const names = toolNamesOf(body as ResponsesRequest);
  const input =
    typeof body.input === 'string'
      ? [{ role: 'user', content: body.input }]
      : objectsOf(body.input);
  return {
    system: [textPart(body.instructions)],
    messages: input.flatMap((item) => readItem(item, names)),
    ...readTools(body, names),
    parallelToolCalls: booleanOf(body.parallel_tool_calls),
    maxOutputTokens: numberOf(body.max_output_tokens),
    stopSequences: [],
    reasoning: reasoningIf(!['', 'none'].includes(textOf(objectOf(body.reasoning).effort))),
    outputFormat: readOutputFormat(objectOf(objectOf(body.text).format)),
  };
}

function readItem(item: JsonObject, names: ToolNames): Message[] {
  const { type = 'message' } = item;
  switch (type) {
    case 'message':
      return [readMessage(item)];
    case 'reasoning':
      return assistant(
        [...textsOf(item.summary), ...textsOf(item.content)].map(({ text }) => thinkingPart(text)),
      );
    case 'function_call':
    case 'custom_tool_call':
    case 'tool_search_call':
      return assistant([readCall(item, names)]);
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'tool_search_output':
      return [{ role: 'tool', content: [resultPart(item.call_id, readOpenAiParts(item.output))] }];
    default:
      return [];
  }
}

function assistant(content: AssistantPart[]): Message[] {
  return [{ role: 'assistant', content }];
}

function readMessage({ role, content }: JsonObject): Message {
  if (role === 'user') return { role, content: readOpenAiParts(content) };
  if (role !== 'assistant') return { role: 'system', content: textsOf(content) };
  const refusals = objectsOf(content).flatMap(({ refusal }) =>
    typeof refusal === 'string' ? [{ type: 'refusal', text: refusal } as const] : [],
  );
  return { role, content: [...textsOf(content), ...refusals] };
}

function readCall(item: JsonObject, names: ToolNames): AssistantPart {
  const { type, call_id: callId, name, arguments: text, input } = item;
  const place = { namespace: namespaceOf(item), name: textOf(name) };
  const flat = type === 'tool_search_call' ? names.searchName : names.nameOf(place);
  if (type === 'custom_tool_call') return callPart(callId, flat, textOf(input), 'custom');
  return callPart(callId, flat, typeof text === 'string' ? text : JSON.stringify(text ?? {}));
}

function namespaceOf({ namespace }: JsonObject): string | null {
  return typeof namespace === 'string' ? namespace : null;
}

/**
 * Tools of a namespace get one flat name, as in translation. The answer's writer knows them by it.
 */
function readTools(body: JsonObject, names: ToolNames) {
  const listed = toolListsOf(body as ResponsesRequest).flatMap((list) => objectsOf(list.tools));
  const tools = new Map(
    listed.flatMap((tool) => readTool(tool, names)).map((tool) => [tool.name, tool]),
  );
  const search = listed.find(({ type }) => isSearch(type));
  const choice = objectOf(body.tool_choice);
  const { mode, tools: allowed } = choice;
  const some =
    choice.type === 'allowed_tools'
      ? new Set(objectsOf(allowed).map(({ name }) => textOf(name)))
      : null;
  return {
    tools: [...tools.values()].filter(({ name }) => !some || some.has(name)),
    toolChoice: some ? readChoiceWord(mode) : readChoice(body.tool_choice, names),
    ...(search && { searchTool: searchName }),
  };
}

const searchName = 'web_search';

function isSearch(type: unknown): boolean {
  return textOf(type).startsWith(searchName);
}

function readTool(tool: JsonObject, names: ToolNames): Tool[] {
  const parameters = objectOf(tool.parameters);
  switch (tool.type) {
    case 'function':
      return [toolOf(tool, parameters)];
    case 'custom':
      return [toolOf(tool, null, 'custom')];
    case 'tool_search':
      return [toolOf({ ...tool, name: names.searchName }, parameters)];
    case 'namespace': {
      const namespace = textOf(tool.name);
      return objectsOf(tool.tools)
        .flatMap((member) => readTool(member, names))
        .map((member) => ({ ...member, name: names.nameOf({ namespace, name: member.name }) }));
    }
    default:
      return [];
  }
}

function readChoice(choice: unknown, names: ToolNames): ToolChoice | null {
  const chosen = objectOf(choice);
  if (isSearch(chosen.type)) return { type: 'tool', name: searchName };
  const name = nameOf(choice);
  if (name === '') return readChoiceWord(choice);
  return { type: 'tool', name: names.nameOfChoice({ namespace: namespaceOf(chosen), name }) };
}

function readOutputFormat({ type, schema, name }: JsonObject): OutputFormat {
  if (type === 'json_object') return { type: 'json' };
  return type === 'json_schema' ? jsonSchema(schema, name) : { type: 'text' };
}

/** Changes an answer, or an event's copy of it: adds the web search before the text. */
function changeResponse(
  response: JsonObject,
  { hasUsage, searchedFor, context }: AnswerOptions,
): JsonObject {
  const output = objectsOf(response.output).map((item) => hideReasoning(item, context));
  const { usage, ...rest } = response;
  const isDone = response.status !== 'in_progress';
  return {
    ...rest,
    output:
      searchedFor !== null && isDone ? [writeSearch(searchedFor, context), ...output] : output,
    usage: hasUsage ? usage : null,
  };
}

type AskedOf = Pick<AnswerContext, 'request'>;

/** OpenAI encrypts reasoning, and shows a summary when asked for one. */
function hideReasoning(item: JsonObject, { request }: AskedOf): JsonObject {
  if (item.type !== 'reasoning' || item.content === undefined) return item;
  const { content, encrypted_content: _ours, ...rest } = item;
  const [text = ''] = textsOf(content).map((part) => part.text);
  if (text === '') return rest;
  const summary = hasSummary(request.body) ? [{ type: 'summary_text', text }] : [];
  return { ...rest, summary, encrypted_content: `gAAAAA${toBase64Url(text)}` };
}

function hasSummary({ reasoning }: JsonObject): boolean {
  return textOf(objectOf(reasoning).summary) !== '';
}

function toBase64Url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** Returns the events of a summary for those of reasoning text. */
function summarise(event: JsonObject, { request }: AskedOf): readonly JsonObject[] {
  const { type, item, content_index: _index, ...rest } = event;
  const shows = hasSummary(request.body);
  const events = 'response.reasoning_summary';
  const part = (text: unknown) => ({ summary_index: 0, part: { type: 'summary_text', text } });
  switch (type) {
    case 'response.output_item.added': {
      const { type: kind, id } = objectOf(item);
      const added = { ...rest, type, item: hideReasoning(objectOf(item), { request }) };
      const opened = { type: `${events}_part.added`, item_id: id, ...rest, ...part('') };
      return kind === 'reasoning' && shows ? [added, opened] : [added];
    }
    case 'response.output_item.done':
      return [{ ...rest, type, item: hideReasoning(objectOf(item), { request }) }];
    case 'response.reasoning_text.delta':
      return shows ? [{ ...rest, type: `${events}_text.delta`, summary_index: 0 }] : [];
    case 'response.reasoning_text.done':
      return shows
        ? [
            { ...rest, type: `${events}_text.done`, summary_index: 0 },
            { ...rest, type: `${events}_part.done`, ...part(rest.text), text: undefined },
          ]
        : [];
    default:
      return [event];
  }
}

function writeSearch(query: string, { requestId }: AnswerContext): JsonObject {
  return {
    type: 'web_search_call',
    id: `ws_${requestId}`,
    status: 'completed',
    action: { type: 'search', query },
  };
}

/** The search takes the first item, so the indexes of the others grow by one. */
function createEventChange(options: AnswerOptions): (event: JsonObject) => readonly JsonObject[] {
  const { searchedFor, context } = options;
  let sequence = 0;
  let isSearchTold = searchedFor === null;
  const numbered = (event: JsonObject) => ({ ...event, sequence_number: sequence++ });
  return (whole) => summarise(whole, context).flatMap(changeOne);

  function changeOne(event: JsonObject): readonly JsonObject[] {
    const { response, output_index: index } = event;
    const changed = {
      ...event,
      ...(response !== undefined && { response: changeResponse(objectOf(response), options) }),
      ...(searchedFor !== null && typeof index === 'number' && { output_index: index + 1 }),
    };
    const isBefore = event.type === 'response.created' || event.type === 'response.in_progress';
    if (isSearchTold || isBefore) return [numbered(changed)];
    isSearchTold = true;
    return [...searchEvents(writeSearch(searchedFor!, context)), changed].map(numbered);
  }
}

function searchEvents(item: JsonObject): JsonObject[] {
  return [
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, status: 'in_progress' },
    },
    { type: 'response.web_search_call.in_progress', output_index: 0, item_id: item.id },
    { type: 'response.web_search_call.searching', output_index: 0, item_id: item.id },
    { type: 'response.web_search_call.completed', output_index: 0, item_id: item.id },
    { type: 'response.output_item.done', output_index: 0, item },
  ];
}
