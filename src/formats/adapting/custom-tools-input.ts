// Decodes the string in `{"input":"…"}` while it arrives, split anywhere. Models make mistakes:
// arguments in another form are passed on as text, so that the tool sees what the model wrote.
import { isObject, objectOf, parsedOr } from '../../lib/json.ts';

const head = '{"input":"';
/** Between the key's quotes, white space would be part of the key. */
const keyStart = 2;
const keyEnd = 8;
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

export class CustomInputDecoder {
  /**
   * `head`: before the text. `other`: some other JSON, read at its end. `raw`: not JSON. `tail`:
   * after the closing quote.
   */
  #state: 'head' | 'text' | 'tail' | 'other' | 'raw' = 'head';
  /** The number of characters of `head` that have arrived. */
  #matched = 0;
  /** In `head` and `other` everything that arrived; in `tail` what follows the closing quote. */
  #held = '';
  /** An incomplete escape, such as `\u00`. */
  #escape = '';
  /** The first half of a surrogate pair: alone it would not be valid text in an event. */
  #highSurrogate = '';

  /** Returns the text that is certain so far. */
  push(text: string): string {
    let output = '';
    let rest = text;
    if (this.#state === 'head') rest = this.#readHead(rest);
    if (this.#state === 'raw') return this.#complete(rest);
    if (this.#state === 'text') [output, rest] = this.#readText(rest);
    if (this.#state === 'tail' || this.#state === 'other') this.#held += rest;
    return this.#complete(output);
  }

  /** Called at the end of the arguments. Returns the rest of the text. */
  end(): string {
    const rest = this.#lastText();
    const last = (this.#highSurrogate + rest).toWellFormed();
    this.#highSurrogate = '';
    return last;
  }

  /**
   * Returns what follows the head, '' while the head is incomplete. When it turns out not to be the
   * head, returns everything that arrived, for the new state.
   */
  #readHead(text: string): string {
    for (let index = 0; index < text.length; index++) {
      if (text[index] === head[this.#matched]) this.#matched++;
      else if (!this.#isSpaceBetween(text[index]!)) return this.#leaveHead(text);
      if (this.#matched === head.length) {
        this.#state = 'text';
        this.#held = '';
        return text.slice(index + 1);
      }
    }
    this.#held += text;
    return '';
  }

  #isSpaceBetween(character: string): boolean {
    const isInKey = this.#matched >= keyStart && this.#matched < keyEnd;
    return !isInKey && /[ \t\r\n]/.test(character);
  }

  /** Text that does not begin as an object is passed on as it arrives. */
  #leaveHead(text: string): string {
    this.#state = this.#matched === 0 ? 'raw' : 'other';
    const all = this.#held + text;
    this.#held = '';
    return all;
  }

  /** Returns the decoded text, and what follows its closing quote. */
  #readText(text: string): [output: string, rest: string] {
    let output = '';
    let index = 0;
    while (index < text.length) {
      const character = text[index++]!;
      if (this.#escape !== '') output += this.#readEscape(character);
      else if (character === '\\') this.#escape = character;
      else if (character === '"') {
        this.#state = 'tail';
        return [output, text.slice(index)];
      } else {
        const end = plainEnd(text, index);
        output += text.slice(index - 1, end);
        index = end;
      }
    }
    return [output, ''];
  }

  /**
   * Adds a character to an escape. Returns the decoded character when the escape is complete. An
   * invalid escape is text.
   */
  #readEscape(character: string): string {
    this.#escape += character;
    if (/^\\u[\da-f]{0,3}$/i.test(this.#escape)) return '';
    const escape = this.#escape;
    this.#escape = '';
    if (escape.length === 6 && /^\\u[\da-f]{4}$/i.test(escape))
      return String.fromCharCode(Number.parseInt(escape.slice(2), 16));
    return escape.length === 2 ? (escapes[character] ?? escape) : escape;
  }

  #lastText(): string {
    switch (this.#state) {
      case 'head':
        return this.#held;
      case 'other':
        return inputOf(this.#held) ?? this.#held;
      case 'tail':
        return isTail(this.#held) ? '' : `"${this.#held.replace(/"\s*\}\s*$/, '')}`;
      case 'text':
      case 'raw':
        return '';
    }
  }

  #complete(text: string): string {
    const all = this.#highSurrogate + text;
    const last = all.charCodeAt(all.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#highSurrogate = isHalf ? all.slice(-1) : '';
    return (isHalf ? all.slice(0, -1) : all).toWellFormed();
  }
}

function plainEnd(text: string, start: number): number {
  const special = /["\\]/g;
  special.lastIndex = start;
  return special.exec(text)?.index ?? text.length;
}

/** Reads the input of an object that has other members before it. */
function inputOf(text: string): string | null {
  const { input } = objectOf(parsedOr(text, null));
  return typeof input === 'string' ? input : null;
}

/**
 * Returns true when the object ends properly or was cut off there. If the model forgot to escape a
 * quote, text follows instead.
 */
function isTail(text: string): boolean {
  return text.trim() === '' || isObject(parsedOr(`{"input":""${text}`, null));
}
