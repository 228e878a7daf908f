// Runs custom tools, which take free text, on upstreams that know only functions; only OpenAI knows
// custom tools. Each becomes a function with one string, `input`, and its calls become custom calls
// again in the answer, so the client sees no difference.
import { isObject, objectOf } from '../../lib/json.ts';
import { CustomInputDecoder } from './custom-tools-input.ts';
import { deltaOf } from '../../canonical/answer.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type {
  AssistantPart,
  CanonicalRequest,
  Grammar,
  Message,
  Tool,
} from '../../canonical/request.ts';

type LoweredRequest = {
  /** Has no custom tools or calls. */
  readonly request: CanonicalRequest;
  /** The tools that were custom, for `raiseCustomCalls`. */
  readonly names: ReadonlySet<string>;
  /** A function cannot enforce a grammar. The model is told about it, and the loss is listed. */
  readonly ignored: readonly string[];
};

/** The only parameter of a lowered custom tool. */
const plainInput = { type: 'string', description: 'The whole input of the tool, as plain text.' };

/** Returns true when a function's schema is that of a lowered custom tool. */
export function isLoweredTool({ parameters }: Pick<Tool, 'parameters'>): boolean {
  const { properties } = parameters ?? {};
  const input = objectOf(properties).input;
  return isObject(input) && input.description === plainInput.description;
}

/** Turns custom tools, and their calls in earlier turns, into functions. */
export function lowerCustomTools(request: CanonicalRequest): LoweredRequest {
  const custom = request.tools.filter((tool) => tool.kind === 'custom');
  const names = new Set(custom.map((tool) => tool.name));
  if (names.size === 0 && !request.messages.some(hasCustomCall))
    return { request, names, ignored: [] };
  return {
    request: {
      ...request,
      tools: request.tools.map(lowerTool),
      messages: request.messages.map(lowerMessage),
    },
    names,
    ignored: custom.some((tool) => tool.grammar) ? ['tools.format'] : [],
  };
}

function lowerTool(tool: Tool): Tool {
  if (tool.kind !== 'custom') return tool;
  const { grammar, ...rest } = tool;
  return {
    ...rest,
    description: grammar ? describeGrammar(tool.description, grammar) : tool.description,
    parameters: { type: 'object', properties: { input: plainInput }, required: ['input'] },
    kind: 'function',
  };
}

function describeGrammar(description: string | null, { syntax, definition }: Grammar): string {
  const grammar = `The input must match this ${syntax} grammar:\n${definition}`;
  return description ? `${description}\n\n${grammar}` : grammar;
}

function hasCustomCall({ role, content }: Message): boolean {
  return (
    role === 'assistant' &&
    content.some((part) => part.type === 'tool-call' && part.kind === 'custom')
  );
}

function lowerMessage(message: Message): Message {
  if (message.role !== 'assistant' || !hasCustomCall(message)) return message;
  return { ...message, content: message.content.map(lowerPart) };
}

function lowerPart(part: AssistantPart): AssistantPart {
  if (part.type !== 'tool-call' || part.kind !== 'custom') return part;
  return { ...part, kind: 'function', arguments: JSON.stringify({ input: part.arguments }) };
}

/**
 * Turns calls of these tools back into custom calls, and decodes their input as it arrives. Arguments in
 * another form stay text. Call the returned function with each event of an answer in turn.
 */
export function raiseCustomCalls(
  names: ReadonlySet<string>,
): (event: StreamEvent) => readonly StreamEvent[] {
  let decoder: CustomInputDecoder | null = null;
  return (event) => {
    switch (event.type) {
      case 'tool-call-start':
        decoder = names.has(event.name) ? new CustomInputDecoder() : null;
        return [decoder ? { ...event, kind: 'custom' } : event];
      case 'tool-call-delta':
        return decoder ? deltaOf(decoder.push(event.text), 'tool-call-delta') : [event];
      case 'tool-call-end': {
        const rest = decoder ? deltaOf(decoder.end(), 'tool-call-delta') : [];
        decoder = null;
        return [...rest, event];
      }
      default:
        return [event];
    }
  };
}
