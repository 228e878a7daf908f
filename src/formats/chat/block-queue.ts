// Turns the pieces of a Chat stream into blocks that never overlap: text, reasoning and tool calls
// may arrive in any order. The first block streams. An incomplete tool call makes the others wait,
// because its next piece may come after theirs.
import type { UrlCitation } from '../../canonical/citation.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { MediaSource, Signature } from '../../canonical/request.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { plainArguments } from '../call-arguments.ts';
import { UnreadableAnswer } from '../format.ts';
import { citationInBlock } from './citations.ts';
import { CallsByPiece, isNoCall, isWholeObject, type CallPiece } from './call-pieces.ts';

type TextKind = 'text' | 'refusal' | 'thinking';
type Block = TextBlock | ToolCallBlock;
type TextBlock = BlockState & {
  readonly kind: TextKind;
  signature: Signature | null;
  readonly redacted: boolean;
  /** The length of the message's text before the block. */
  readonly textStart: number;
  /** Only of text: the citations not yet emitted. */
  citations: UrlCitation[];
};
type ToolCallBlock = BlockState & {
  readonly kind: 'tool-call';
  id: string;
  name: string;
  readonly callKind: 'function' | 'custom';
  /** The first character of its text; '' before it has come. */
  first: string;
};
type BlockState = {
  /** Everything so far. Read it seldom: each read joins the pieces anew. */
  text: string;
  /** Not yet emitted. */
  pending: string;
  status: 'waiting' | 'started' | 'ended';
};

export class BlockQueue {
  #events: StreamEvent[] = [{ type: 'start', usage: null }];
  /** The blocks that have not ended. The first one streams. */
  readonly #blocks: Block[] = [];
  readonly #toolCalls = new CallsByPiece<ToolCallBlock>();
  hasRefusal = false;
  /** True when anything of the answer has come. */
  hasBlocks = false;
  readonly #images: StreamEvent[] = [];
  #textLength = 0;
  /** Citations that arrived before their text. */
  #earlyCitations: UrlCitation[] = [];

  get hasToolCalls(): boolean {
    return this.#toolCalls.all.some(({ name }) => name !== '');
  }

  /** Returns the events since the last call. `start` is the very first. */
  take(): StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  addText(kind: TextKind, text: string): void {
    if (text === '') return;
    if (kind === 'refusal') this.hasRefusal = true;
    const block = this.#textOf(kind);
    if (kind === 'text') this.#textLength += text.length;
    this.#append(block, text);
  }

  /**
   * Adds a citation of the streaming text or, because a host may send its sources first, of the
   * next one. Its span refers to the message's whole text.
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

  /** Signs the streaming reasoning. `text`: the whole block, if the host repeats it. */
  addSignature(signature: Signature, text: string): void {
    const block = this.#textOf('thinking');
    this.#append(block, block.text.endsWith(text) ? '' : text);
    block.signature = signature;
  }

  /** Images follow all other blocks. */
  addImage(source: MediaSource): void {
    this.hasBlocks = true;
    this.#images.push({ type: 'image', source });
  }

  addHiddenThinking(signature: Signature): void {
    this.#append(this.#openText('thinking', { signature, redacted: true }), '');
  }

  /** Throws UnreadableAnswer when a piece belongs to a complete call. */
  addToolCall(piece: CallPiece): void {
    const call = this.#toolCalls.find(piece) ?? this.#openToolCall(piece);
    call.id ||= piece.id;
    call.name ||= piece.name;
    if (call.status === 'ended') {
      if (piece.text.trim() !== '')
        throw new UnreadableAnswer('arguments arrived for a complete tool call');
      return;
    }
    call.first ||= piece.text.trimStart().charAt(0);
    this.#append(call, piece.text);
  }

  /** Ends every block, in order. Throws UnreadableAnswer when a tool call with arguments has no name. */
  end(): void {
    // Sources that arrive after their text, as after calls, go to the end of the answer. Without
    // any text they are dropped.
    if (this.#earlyCitations.length > 0 && this.#textLength > 0)
      this.#append(this.#openText('text'), '');
    for (const block of this.#blocks.splice(0))
      if (block.kind !== 'tool-call' || !isNoCall(block)) this.#end(block);
    this.#events.push(...this.#images);
  }

  /** A signature ends its block: what follows belongs to the next one. */
  #textOf(kind: TextKind): TextBlock {
    const last = this.#blocks.at(-1);
    return last?.kind === kind && last.signature === null ? last : this.#openText(kind);
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
    this.hasBlocks = true;
    return block;
  }

  #openToolCall(piece: CallPiece): ToolCallBlock {
    const { id, name, kind } = piece;
    const call = this.#open({
      kind: 'tool-call' as const,
      ...newState(),
      id,
      name,
      callKind: kind,
      first: '',
    });
    this.#toolCalls.add(call, piece);
    return call;
  }

  #append(block: Block, text: string): void {
    block.text += text;
    block.pending += text;
    if (block !== this.#blocks[0]) this.#advance();
    if (block === this.#blocks[0]) this.#flush(block);
  }

  /**
   * Ends the streaming block and those behind it, as long as they are complete and another one
   * waits.
   */
  #advance(): void {
    while (this.#blocks.length > 1 && isComplete(this.#blocks[0]!)) {
      this.#end(this.#blocks.shift()!);
      this.#flush(this.#blocks[0]!);
    }
  }

  #flush(block: Block): void {
    if (block.status === 'waiting') {
      // The id may arrive after the name, or the name after the id.
      if (block.kind === 'tool-call' && (block.id === '' || block.name === '')) return;
      block.status = 'started';
      this.#events.push(startOf(block));
    }
    if (block.kind === 'tool-call' && !isStreamable(block)) return;
    if (block.pending !== '')
      this.#events.push({ type: `${block.kind}-delta`, text: block.pending });
    block.pending = '';
    if (block.kind === 'tool-call') return;
    for (const citation of block.citations.splice(0))
      this.#events.push({ type: 'citation', citation });
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

function startOf(block: Block): StreamEvent {
  if (block.kind === 'tool-call')
    return { type: 'tool-call-start', id: block.id, name: block.name, kind: block.callKind };
  return block.kind === 'thinking'
    ? { type: 'thinking-start', redacted: block.redacted }
    : { type: `${block.kind}-start` };
}

/**
 * Returns true when nothing can follow: the arguments are a whole JSON object. The input of a
 * custom tool may always continue.
 */
function isComplete(block: Block): boolean {
  if (block.kind !== 'tool-call') return true;
  return block.callKind === 'function' && block.name !== '' && isWholeObject(block.text);
}

function completeToolCall(call: ToolCallBlock): void {
  if (call.name === '') throw new UnreadableAnswer('a tool call of the stream has no name');
  if (call.id === '') call.id = newIdWithPrefix('call');
  if (isStreamable(call)) return;
  call.first = '{';
  call.pending = plainArguments(call.pending);
}

/** A function's arguments wait when they do not begin as an object. */
function isStreamable({ callKind, first }: ToolCallBlock): boolean {
  return callKind === 'custom' || first === '{';
}
