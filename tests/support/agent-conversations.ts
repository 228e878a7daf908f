// Conversations of coding agents, as clients of the three formats send them: the whole conversation
// in each turn, with the result of the tool that the model has called. All share their instructions
// and tools, as the conversations of one installation do.
import type { JsonObject } from '../../src/lib/json.ts';

const instructions = 'You are a careful engineer. '.repeat(300);
const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const toolNames = ['read_file', 'write_file', 'run', 'search', 'list'];
const describe = (name: string) => `Runs ${name}. `.repeat(40);
export const fileOf = (turn: number) => `line ${turn} of the file\n`.repeat(60);

/** A client that sends the whole conversation in each turn, with the result of the last call. */
export type Agent = {
  readonly path: string;
  readonly first: JsonObject;
  /** Returns the request after an answer. */
  readonly next: (request: JsonObject, answer: JsonObject, result: string) => JsonObject;
};

const chat = (task: string): Agent => ({
  path: '/v1/chat/completions',
  first: {
    tools: toolNames.map((name) => ({
      type: 'function',
      function: { name, description: describe(name), parameters: schema },
    })),
    messages: [
      { role: 'system', content: instructions },
      { role: 'user', content: task },
    ],
  },
  next: (request, answer, content) => {
    const [{ message }] = answer.choices as [{ message: JsonObject }];
    const [{ id }] = message.tool_calls as [{ id: string }];
    return withTurns(request, 'messages', [message, { role: 'tool', tool_call_id: id, content }]);
  },
});

const responses = (task: string): Agent => ({
  path: '/v1/responses',
  first: {
    instructions,
    tools: toolNames.map((name) => ({
      type: 'function',
      name,
      description: describe(name),
      parameters: schema,
    })),
    input: [{ role: 'user', content: task }],
  },
  next: (request, answer, output) => {
    const items = answer.output as readonly JsonObject[];
    const { call_id } = items.find(({ type }) => type === 'function_call')!;
    return withTurns(request, 'input', [
      ...items,
      { type: 'function_call_output', call_id, output },
    ]);
  },
});

export const mark = { cache_control: { type: 'ephemeral' } };

/** It marks the system prompt and the last block, as Claude Code does. */
const messages = (task: string): Agent => ({
  path: '/v1/messages',
  first: {
    max_tokens: 1_000,
    system: [{ type: 'text', text: instructions, ...mark }],
    tools: toolNames.map((name) => ({ name, description: describe(name), input_schema: schema })),
    messages: [{ role: 'user', content: [{ type: 'text', text: task, ...mark }] }],
  },
  next: (request, answer, content) => {
    const unmarked = (request.messages as readonly JsonObject[]).map((message) => ({
      ...message,
      content: (message.content as readonly JsonObject[]).map(
        ({ cache_control: _mark, ...block }) => block,
      ),
    }));
    const blocks = answer.content as readonly JsonObject[];
    const { id: tool_use_id } = blocks.find(({ type }) => type === 'tool_use')!;
    const result = { type: 'tool_result', tool_use_id, content, ...mark };
    return withTurns({ ...request, messages: unmarked }, 'messages', [
      { role: 'assistant', content: blocks },
      { role: 'user', content: [result] },
    ]);
  },
});

function withTurns(
  request: JsonObject,
  field: 'messages' | 'input',
  added: readonly JsonObject[],
): JsonObject {
  return { ...request, [field]: [...(request[field] as readonly JsonObject[]), ...added] };
}

/** By format; each takes the user's first message. */
export const agents = { chat, responses, messages };

/** The first requests of a conversation, each made from the answer to the one before. */
export async function converse(
  { first, next }: Agent,
  turns: number,
  send: (request: JsonObject) => Promise<JsonObject>,
): Promise<void> {
  let request = first;
  for (let turn = 0; turn < turns; turn++)
    request = next(request, await send(request), fileOf(turn));
}
