// Reasoning that models write at the start of their text, between `<think>` and `</think>`: MiniMax,
// Perplexity, and servers of the operator's own without a parser for it. Translation reads it as
// reasoning; the straight path passes the text as it came.

const open = '<think>';
const close = '</think>';
/** Longer white space is not held back, so that each piece is searched once. */
const spaceMax = 64;

export type Tagged = { readonly thinking: string; readonly text: string };

/** Splits the pieces of one text. */
export class ThinkTags {
  #state: 'start' | 'opened' | 'thinking' | 'after' | 'text' = 'start';
  /** What may be part of a tag, or the white space before one. */
  #held = '';
  #lengthIn = 0;
  #textLength = 0;

  /** How much of what came so far is no text: citations count from the start of the whole. */
  get textStart(): number {
    return this.#lengthIn - this.#held.length - this.#textLength;
  }

  /** What follows is text: the host has sent the reasoning in a field of its own. */
  skip(): void {
    if (this.#state === 'start') this.#state = 'text';
  }

  push(piece: string): Tagged {
    const read = this.#read(piece);
    this.#lengthIn += piece.length;
    this.#textLength += read.text.length;
    return read;
  }

  #read(piece: string): Tagged {
    if (this.#state === 'text' && this.#held === '') return { thinking: '', text: piece };
    let rest = this.#held + piece;
    let thinking = '';
    this.#held = '';
    if (this.#state === 'start') {
      const trimmed = rest.trimStart();
      if (trimmed.startsWith(open)) {
        this.#state = 'opened';
        rest = trimmed.slice(open.length);
      } else if (open.startsWith(trimmed) && rest.length <= spaceMax) return this.#hold(rest);
      else this.#state = 'text';
    }
    if (this.#state === 'opened') {
      rest = rest.trimStart();
      if (rest !== '') this.#state = 'thinking';
    }
    if (this.#state === 'thinking') {
      const end = rest.indexOf(close);
      const kept = end === -1 ? settledLength(rest) : end;
      thinking = end === -1 ? rest.slice(0, kept) : rest.slice(0, end).trimEnd();
      if (end === -1) return this.#hold(rest.slice(kept), thinking);
      this.#state = 'after';
      rest = rest.slice(end + close.length);
    }
    if (this.#state === 'after') {
      rest = rest.trimStart();
      if (rest !== '') this.#state = 'text';
    }
    return { thinking, text: this.#state === 'opened' ? '' : rest };
  }

  /** Returns what is held back: a call or the end follows. */
  end(): Tagged {
    const held = this.#held;
    const isThought = this.#state === 'thinking';
    this.#held = '';
    this.#state = 'text';
    if (!isThought) this.#textLength += held.length;
    return isThought ? { thinking: held, text: '' } : { thinking: '', text: held };
  }

  #hold(held: string, thinking = ''): Tagged {
    this.#held = held;
    return { thinking, text: '' };
  }
}

/** Returns how much of a thought can be no part of its end. */
function settledLength(text: string): number {
  const tag = text.lastIndexOf('<');
  const mayClose = tag !== -1 && close.startsWith(text.slice(tag));
  const end = mayClose ? tag : text.length;
  const settled = text.slice(0, end).trimEnd().length;
  return text.length - settled > spaceMax ? end : settled;
}
