// Custom tools, whose input is free text, on upstreams that know functions alone: each becomes a function with one string, `input`, and the
// calls become custom again on their way back, so that no client sees the difference. OpenAI alone knows custom tools.
import type { Answer } from './answer.ts';
import { decodeCustomInput, CustomInputDecoder } from './custom-tools-input.ts';
import type { StreamEvent } from './event.ts';
import type { AssistantPart, CanonicalRequest, Grammar, Message, Tool } from './request.ts';

export type LoweredRequest = {
  /** Without a custom tool or call. */
  readonly request: CanonicalRequest;
  /** The tools that were custom: what `raiseCustomCalls` wants to know. */
  readonly names: ReadonlySet<string>;
  /** A grammar cannot be enforced on a function; the model is told of it, and the loss is listed. */
  readonly ignored: readonly string[];
};

/** Makes functions of the custom tools, and of the calls of earlier turns. */
export function lowerCustomTools(request: CanonicalRequest): LoweredRequest {
  const custom = request.tools.filter((tool) => tool.kind === 'custom');
  const names = new Set(custom.map((tool) => tool.name));
  if (names.size === 0 && !request.messages.some(hasCustomCall)) return { request, names, ignored: [] };
  return {
    request: { ...request, tools: request.tools.map(lowerTool), messages: request.messages.map(lowerMessage) },
    names,
    ignored: custom.some((tool) => tool.grammar) ? ['tools.format'] : [],
  };
}

function lowerTool(tool: Tool): Tool {
  if (tool.kind !== 'custom') return tool;
  const { grammar, ...rest } = tool;
  const input = { type: 'string', description: 'The whole input of the tool, as plain text.' };
  return {
    ...rest,
    description: grammar ? describeGrammar(tool.description, grammar) : tool.description,
    parameters: { type: 'object', properties: { input }, required: ['input'] },
    kind: 'function',
  };
}

function describeGrammar(description: string | null, { syntax, definition }: Grammar): string {
  const grammar = `The input must match this ${syntax} grammar:\n${definition}`;
  return description ? `${description}\n\n${grammar}` : grammar;
}

function hasCustomCall({ role, content }: Message): boolean {
  return role === 'assistant' && content.some((part) => part.type === 'tool-call' && part.kind === 'custom');
}

function lowerMessage(message: Message): Message {
  if (message.role !== 'assistant' || !hasCustomCall(message)) return message;
  return { ...message, content: message.content.map(lowerPart) };
}

function lowerPart(part: AssistantPart): AssistantPart {
  if (part.type !== 'tool-call' || part.kind !== 'custom') return part;
  return { ...part, kind: 'function', arguments: JSON.stringify({ input: part.arguments }) };
}

/** The answer with the calls of these tools as custom ones. Arguments that are not as asked for stay the text that they are. */
export function raiseCustomAnswer(answer: Answer, names: ReadonlySet<string>): Answer {
  if (names.size === 0) return answer;
  return { ...answer, content: answer.content.map((part) => raisePart(part, names)) };
}

function raisePart(part: AssistantPart, names: ReadonlySet<string>): AssistantPart {
  if (part.type !== 'tool-call' || !names.has(part.name)) return part;
  return { ...part, kind: 'custom', arguments: decodeCustomInput(part.arguments) };
}

/** The same for a stream: the input is decoded as it comes. Call what is returned with each event in turn. */
export function raiseCustomCalls(names: ReadonlySet<string>): (event: StreamEvent) => readonly StreamEvent[] {
  let decoder: CustomInputDecoder | null = null;
  return (event) => {
    switch (event.type) {
      case 'tool-call-start':
        decoder = names.has(event.name) ? new CustomInputDecoder() : null;
        return [decoder ? { ...event, kind: 'custom' } : event];
      case 'tool-call-delta':
        return decoder ? deltaOf(decoder.push(event.text)) : [event];
      case 'tool-call-end': {
        const rest = decoder ? deltaOf(decoder.end()) : [];
        decoder = null;
        return [...rest, event];
      }
      default:
        return [event];
    }
  };
}

function deltaOf(text: string): StreamEvent[] {
  return text === '' ? [] : [{ type: 'tool-call-delta', text }];
}
