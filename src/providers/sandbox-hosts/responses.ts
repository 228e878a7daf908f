// The sandbox's host for OpenAI's Responses.
import type { Message, OutputFormat, Tool } from '../../canonical/request.ts';
import type { AnswerContext } from '../../formats/format.ts';
import { responses as format } from '../../formats/responses/index.ts';
import type { ResponsesRequest } from '../../formats/responses/schema.ts';
import { toolListsOf, toolNamesOf, type ToolNames } from '../../formats/responses/tool-names.ts';
import { type JsonObject, objectOf, objectsOf, textOf } from '../../lib/json.ts';
import type { SandboxRequest } from '../sandbox/request.ts';
import { changeFrames, writeEvents } from './frames.ts';
import type { AnswerOptions, Host } from './host.ts';
import {
  booleanOf,
  jsonSchema,
  nameIn,
  numberOf,
  readMessage,
  readParts,
  readTool,
  readTools,
  textPart,
  textsOf,
  thinkingPart,
} from './reading.ts';

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
  const listed = toolListsOf(body as ResponsesRequest).flatMap((list) => objectsOf(list.tools));
  const tools = new Map(
    listed.flatMap((tool) => readAnyTool(tool, names)).map((tool) => [tool.name, tool]),
  );
  return {
    system: [textPart(body.instructions)],
    messages: input.flatMap((item) => readItem(item, names)),
    ...readTools([...tools.values()], flatChoice(body.tool_choice, names)),
    ...(listed.some(({ type }) => isSearch(type)) && { searchTool: searchName }),
    parallelToolCalls: booleanOf(body.parallel_tool_calls),
    maxOutputTokens: numberOf(body.max_output_tokens),
    stopSequences: [],
    asksToThink: !['', 'none'].includes(textOf(objectOf(body.reasoning).effort)),
    outputFormat: readOutputFormat(objectOf(objectOf(body.text).format)),
  };
}

function readItem(item: JsonObject, names: ToolNames): Message[] {
  const { role, content } = item;
  const type = item.type ?? 'message';
  if (type === 'message') return readMessage(role, readParts(content));
  if (type === 'reasoning') {
    const texts = [...textsOf(item.summary), ...textsOf(content)];
    return readMessage(
      'assistant',
      texts.map(({ text }) => thinkingPart(text)),
    );
  }
  const named = { namespace: namespaceOf(item), name: textOf(item.name) };
  const name = type === 'tool_search_call' ? names.searchName : names.nameOf(named);
  const [part] = readParts([{ ...item, name }]);
  if (part?.type === 'tool-call') return readMessage('assistant', [part]);
  return part?.type === 'tool-result' ? readMessage('user', [part]) : [];
}

function namespaceOf({ namespace }: JsonObject): string | null {
  return typeof namespace === 'string' ? namespace : null;
}

/** Tools of a namespace get one flat name, as in translation. The answer's writer knows them by it. */
function readAnyTool(tool: JsonObject, names: ToolNames): Tool[] {
  if (tool.type === 'tool_search') return readTool({ ...tool, name: names.searchName });
  if (tool.type !== 'namespace') return readTool(tool);
  const namespace = textOf(tool.name);
  return objectsOf(tool.tools)
    .flatMap((member) => readAnyTool(member, names))
    .map((member) => ({ ...member, name: names.nameOf({ namespace, name: member.name }) }));
}

const searchName = 'web_search';

function isSearch(type: unknown): boolean {
  return textOf(type).startsWith(searchName);
}

function flatChoice(choice: unknown, names: ToolNames): unknown {
  const chosen = objectOf(choice);
  if (isSearch(chosen.type)) return { name: searchName };
  const name = nameIn(choice);
  if (name === '') return choice;
  return { name: names.nameOfChoice({ namespace: namespaceOf(chosen), name }) };
}

function readOutputFormat({ type, schema, name }: JsonObject): OutputFormat {
  if (type === 'json_object') return { type: 'json' };
  return type === 'json_schema' ? jsonSchema(schema, name) : { type: 'text' };
}

/** Changes an answer, or an event's copy of it. */
function changeResponse(
  { usage, ...response }: JsonObject,
  { hasUsage, context }: AnswerOptions,
): JsonObject {
  const output = objectsOf(response.output).map((item) => hideReasoning(item, context));
  return { ...response, output, usage: hasUsage ? usage : null };
}

type AskedOf = Pick<AnswerContext, 'request'>;

/** OpenAI encrypts reasoning, and shows a summary when asked for one. */
function hideReasoning(item: JsonObject, { request }: AskedOf): JsonObject {
  if (item.type !== 'reasoning' || item.content === undefined) return item;
  const { content, encrypted_content: _ours, ...rest } = item;
  const [text = ''] = textsOf(content).map((part) => part.text);
  if (text === '') return rest;
  const summary = hasSummary(request.body) ? [{ type: 'summary_text', text }] : [];
  return {
    ...rest,
    summary,
    encrypted_content: `gAAAAA${Buffer.from(text).toString('base64url')}`,
  };
}

function hasSummary({ reasoning }: JsonObject): boolean {
  return textOf(objectOf(reasoning).summary) !== '';
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

/** Numbers the events anew: a summary has more or fewer than the reasoning. */
function createEventChange(options: AnswerOptions): (event: JsonObject) => readonly JsonObject[] {
  let sequence = 0;
  return (whole) =>
    summarise(whole, options.context).map(({ response, ...event }) => ({
      ...event,
      ...(response !== undefined && { response: changeResponse(objectOf(response), options) }),
      sequence_number: sequence++,
    }));
}
