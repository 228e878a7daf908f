// Writes the conversation as Chat messages. Texts of instructions, assistant and tools are strings:
// the official types also allow parts, but DeepSeek and others refuse them.
import { invalidRequest } from '../../canonical/errors.ts';
import type {
  AssistantPart,
  CanonicalRequest,
  DocumentPart,
  Message,
  Signature,
  TextPart,
  ThinkingPart,
  ToolResultPart,
  UserPart,
} from '../../canonical/request.ts';
import { isTextType } from '../../canonical/media-type.ts';
import { contentWithFailure } from '../../canonical/tool-result.ts';
import type { JsonObject } from '../../lib/json.ts';
import { missingInstruction } from '../adapting/json-object.ts';
import type { UpstreamTarget } from '../format.ts';
import { isSound, writeSound } from '../input-audio.ts';
import { writeMediaUrl } from '../media-url.ts';
import { callIdFitter, maySign, refusedHistory } from './foreign-history.ts';
import { repairMessages, takesReasoning } from './repair-messages.ts';
import { writeAssistantContent } from './write-answer.ts';

type Notes = {
  /** Returns true for signatures that the model accepts. null: it accepts no reasoning. */
  readonly takesSignature: ((signature: Signature) => boolean) | null;
  readonly takesRefusal: boolean;
  readonly fitCallId: (id: string) => string;
  readonly ignored: Set<string>;
};

/**
 * Adds what is left out to `ignored`. Throws ApiError `invalid_request` on documents given by URL.
 */
export function writeConversation(
  request: CanonicalRequest,
  target: UpstreamTarget,
  ignored: Set<string>,
): readonly JsonObject[] {
  const notes: Notes = {
    takesSignature: takesReasoning(target)
      ? (signature: Signature) => maySign(signature, target.model)
      : null,
    takesRefusal: !refusedHistory(target).includes('refusal'),
    fitCallId: callIdFitter(target),
    ignored,
  };
  const isJson = request.outputFormat.type === 'json';
  const missing = isJson ? missingInstruction(request.system, request.messages) : [];
  const instructions = [...request.system, ...missing];
  const system = instructions.length === 0 ? [] : [writeSystem(instructions)];
  const messages = request.messages.flatMap((message) => writeMessage(message, notes));
  return repairMessages([...system, ...messages], target);
}

function writeMessage(message: Message, notes: Notes): JsonObject[] {
  switch (message.role) {
    case 'system':
      return [writeSystem(message.content)];
    case 'user':
      return [{ role: 'user', content: writeUserContent(message.content) }];
    case 'assistant':
      return writeAssistant(message.content, notes);
    default:
      return message.content.map((result) => writeToolResult(result, notes.fitCallId));
  }
}

function writeSystem(content: readonly TextPart[]): JsonObject {
  return { role: 'system', content: content.map((part) => part.text).join('\n\n') };
}

function writeUserContent(content: readonly UserPart[]): string | JsonObject[] {
  const [first] = content;
  if (!first) return '';
  if (content.length === 1 && first.type === 'text') return first.text;
  return content.map(writeUserPart);
}

function writeUserPart(part: UserPart): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image': {
      const url = writeMediaUrl(part.source);
      return {
        type: 'image_url',
        image_url: part.detail === undefined ? { url } : { url, detail: part.detail },
      };
    }
    default:
      return writeDocument(part);
  }
}

/** Hosts that accept files accept PDF. A text document is sent as text. */
function writeDocument({ source, name }: DocumentPart): JsonObject {
  if (source.kind === 'url') {
    throw invalidRequest(
      'messages',
      'messages must not contain documents by URL for this model; send the document itself as base64',
    );
  }
  if (isSound(source.mediaType)) return writeSound(source);
  if (isTextType(source.mediaType)) {
    const text = Buffer.from(source.data, 'base64').toString('utf8');
    return {
      type: 'text',
      text: `<document${name === undefined ? '' : ` name=${JSON.stringify(name)}`}>\n${text}\n</document>`,
    };
  }
  // OpenAI requires a name and reads the type from its extension.
  const filename = name ?? `document.${source.mediaType.split('/')[1]}`;
  return { type: 'file', file: { filename, file_data: writeMediaUrl(source) } };
}

/** Returns nothing for a turn without remaining content. */
function writeAssistant(
  content: readonly AssistantPart[],
  { takesSignature, takesRefusal, fitCallId, ignored }: Notes,
): JsonObject[] {
  const kept = separateTexts(content).flatMap((part): AssistantPart[] =>
    part.type === 'thinking' ? keepThinking(part, takesSignature) : [part],
  );
  if (kept.length < content.length) ignored.add('reasoning_content');
  if (kept.some((part) => part.type === 'text' && part.citations)) ignored.add('annotations');
  if (kept.length === 0 && content.length > 0) return [];
  const written = kept.map(takesRefusal ? (part) => part : asText);
  const { refusal, ...message } = writeAssistantContent(written, fitCallId);
  return [{ role: 'assistant', ...message, ...(refusal === null ? null : { refusal }) }];
}

/** Removes another vendor's signature; its readable text is sent on. */
function keepThinking(part: ThinkingPart, takesSignature: Notes['takesSignature']): ThinkingPart[] {
  if (!takesSignature) return [];
  if (!part.signature || takesSignature(part.signature)) return [part];
  return part.redacted || part.text === '' ? [] : [{ ...part, signature: null }];
}

/**
 * Begins a paragraph with a text behind another answer, a call or reasoning: joined without one, their
 * words run together (github.com/openclaw/openclaw/pull/115743, read 2026-11-30).
 */
function separateTexts(parts: readonly AssistantPart[]): AssistantPart[] {
  let before = '';
  return parts.map((part, index) => {
    if (part.type !== 'text' || part.text === '') return part;
    const isBehind = part.beginsAnswer || parts[index - 1]?.type !== 'text';
    const isGlued = isBehind && /\S$/.test(before) && /^\S/.test(part.text);
    before = part.text;
    return isGlued ? { ...part, text: `\n\n${part.text}` } : part;
  });
}

function asText(part: AssistantPart): AssistantPart {
  return part.type === 'refusal' ? { ...part, type: 'text' } : part;
}

/** Images and files move behind the results (repair-messages.ts). */
function writeToolResult(result: ToolResultPart, fitCallId: Notes['fitCallId']): JsonObject {
  const parts = contentWithFailure(result).map(writeUserPart);
  const isText = parts.every(({ type }) => type === 'text');
  const content = isText ? parts.map(({ text }) => text).join('\n') : parts;
  return { role: 'tool', tool_call_id: fitCallId(result.callId), content };
}
