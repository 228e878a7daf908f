// The sandbox's host for Anthropic's Messages.
import type {
  AssistantPart,
  Message,
  OutputFormat,
  Reasoning,
  Tool,
  ToolChoice,
  UserPart,
} from '../../canonical/request.ts';
import { userTurn } from '../../formats/adapting/conversation.ts';
import { type JsonObject, objectOf, objectsOf, textOf } from '../../lib/json.ts';
import { messages as format } from '../../formats/messages/index.ts';
import { isSearchTool } from '../../formats/messages/web-search.ts';
import type { SandboxRequest } from '../sandbox/request.ts';
import { makePage } from '../sandbox/search.ts';
import {
  callPart,
  instructedFormat,
  jsonSchema,
  numberOf,
  readStop,
  reasoningIf,
  resultPart,
  documentPlaceholder,
  imagePlaceholder,
  textPart,
  textsOf,
  thinkingPart,
  toolOf,
} from './fields.ts';
import { changeFrames, writeEvents } from './frames.ts';
import type { Host, AnswerOptions } from './host.ts';

export const messages: Host = {
  readRequest,
  writeAnswer: (answer, options) => {
    const { content, usage, ...body } = format.writeAnswer(answer, options.context);
    return {
      ...body,
      content: [...searchBlocks(options), ...objectsOf(content)],
      ...writeUsage(usage, options),
    };
  },
  writeStream: (options) => {
    const write = writeEvents(format.writeStream(options.context));
    if (options.hasUsage && options.searchedFor === null) return write;
    return (event) => changeFrames(write(event), (data) => changeEvent(data, options));
  },
};

function readRequest(body: JsonObject): SandboxRequest {
  return {
    system: textsOf(body.system),
    messages: objectsOf(body.messages).flatMap(readMessage),
    ...readTools(body),
    maxOutputTokens: numberOf(body.max_tokens),
    stopSequences: readStop(body.stop_sequences),
    reasoning: readReasoning(objectOf(body.thinking)),
    outputFormat: readOutputFormat(body),
  };
}

function readMessage({ role, content }: JsonObject): Message[] {
  const blocks =
    typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content);
  if (role === 'assistant') return [{ role, content: blocks.flatMap(readAssistantBlock) }];
  if (role === 'system') return [{ role, content: textsOf(blocks) }];
  const results = blocks.filter(({ type }) => type === 'tool_result').map(readResult);
  return userTurn(results, blocks.flatMap(readUserBlock));
}

function readResult({ tool_use_id: callId, content, is_error: isError }: JsonObject) {
  const parts =
    typeof content === 'string' ? [textPart(content)] : objectsOf(content).flatMap(readUserBlock);
  return resultPart(callId, parts, isError === true);
}

function readUserBlock(block: JsonObject): UserPart[] {
  switch (block.type) {
    case 'text':
      return [textPart(block.text)];
    case 'image':
      return [imagePlaceholder];
    case 'document':
      return [
        ...(typeof block.context === 'string' ? [textPart(block.context)] : []),
        documentPlaceholder,
      ];
    case 'search_result':
      return textsOf(block.content);
    default:
      return [];
  }
}

function readAssistantBlock(block: JsonObject): AssistantPart[] {
  switch (block.type) {
    case 'text':
      return [textPart(block.text)];
    case 'thinking':
      return [thinkingPart(textOf(block.thinking))];
    case 'tool_use':
      return [callPart(block.id, block.name, JSON.stringify(block.input ?? {}))];
    default:
      return [];
  }
}

function readTools({ tools, tool_choice: choice }: JsonObject) {
  const { type, name, disable_parallel_tool_use: isSerial } = objectOf(choice);
  const search = objectsOf(tools).find(isSearchTool);
  return {
    tools: objectsOf(tools).flatMap(readTool),
    toolChoice: readChoice(type, name),
    parallelToolCalls: typeof isSerial === 'boolean' ? !isSerial : null,
    ...(search && { searchTool: textOf(search.name) || 'web_search' }),
  };
}

/** Tools that Anthropic defines and the client runs have a name but no schema. */
function readTool(tool: JsonObject): Tool[] {
  if (typeof tool.name !== 'string' || isSearchTool(tool)) return [];
  return [toolOf(tool, objectOf(tool.input_schema))];
}

function readChoice(type: unknown, name: unknown): ToolChoice | null {
  if (type === 'any') return { type: 'required' };
  if (type === 'tool') return { type, name: textOf(name) };
  return type === 'auto' || type === 'none' ? { type } : null;
}

function readReasoning({ type, budget_tokens: budget }: JsonObject): Reasoning | null {
  if (type === 'enabled') return { effort: null, budgetTokens: numberOf(budget) };
  return reasoningIf(type === 'adaptive');
}

function readOutputFormat({
  output_config: config,
  output_format: older,
  system,
}: JsonObject): OutputFormat {
  const { type, schema } = objectOf(objectOf(config).format ?? older);
  return type === 'json_schema' ? jsonSchema(schema) : instructedFormat(system);
}

/** The blocks of a web search and its results, before all others. */
function searchBlocks({ searchedFor, context }: AnswerOptions): JsonObject[] {
  if (searchedFor === null) return [];
  const id = `srvtoolu_${context.requestId}`;
  return [
    {
      type: 'server_tool_use',
      id,
      name: 'web_search',
      input: { query: searchedFor },
      caller: { type: 'direct' },
    },
    {
      type: 'web_search_tool_result',
      tool_use_id: id,
      content: [foundPage(searchedFor)],
      caller: { type: 'direct' },
    },
  ];
}

function foundPage(query: string): JsonObject {
  const { url, title } = makePage(query, 0);
  return { type: 'web_search_result', url, title, encrypted_content: 'sandbox', page_age: null };
}

function writeUsage(usage: unknown, { hasUsage, searchedFor }: AnswerOptions): JsonObject {
  if (!hasUsage) return {};
  if (searchedFor === null) return { usage };
  return {
    usage: {
      ...objectOf(usage),
      server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
    },
  };
}

/** The search takes the first two blocks, so the indexes of the others grow by two. */
function changeEvent(event: JsonObject, options: AnswerOptions): readonly JsonObject[] {
  const { index, usage, ...rest } = event;
  const blocks = searchBlocks(options);
  switch (event.type) {
    case 'message_start': {
      const { usage: early, ...message } = objectOf(event.message);
      const started = {
        ...event,
        message: { ...message, ...(options.hasUsage && { usage: early }) },
      };
      return [started, ...blocks.flatMap(blockEvents)];
    }
    case 'message_delta':
      return [{ ...rest, ...writeUsage(usage, options) }];
    default:
      return [typeof index === 'number' ? { ...event, index: index + blocks.length } : event];
  }
}

/** A call's input comes in deltas; the rest of a block is in its start. */
function blockEvents(block: JsonObject, index: number): JsonObject[] {
  const { input } = block;
  const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) };
  return [
    {
      type: 'content_block_start',
      index,
      content_block: input === undefined ? block : { ...block, input: {} },
    },
    ...(input === undefined ? [] : [{ type: 'content_block_delta', index, delta }]),
    { type: 'content_block_stop', index },
  ];
}
