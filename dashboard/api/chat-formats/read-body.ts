// Reads any program's request, as far as it is known here: what is not known is left out. One reader
// serves all formats, whose fields do not contradict each other; each reads its own answers.
import { fieldsOf, listOf, textOf } from './fields.ts';
import { asMessages } from './gemini.ts';
import { readContent } from './read-content.ts';
import {
  efforts,
  type ChatFormat,
  type ChatSettings,
  type Json,
  type OutputSchema,
  type ReadRequest,
  type ToolDefinition,
  type ToolResult,
} from './types.ts';

type ReadMessage = ReadRequest['messages'][number];

export function readBody(format: ChatFormat, asked: Json): ReadRequest {
  const body = format.name === 'gemini' ? asMessages(asked) : asked;
  const said = body['messages'] ?? body['input'];
  const items = typeof said === 'string' ? [{ role: 'user', content: said }] : listOf(said);
  const system = { role: 'system', content: body['system'] ?? body['instructions'] };
  const messages: ReadMessage[] = [];
  let answer: Json[] = [];
  const endAnswer = () => {
    if (answer.length > 0) messages.push(readAnswer(format, answer));
    answer = [];
  };
  for (const item of [...(system.content ? [system] : []), ...items].map(fieldsOf)) {
    if (isAnswer(item)) {
      answer.push(item);
      // In Responses, an answer is several items: its reasoning, its text and each call.
      if (format.name !== 'responses') endAnswer();
      continue;
    }
    endAnswer();
    for (const message of readSpoken(item)) {
      const last = messages.at(-1);
      if (message.role === 'tool' && last?.role === 'tool')
        messages[messages.length - 1] = { ...last, results: [...last.results, ...message.results] };
      else messages.push(message);
    }
  }
  endAnswer();
  return { ...readSettings(body), messages };
}

function isResult({ type, role }: Json): boolean {
  return role === 'tool' || type === 'tool_result' || textOf(type).endsWith('_output');
}

function isAnswer(item: Json): boolean {
  return item['role'] === 'assistant' || (item['role'] === undefined && !isResult(item));
}

/** Each format reads only its own one of the fields. */
function readAnswer(format: ChatFormat, items: readonly Json[]): ReadMessage {
  const content = items[0]!['content'];
  const blocks =
    typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(fieldsOf);
  const {
    text,
    reasoning,
    calls,
    images = [],
  } = format.readAnswer({
    choices: [{ message: items[0] }],
    output: items.map(wholeItem),
    content: blocks,
    candidates: [{ content: { parts: blocks } }],
  });
  const isInBlocks = format.name === 'messages' || format.name === 'gemini';
  const echo = isInBlocks ? blocks : items;
  return { role: 'assistant', format: format.name, text, reasoning, calls, images, echo };
}

/** Messages may leave out their type, and be plain text. */
function wholeItem({ type = 'message', content, ...item }: Json): Json {
  return { type, ...item, content: typeof content === 'string' ? [{ text: content }] : content };
}

function readSpoken(item: Json): readonly ReadMessage[] {
  const { role, content } = item;
  if (isResult(item)) return [{ role: 'tool', results: [readResult(item)] }];
  const parts = typeof content === 'string' ? [] : listOf(content).map(fieldsOf);
  const results = parts.filter(isResult).map(readResult);
  const { text, attachments } = readContent(
    results.length === 0 ? content : parts.filter((part) => !isResult(part)),
  );
  if (role === 'system' || role === 'developer') return [{ role: 'system', text }];
  return [
    ...(results.length > 0 ? [{ role: 'tool' as const, results }] : []),
    ...(text !== '' || attachments.length > 0
      ? [{ role: 'user' as const, text, attachments }]
      : []),
  ];
}

function readResult(item: Json): ToolResult {
  const callId = textOf(item['tool_call_id'] ?? item['call_id'] ?? item['tool_use_id']);
  const { text, attachments } = readContent(item['content'] ?? item['output']);
  return { callId, output: text, attachments };
}

function readSettings(body: Json): ChatSettings & { readonly model: string } {
  const { model, temperature, stream, tools, tool_choice: choice, thinking } = body;
  const { effort, format } = fieldsOf(body['output_config']);
  const isOff = fieldsOf(thinking)['type'] === 'disabled';
  const asked = body['reasoning_effort'] ?? fieldsOf(body['reasoning'])['effort'] ?? effort;
  const limit = body['max_completion_tokens'] ?? body['max_output_tokens'] ?? body['max_tokens'];
  const { type, name, function: called } = fieldsOf(choice);
  const chosen = textOf(fieldsOf(called)['name'] ?? name);
  const isRequired = choice === 'required' || type === 'any';
  return {
    model: textOf(model),
    system: '',
    maxTokens: typeof limit === 'number' ? limit : null,
    temperature: typeof temperature === 'number' ? temperature : null,
    effort: isOff ? 'none' : (efforts.find((each) => each === asked) ?? null),
    stream: stream === true,
    tools: listOf(tools).flatMap(readTool),
    toolChoice: isRequired ? 'required' : chosen === '' ? null : { name: chosen },
    schema: readSchema(
      fieldsOf(body['response_format'])['json_schema'] ??
        fieldsOf(body['text'])['format'] ??
        // Messages has no lenient schemas.
        (format === undefined ? {} : { ...fieldsOf(format), strict: true }),
    ),
  };
}

/** Tools that a provider runs are left out, and those with free text as input. */
function readTool(tool: unknown): readonly ToolDefinition[] {
  const { type, function: called, ...fields } = fieldsOf(tool);
  const { name, description, parameters, input_schema: input } = { ...fields, ...fieldsOf(called) };
  const schema = parameters ?? input ?? (type === 'function' ? { type: 'object' } : undefined);
  if (typeof schema !== 'object' || typeof name !== 'string') return [];
  return [{ name, description: textOf(description), parameters: schema as Json }];
}

function readSchema(format: unknown): OutputSchema | null {
  const { name, schema, strict } = fieldsOf(format);
  if (typeof schema !== 'object') return null;
  return { name: textOf(name) || 'answer', schema: fieldsOf(schema), strict: strict === true };
}
