// Puts the pieces of a Chat stream, whose text, reasoning and tool calls may come in any order, into blocks that never overlap.
// The first block streams; a tool call that is not complete keeps the others waiting, since its next piece may come after theirs.
import type { UrlCitation } from '../../canonical/citation.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { Signature } from '../../canonical/request.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { UnreadableAnswer } from '../format.ts';

type ToolCallPiece = {
  /** null where the host leaves it out (Mistral). */
  readonly index: number | null;
  /** '' where it is absent. */
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly kind: 'function' | 'custom';
};

type TextKind = 'text' | 'refusal' | 'thinking';
type Block = TextBlock | ToolCallBlock;
type TextBlock = BlockState & {
  readonly kind: TextKind;
  signature: Signature | null;
  readonly redacted: boolean;
  /** How much of the message's text stands ahead of the block. */
  readonly textStart: number;
  /** Those that have not been given out yet; of text alone. */
  citations: UrlCitation[];
};
type ToolCallBlock = BlockState & {
  readonly kind: 'tool-call';
  id: string;
  name: string;
  readonly callKind: 'function' | 'custom';
};
type BlockState = {
  /** Everything so far. Read seldom: it is joined anew each time. */
  text: string;
  /** What has not been given out yet. */
  pending: string;
  status: 'waiting' | 'started' | 'ended';
};

export class BlockQueue {
  #events: StreamEvent[] = [{ type: 'start', usage: null }];
  /** The blocks that have not ended; the first one streams. */
  readonly #blocks: Block[] = [];
  readonly #toolCalls: ToolCallBlock[] = [];
  readonly #toolCallByIndex = new Map<number, ToolCallBlock>();
  #hasRefusal = false;
  #textLength = 0;
  /** Citations that came ahead of their text. */
  #earlyCitations: UrlCitation[] = [];

  get hasToolCalls(): boolean {
    return this.#toolCalls.length > 0;
  }

  get hasRefusal(): boolean {
    return this.#hasRefusal;
  }

  /** The events since the last call; `start` is the first of all. */
  take(): StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  addText(kind: TextKind, text: string): void {
    if (text === '') return;
    if (kind === 'refusal') this.#hasRefusal = true;
    const last = this.#blocks.at(-1);
    // A signature ends its block: what follows is the next one's.
    const isSame = last?.kind === kind && last.signature === null;
    const block = isSame ? last : this.#openText(kind);
    if (kind === 'text') this.#textLength += text.length;
    this.#append(block, text);
  }

  /**
   * Of the text that streams, or comes next: a host may name its sources first. Its span is of the message's whole text.
   */
  addCitation(citation: UrlCitation): void {
    const last = this.#blocks.at(-1);
    if (last?.kind !== 'text') {
      this.#earlyCitations.push(citation);
      return;
    }
    last.citations.push(citationInBlock(citation, last.textStart));
    this.#append(last, '');
  }

  /** The signature of the reasoning that streams. `text` is the whole block where the host repeats it. */
  addSignature(signature: Signature, text: string): void {
    const last = this.#blocks.at(-1);
    const isSame = last?.kind === 'thinking' && last.signature === null;
    const block = isSame ? last : this.#openText('thinking');
    this.#append(block, block.text.endsWith(text) ? '' : text);
    block.signature = signature;
  }

  addHiddenThinking(signature: Signature): void {
    this.#append(this.#openText('thinking', { signature, redacted: true }), '');
  }

  /** Throws UnreadableAnswer when a piece comes for a call that is complete. */
  addToolCall(piece: ToolCallPiece): void {
    const call = this.#findToolCall(piece) ?? this.#openToolCall(piece);
    call.id ||= piece.id;
    call.name ||= piece.name;
    if (call.status === 'ended') {
      if (piece.text.trim() !== '') throw new UnreadableAnswer('arguments came for a tool call that was complete');
      return;
    }
    this.#append(call, piece.text);
  }

