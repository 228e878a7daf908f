// Emulates JSON mode for upstreams without one. The model is told to answer with an object; what it
// writes around the object (a code fence, a sentence) is removed. A forced tool call, which other
// gateways use, is refused while the model thinks and excludes the client's own tools:
// https://github.com/BerriAI/litellm/issues/8901 (read 2026-11-23).
import { deltaOf } from '../../canonical/answer.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { Message, TextPart } from '../../canonical/request.ts';

export const jsonInstruction: TextPart = {
  type: 'text',
  text: 'Answer with a single JSON object and nothing else: no words around it, no code fence.',
};

/**
 * Returns the instruction when no text names JSON: OpenAI, DeepSeek and DashScope refuse JSON mode then.
 * `system`: the instructions that such a host looks at. Of the messages only the user's first counts:
 * were it for a later one, the beginning of the conversation would change and the prompt cache miss.
 */
export function missingInstruction(
  system: readonly TextPart[],
  messages: readonly Message[],
): readonly TextPart[] {
  const first = messages.find(({ role }) => role === 'user')?.content ?? [];
  const namesJson = (part: object) =>
    'text' in part && typeof part.text === 'string' && /json/i.test(part.text);
  return system.some(namesJson) || first.some(namesJson) ? [] : [jsonInstruction];
}

/** The most text that may come before the object. */
const preludeCharactersMax = 4_000;

/**
 * Finds the first object in a text that arrives in pieces. A text without an object is shown
 * unchanged, once it has ended or is too long for a preface.
 */
export class ObjectSearch {
  #state: 'before' | 'inside' | 'after' | 'none' = 'before';
  /** Text held back so far. It has no object yet, but its last brace may begin one. */
  #prelude = '';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** Returns the text to show now, and the text that is dropped. */
  push(text: string): { readonly shown: string; readonly dropped: string } {
    switch (this.#state) {
      case 'before':
        return this.#findStart(text);
      case 'inside':
        return this.#readObject(text);
      case 'after':
        return { shown: '', dropped: text };
      case 'none':
        return { shown: text, dropped: '' };
    }
  }

  /** Called at the end of a text block. Returns the text that was held back. */
  end(): string {
    const held = this.#prelude;
    this.#prelude = '';
    return held;
  }

  #findStart(text: string): { readonly shown: string; readonly dropped: string } {
    const from = Math.max(this.#prelude.trimEnd().length - 1, 0);
    this.#prelude += text;
    const start = findObject(this.#prelude, from);
    if (start === -1) {
      if (this.#prelude.length <= preludeCharactersMax) return { shown: '', dropped: '' };
      this.#state = 'none';
      return { shown: this.end(), dropped: '' };
    }
    this.#state = 'inside';
    const prelude = this.end();
    const { shown, dropped } = this.#readObject(prelude.slice(start));
    return { shown, dropped: prelude.slice(0, start) + dropped };
  }

  #readObject(text: string): { readonly shown: string; readonly dropped: string } {
    for (let index = 0; index < text.length; index++) {
      if (!this.#closes(text[index]!)) continue;
      this.#state = 'after';
      return { shown: text.slice(0, index + 1), dropped: text.slice(index + 1) };
    }
    return { shown: text, dropped: '' };
  }

  /** Returns true when the character ends the object. */
  #closes(character: string): boolean {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === '\\') this.#isEscaped = true;
      else if (character === '"') this.#isInString = false;
      return false;
    }
    if (character === '"') this.#isInString = true;
    else if (character === '{') this.#depth += 1;
    else if (character === '}') this.#depth -= 1;
    return this.#depth === 0;
  }
}

/** Returns the index of a `{` followed by `"` or `}`, or −1. Braces in sentences do not count. */
function findObject(text: string, from: number): number {
  for (let start = text.indexOf('{', from); start !== -1; start = text.indexOf('{', start + 1)) {
    const next = /\S/g;
    next.lastIndex = start + 1;
    const [first] = next.exec(text) ?? [];
    if (first === '"' || first === '}') return start;
  }
  return -1;
}

/**
 * Removes the text around the object from one stream's events. Calls `drop` with what it removes.
 */
export function keepObject(
  drop: (event: StreamEvent) => void,
): (event: StreamEvent) => readonly StreamEvent[] {
  const search = new ObjectSearch();
  return (event) => {
    if (event.type === 'text-end') return [...deltaOf(search.end()), event];
    if (event.type !== 'text-delta') return [event];
    const { shown, dropped } = search.push(event.text);
    if (dropped !== '') drop({ type: 'text-delta', text: dropped });
    return deltaOf(shown);
  };
}
