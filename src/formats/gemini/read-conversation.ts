// Reads the conversation of a client's body, part by part. What a canonical message cannot hold is
// refused by name, never left out.
import { invalidRequest, quoted } from '../../canonical/errors.ts';
import { base64Source } from '../../canonical/media-type.ts';
import type {
  AssistantPart,
  DocumentPart,
  ImagePart,
  Message,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../../canonical/request.ts';
import { placeSignature } from '../../canonical/thought-signature.ts';
import { append } from '../../lib/append.ts';
import { joinNeighbours, userTurn } from '../adapting/conversation.ts';
import { readInput } from '../call-arguments.ts';
import { readClientSignature } from './client-signature.ts';
import { mediaKind } from './client-media.ts';
import { codeAsText } from './executed-code.ts';
import type { Content, Part } from './schema.ts';

/** Calls without an id, as older models and clients have them, are numbered. */
export function readConversation(contents: readonly Content[]): Message[] {
  const calls = new OpenCalls();
  const messages = contents.flatMap(({ role, parts }, index) => {
    const path = `contents[${index}].parts`;
    if (role === 'model') return readModelTurn(parts ?? [], { path, calls });
    if (role && !userRoles.has(role))
      throw invalidRequest(
        `contents[${index}].role`,
        `contents[${index}].role must be \`user\` or \`model\`; got ${quoted(role)}. Instructions belong in \`systemInstruction\`.`,
      );
    return readUserTurn(parts ?? [], { path, calls });
  });
  return joinNeighbours(messages, ['assistant']).map(joinTexts);
}

/** Google's SDKs keep each chunk of a streamed answer as a turn: alone, some hold only a line break. */
function joinTexts(message: Message): Message {
  if (message.role !== 'assistant') return message;
  const content: AssistantPart[] = [];
  for (const part of message.content) {
    const last = content.at(-1);
    if (part.type === 'text' && last?.type === 'text')
      content[content.length - 1] = asText(last.text + part.text);
    else content.push(part);
  }
  return { ...message, content };
}

/** Google's SDKs write results as `function` or, in their guides, as `tool`. */
export const userRoles: ReadonlySet<string> = new Set(['user', 'function', 'tool']);

type Call = { readonly id: string; isOpen: boolean };
/** Calls in their order. Those before `next` have their results. */
type Line = { readonly calls: Call[]; next: number };

/** Calls that have no result yet. A body may hold many thousands, so none is looked for. */
class OpenCalls {
  #count = 0;
  readonly #byId = new Map<string, Line>();
  readonly #byName = new Map<string, Line>();

  open({ id, name }: NonNullable<Part['functionCall']>): string {
    const call = { id: id || `call_${this.#count}`, isOpen: true };
    this.#count++;
    lineUp(this.#byId, call.id, call);
    lineUp(this.#byName, name, call);
    return call.id;
  }

  /** A result names its call by its id, or else answers the first call of its function. */
  close({ id, name }: NonNullable<Part['functionResponse']>): string {
    const line = id ? this.#byId.get(id) : this.#byName.get(name);
    while (line?.calls[line.next]?.isOpen === false) line.next++;
    const call = line?.calls[line.next];
    if (!call) return id || name;
    call.isOpen = false;
    return call.id;
  }
}

function lineUp(lines: Map<string, Line>, word: string, call: Call): void {
  const line = lines.get(word);
  if (line) line.calls.push(call);
  else lines.set(word, { calls: [call], next: 0 });
}

type Turn = { readonly path: string; readonly calls: OpenCalls };

function readUserTurn(parts: readonly Part[], { path, calls }: Turn): Message[] {
  const results: ToolResultPart[] = [];
  const rest: UserPart[] = [];
  for (const [index, part] of parts.entries()) {
    const { functionResponse } = part;
    if (functionResponse)
      results.push(
        readResult(functionResponse, calls.close(functionResponse), `${path}[${index}]`),
      );
    else append(rest, readUserPart(part, `${path}[${index}]`));
  }
  return userTurn(results, rest);
}

function readUserPart(part: Part, path: string): UserPart[] {
  const { text, inlineData, fileData } = part;
  if (inlineData || fileData) return [readMedia(part, path)];
  if (typeof text === 'string') return [{ type: 'text', text }];
  throw unknownPart(part, path);
}

/** Google asks for `output` and `error`; its SDKs write `result`, too. */
function readResult(
  { response, parts }: NonNullable<Part['functionResponse']>,
  callId: string,
  path: string,
): ToolResultPart {
  const entries = Object.entries(response ?? {});
  const [name, value] = entries[0] ?? ['', undefined];
  const isOnly = entries.length === 1;
  const isPlain = isOnly && ['output', 'result', 'error'].includes(name);
  const shown = isPlain ? value : (response ?? {});
  const text = typeof shown === 'string' ? shown : JSON.stringify(shown);
  const media = (parts ?? []).map((part, index) =>
    readMedia(part, `${path}.functionResponse.parts[${index}]`),
  );
  return {
    type: 'tool-result',
    callId,
    content: entries.length === 0 && media.length > 0 ? media : [{ type: 'text', text }, ...media],
    isError: isOnly && name === 'error',
  };
}

function readMedia(
  { inlineData, fileData }: Pick<Part, 'inlineData' | 'fileData'>,
  path: string,
): ImagePart | DocumentPart {
  const type = mediaKind({ inlineData, fileData }, path);
  const { displayName: name } = (inlineData ?? fileData) as { readonly displayName?: unknown };
  const source = inlineData
    ? base64Source(inlineData.mimeType, inlineData.data, type)
    : ({ kind: 'url', url: fileData!.fileUri } as const);
  return type === 'document' && typeof name === 'string'
    ? { type, source, name }
    : { type, source };
}

function readModelTurn(parts: readonly Part[], { path, calls }: Turn): Message[] {
  const content: AssistantPart[] = [];
  /** Reasoning whose signature, if it has one, is on the part behind it. */
  let thoughts: string | null = null;
  const endThoughts = (sign: Partial<Extract<AssistantPart, { type: 'thinking' }>> | null) => {
    if (thoughts === null && !sign) return;
    const text = thoughts ?? '';
    content.push({ type: 'thinking', text, signature: null, redacted: text === '', ...sign });
    thoughts = null;
  };
  for (const [index, part] of parts.entries()) {
    const signature = readClientSignature(part.thoughtSignature);
    const isThought = part.thought === true && typeof part.text === 'string';
    if (isThought) thoughts = (thoughts ?? '') + part.text!;
    if (signature?.kind === 'foreign')
      endThoughts({ ...signature.thinking, text: signature.text ?? thoughts ?? '' });
    const value = signature?.kind === 'google' ? signature.value : null;
    if (isThought) {
      if (value !== null)
        endThoughts({ signature: placeSignature({ kind: 'thought' }, value), redacted: false });
      continue;
    }
    if (part.functionCall) {
      const callId = calls.open(part.functionCall);
      endThoughts(
        value === null ? null : { signature: placeSignature({ kind: 'call', callId }, value) },
      );
      const { name, args } = part.functionCall;
      content.push({
        type: 'tool-call',
        id: callId,
        name,
        arguments: readInput(args),
        kind: 'function',
      });
      continue;
    }
    endThoughts(null);
    const text = readModelText(part, `${path}[${index}]`);
    if (text.text !== '') content.push(text);
    if (value !== null) {
      const kind = text.text === '' ? 'empty-text' : 'text';
      endThoughts({ signature: placeSignature({ kind }, value), redacted: true });
    }
  }
  endThoughts(null);
  return [{ role: 'assistant', content }];
}

/** Code that Gemini ran, and what came of it, are text for other models. So is that there was an image. */
function readModelText(part: Part, path: string): TextPart {
  const { text, inlineData, fileData } = part;
  const code = codeAsText(part);
  if (code !== null) return asText(code);
  if (inlineData || fileData) return asText('[An image that was made here]');
  if (typeof text === 'string' || Object.keys(part).every((name) => name === 'thoughtSignature'))
    return asText(text ?? '');
  throw unknownPart(part, path);
}

function asText(text: string): TextPart {
  return { type: 'text', text };
}

function unknownPart(part: Part, path: string) {
  const name = Object.keys(part)[0] ?? '';
  return invalidRequest(
    path,
    `${path} must be a text, \`inlineData\`, \`fileData\`, a \`functionCall\` or a \`functionResponse\` of its turn; got ${quoted(name)}`,
  );
}