  /** Ends every block, in order. Throws UnreadableAnswer when a tool call never got its name. */
  end(): void {
    // Sources that came when their text was over, as after calls, stand at the end of the answer: without any text they have nothing to be of.
    if (this.#earlyCitations.length > 0 && this.#textLength > 0) this.#append(this.#openText('text'), '');
    for (const block of this.#blocks.splice(0)) this.#end(block);
  }

  #openText(
    kind: TextKind,
    thinking: Pick<TextBlock, 'signature' | 'redacted'> = { signature: null, redacted: false },
  ): TextBlock {
    const textStart = this.#textLength;
    const early = kind === 'text' ? this.#earlyCitations.splice(0) : [];
    const citations = early.map((citation) => citationInBlock(citation, textStart));
    return this.#open({ kind, ...newState(), ...thinking, textStart, citations });
  }

  #open<T extends Block>(block: T): T {
    this.#blocks.push(block);
    return block;
  }

  #openToolCall({ index, id, name, kind }: ToolCallPiece): ToolCallBlock {
    const call = this.#open({ kind: 'tool-call' as const, ...newState(), id, name, callKind: kind });
    this.#toolCalls.push(call);
    if (index !== null) this.#toolCallByIndex.set(index, call);
    return call;
  }

  /** The call that a piece continues; undefined for a new one. */
  #findToolCall({ index, id, name }: ToolCallPiece): ToolCallBlock | undefined {
    if (index === null) {
      if (id !== '') return this.#toolCalls.find((call) => call.id === id);
      return name === '' ? this.#toolCalls.at(-1) : undefined;
    }
    const call = this.#toolCallByIndex.get(index);
    // Gemini's compatible endpoint numbers every parallel call 0: another id with a name is another call. Another id alone is not:
    // some hosts make up a new one for every piece.
    const isOther = call && id !== '' && call.id !== '' && id !== call.id && name !== '';
    return isOther ? undefined : call;
  }

  #append(block: Block, text: string): void {
    block.text += text;
    block.pending += text;
    if (block !== this.#blocks[0]) this.#advance();
    if (block === this.#blocks[0]) this.#flush(block);
  }

  /** Ends the streaming block, and those behind it, as far as they are complete and something waits. */
  #advance(): void {
    while (this.#blocks.length > 1 && isComplete(this.#blocks[0]!)) {
      this.#end(this.#blocks.shift()!);
      this.#flush(this.#blocks[0]!);
    }
  }

  #flush(block: Block): void {
    if (block.status === 'waiting') {
      // An id may come after the name, and a name after the id.
      if (block.kind === 'tool-call' && (block.id === '' || block.name === '')) return;
      block.status = 'started';
      this.#events.push(startOf(block));
    }
    if (block.pending !== '') this.#events.push({ type: `${block.kind}-delta`, text: block.pending });
    block.pending = '';
    if (block.kind === 'tool-call') return;
    for (const citation of block.citations.splice(0)) this.#events.push({ type: 'citation', citation });
  }

  #end(block: Block): void {
    if (block.kind === 'tool-call') completeToolCall(block);
    this.#flush(block);
    if (block.kind === 'thinking' && block.signature) {
      this.#events.push({ type: 'thinking-signature', signature: block.signature });
    }
    this.#events.push({ type: `${block.kind}-end` });
    block.status = 'ended';
  }
}

function newState(): BlockState {
  return { text: '', pending: '', status: 'waiting' };
}

/** A span that begins ahead of the block says nothing of it. */
function citationInBlock(citation: UrlCitation, textStart: number): UrlCitation {
  const { span } = citation;
  if (!span || textStart === 0) return citation;
  const isWithin = span.start >= textStart;
  return { ...citation, span: isWithin ? { start: span.start - textStart, end: span.end - textStart } : null };
}

function startOf(block: Block): StreamEvent {
  if (block.kind === 'tool-call') return { type: 'tool-call-start', id: block.id, name: block.name, kind: block.callKind };
  return block.kind === 'thinking' ? { type: 'thinking-start', redacted: block.redacted } : { type: `${block.kind}-start` };
}

/** Whether nothing can follow: arguments that are a whole JSON object. The input of a custom tool may always go on. */
function isComplete(block: Block): boolean {
  if (block.kind !== 'tool-call') return true;
  if (block.callKind === 'custom' || block.name === '' || !block.text.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(block.text);
    return true;
  } catch {
    return false;
  }
}

function completeToolCall(call: ToolCallBlock): void {
  if (call.name === '') throw new UnreadableAnswer('a tool call of the stream has no name');
  if (call.id === '') call.id = newIdWithPrefix('call');
  // Some hosts send nothing for a function without parameters.
  if (call.callKind === 'function' && call.text.trim() === '') call.pending += '{}';
}
