// Writes the conversation as Converse wants it: user and assistant turns alternate, a user turn begins
// with its results, no text is blank, and marks for the cache are blocks behind what they cover.
import type {
  AssistantPart,
  CacheControl,
  CanonicalRequest,
  DocumentPart,
  Message,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../../canonical/request.ts';
import { markInstruction } from '../../canonical/marked-instruction.ts';
import { append } from '../../lib/append.ts';
import type { JsonObject } from '../../lib/json.ts';
import { emptyTurn } from '../adapting/answerable.ts';
import { addToTurn, type Turn } from '../adapting/turns.ts';
import { writeInput } from '../call-arguments.ts';
import { fitConverseCallId, fitMistralCallId } from '../call-ids.ts';
import { writeDocument, writeImage } from './media.ts';
import { toolTraits, type ModelTraits } from './model-traits.ts';

type WrittenConversation = {
  readonly system: readonly JsonObject[];
  readonly messages: readonly JsonObject[];
};

type Turns = Turn<'user' | 'assistant'>[];

/** Adds what is left out to `ignored`. Throws ApiError on media that the model cannot take. */
export function writeConversation(
  { system, messages }: CanonicalRequest,
  traits: ModelTraits,
  ignored: Set<string>,
): WrittenConversation {
  const writer = new Writer(traits, ignored);
  const leading = system.flatMap((part) => writer.text(part));
  const turns: Turns = [];
  for (const message of messages) {
    if (message.role === 'system' && turns.length === 0)
      append(
        leading,
        message.content.flatMap((part) => writer.text(part)),
      );
    else writer.add(turns, message);
  }
  const written = turns.map(({ role, results, rest }) => ({
    role,
    content: [...results, ...withText(rest)],
  }));
  // A conversation begins with the user.
  if (written[0]?.role === 'assistant')
    written.unshift({
      role: 'user',
      content: emptyTurn.content.flatMap((part) => writer.userPart(part)),
    });
  return { system: leading, messages: written };
}

/** Returns the block behind what is marked. Adds to `ignored` what is not kept there, or not as long. */
export function writeMark(
  control: CacheControl | undefined,
  { cacheMarks }: Pick<ModelTraits, 'cacheMarks'>,
  ignored: Set<string>,
): JsonObject[] {
  if (!control) return [];
  if (cacheMarks === null) {
    ignored.add('cache_control');
    return [];
  }
  const isLong = control.ttl === '1h';
  if (isLong && cacheMarks === 'nova') ignored.add('cache_control.ttl');
  return [
    { cachePoint: { type: 'default', ...(isLong && cacheMarks === 'claude' && { ttl: '1h' }) } },
  ];
}

class Writer {
  readonly #traits: ModelTraits;
  readonly #ignored: Set<string>;
  readonly #documents = new Set<string>();

  constructor(traits: ModelTraits, ignored: Set<string>) {
    this.#traits = traits;
    this.#ignored = ignored;
  }

  add(turns: Turns, message: Message): void {
    switch (message.role) {
      case 'system': {
        const marked = message.content.flatMap((part) => this.text(markInstruction(part)));
        return addToTurn(turns, { role: 'user' }, marked);
      }
      case 'user': {
        const blocks = message.content.flatMap((part) => this.userPart(part));
        return addToTurn(turns, { role: 'user' }, blocks);
      }
      case 'tool': {
        const results = message.content.flatMap((part) => this.#result(part));
        return addToTurn(turns, { role: 'user', kind: 'results' }, results);
      }
      case 'assistant': {
        // Text behind a call is refused.
        const isCall = ({ type }: AssistantPart) => type === 'tool-call';
        const parts = [
          ...message.content.filter((part) => !isCall(part)),
          ...message.content.filter(isCall),
        ];
        const blocks = parts.flatMap((part) => this.#assistantPart(part));
        return addToTurn(turns, { role: 'assistant' }, blocks);
      }
    }
  }

  text({ text, cacheControl }: TextPart): JsonObject[] {
    return text.trim() === '' ? [] : [{ text }, ...this.mark(cacheControl)];
  }

  userPart(part: UserPart): JsonObject[] {
    switch (part.type) {
      case 'text':
        return this.text(part);
      case 'image':
        if ((part.detail ?? 'auto') !== 'auto') this.#ignored.add('detail');
        return [writeImage(part), ...this.mark(part.cacheControl)];
      case 'document':
        return [writeDocument(part, this.#documents), ...this.#markDocument(part)];
    }
  }

  /** A mark is refused behind documents that Bedrock turns into text. */
  #markDocument({ source, cacheControl }: DocumentPart): JsonObject[] {
    if (source.kind === 'base64' && source.mediaType.toLowerCase() === 'application/pdf')
      return this.mark(cacheControl);
    if (cacheControl) this.#ignored.add('cache_control');
    return [];
  }

  mark(control: CacheControl | undefined): JsonObject[] {
    return writeMark(control, this.#traits, this.#ignored);
  }

  #result({ callId, content, isError, cacheControl }: ToolResultPart): JsonObject[] {
    const blocks = content
      .flatMap((part) => this.userPart(part))
      .filter((block) => !('cachePoint' in block));
    const result = {
      toolUseId: this.#callId(callId),
      // An empty result with an error is refused.
      content: blocks.length > 0 ? blocks : [{ text: '(no output)' }],
      ...(isError && { status: 'error' }),
    };
    // A result holds no marks; one within it becomes its own.
    const inner = content.findLast((part) => part.cacheControl)?.cacheControl;
    const mark = writeMark(cacheControl ?? inner, toolTraits(this.#traits), this.#ignored);
    return [{ toolResult: result }, ...mark];
  }

  #assistantPart(part: AssistantPart): JsonObject[] {
    switch (part.type) {
      case 'text':
        if (part.citations) this.#ignored.add('citations');
        return this.text(part);
      case 'refusal':
        return this.text({ ...part, type: 'text' });
      case 'image':
        return [];
      case 'tool-call':
        return [
          {
            toolUse: {
              toolUseId: this.#callId(part.id),
              name: part.name,
              input: writeInput(part.arguments),
            },
          },
          ...this.mark(part.cacheControl),
        ];
      case 'thinking': {
        const { text, signature, redacted } = part;
        if (signature?.vendor !== 'anthropic' || this.#traits.claude === null) {
          this.#ignored.add('thinking');
          return [];
        }
        const reasoningContent = redacted
          ? { redactedContent: Buffer.from(signature.value, 'latin1').toString('base64') }
          : { reasoningText: { text, signature: signature.value } };
        return [{ reasoningContent }];
      }
    }
  }

  #callId(id: string): string {
    return this.#traits.hasShortIds ? fitMistralCallId(id) : fitConverseCallId(id);
  }
}

/** A document needs a text beside it. */
function withText(blocks: readonly JsonObject[]): readonly JsonObject[] {
  const [document] = blocks.filter((block) => 'document' in block);
  if (!document || blocks.some((block) => 'text' in block)) return blocks;
  const { name } = document['document'] as { readonly name: string };
  return [...blocks, { text: name }];
}
