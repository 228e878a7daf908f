// The sandbox's host for Anthropic's Messages.
import type { StreamEvent } from '../../canonical/event.ts';
import { jsonInstruction } from '../../formats/adapting/json-object.ts';
import type {
  AssistantPart,
  Message,
  OutputFormat,
  Reasoning,
  Tool,
  ToolChoice,
  UserPart,
} from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { messages as format } from '../../formats/messages/index.ts';
import { isSearchTool } from '../../formats/messages/web-search.ts';
import type { SandboxRequest } from '../sandbox/request.ts';
import { makePage } from '../sandbox/search.ts';
import {
  jsonSchema,
  numberOf,
  objectOf,
  objectsOf,
  readStop,
  documentPlaceholder,
  imagePlaceholder,
  stringOf,
  textPart,
  textsOf,
} from './fields.ts';
import { changeFrames } from './frames.ts';
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
    const pipe = format.writeStream(options.context);
    const write = (event: StreamEvent) =>
      pipe.push(event) + (event.type === 'finish' ? pipe.close(0) : '');
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
  const parts = blocks.flatMap(readUserBlock);
  return [
    ...(results.length > 0 ? [{ role: 'tool', content: results } as const] : []),
    ...(parts.length > 0 || results.length === 0
      ? [{ role: 'user', content: parts } as const]
      : []),
  ];
}

function readResult({ tool_use_id: callId, content, is_error: isError }: JsonObject) {
  const parts =
    typeof content === 'string' ? [textPart(content)] : objectsOf(content).flatMap(readUserBlock);
  return {
    type: 'tool-result',
    callId: stringOf(callId),
    content: parts,
    isError: isError === true,
  } as const;
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
      return [
        { type: 'thinking', text: stringOf(block.thinking), signature: null, redacted: false },
      ];
    case 'tool_use': {
      const { id, name, input } = block;
      return [
        {
          type: 'tool-call',
          id: stringOf(id),
          name: stringOf(name),
          arguments: JSON.stringify(input ?? {}),
          kind: 'function',
        },
      ];
    }
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
    ...(search && { searchTool: stringOf(search.name) || 'web_search' }),
  };
}

/** Tools that Anthropic defines and the client runs have a name but no schema. */
function readTool(tool: JsonObject): Tool[] {
  const { name, description, input_schema: schema } = tool;
  if (typeof name !== 'string' || isSearchTool(tool)) return [];
  return [
    {
      name,
      description: stringOf(description) || null,
      parameters: objectOf(schema),
      strict: null,
      kind: 'function',
    },
  ];
}

function readChoice(type: unknown, name: unknown): ToolChoice | null {
  if (type === 'any') return { type: 'required' };
  if (type === 'tool') return { type, name: stringOf(name) };
  return type === 'auto' || type === 'none' ? { type } : null;
}

function readReasoning({ type, budget_tokens: budget }: JsonObject): Reasoning | null {
  if (type === 'enabled') return { effort: null, budgetTokens: numberOf(budget) };
  return type === 'adaptive' ? { effort: 'medium', budgetTokens: null } : null;
}

/** JSON mode is an instruction in the prompt, which the sandbox follows. */
function readOutputFormat({
  output_config: config,
  output_format: older,
  system,
}: JsonObject): OutputFormat {
  const { type, schema } = objectOf(objectOf(config).format ?? older);
  if (type === 'json_schema') return jsonSchema(schema);
  return textsOf(system).some(({ text }) => text === jsonInstruction.text)
    ? { type: 'json' }
    : { type: 'text' };
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
