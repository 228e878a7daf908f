// Emulates stop sequences. Searches the answer's text as it arrives and cuts it before the first
// completed sequence, where a model would have stopped. Reasoning and call arguments are not
// searched.
import { invalidRequest } from '../../canonical/errors.ts';
import type { Citation } from '../../canonical/citation.ts';
import { deltaOf } from '../../canonical/answer.ts';
import type { StreamEvent } from '../../canonical/event.ts';
import type { Stop } from '../../canonical/stop.ts';

const sequencesMax = 64;
const charactersMax = 1_000;

/**
 * Returns the sequences to search for. Leaves out sequences that are not valid Unicode, because
 * they would match half a character. Throws ApiError `invalid_request` when the search would cost
 * too much.
 */
export function searchedStops(sequences: readonly string[]): readonly string[] {
  if (sequences.length > sequencesMax || sequences.some(({ length }) => length > charactersMax)) {
    const most = `at most ${sequencesMax} stop sequences of at most ${charactersMax} characters`;
    throw invalidRequest('stop', `stop: this model takes ${most}`);
  }
  return sequences.filter((sequence) => sequence !== '' && sequence.isWellFormed());
}

/** `shown`: the text before the sequence. `rest`: the sequence and what follows. */
type Cut = {
  readonly shown: string;
  readonly found: { readonly sequence: string; readonly rest: string } | null;
};

/**
 * Searches a text that arrives in pieces. Holds back only what may be the beginning of a sequence.
 */
export class StopSearch {
  readonly #automata: readonly Automaton[];

  constructor(sequences: readonly string[]) {
    this.#automata = sequences.map((sequence) => new Automaton(sequence));
  }

  /** Returns the text to show now. Push nothing more after a sequence was found. */
  push(text: string): Cut {
    const before = this.#held;
    for (let index = 0; index < text.length; index++) {
      const sequence = this.#step(text.charCodeAt(index));
      if (sequence === null) continue;
      const end = index + 1;
      const shown = slice(before, text, end - sequence.length);
      return { shown, found: { sequence, rest: sequence + text.slice(end) } };
    }
    return { shown: slice(before, text, text.length - this.#held.length), found: null };
  }

  /** Called at the end of the text. Returns the text that was held back. */
  end(): string {
    const held = this.#held;
    for (const automaton of this.#automata) automaton.matched = 0;
    return held;
  }

  /** Returns the longest sequence that the character completes. */
  #step(code: number): string | null {
    let longest: string | null = null;
    for (const automaton of this.#automata) {
      // Almost always: nothing has begun, and nothing begins.
      if (automaton.matched === 0 && automaton.first !== code) continue;
      if (automaton.step(code) && automaton.sequence.length > (longest?.length ?? 0))
        longest = automaton.sequence;
    }
    return longest;
  }

  /** The text pushed but not yet shown: the beginning of a sequence. */
  get #held(): string {
    let held = '';
    for (const { sequence, matched } of this.#automata)
      if (matched > held.length) held = sequence.slice(0, matched);
    return held;
  }
}

/**
 * Joins `before` and `text` and cuts them at `end`, an index into `text`; negative indices are in
 * `before`.
 */
function slice(before: string, text: string, end: number): string {
  return end < 0 ? before.slice(0, end) : before + text.slice(0, end);
}

/**
 * Finds one sequence with the Knuth–Morris–Pratt algorithm: at most two comparisons per character
 * on average.
 */
class Automaton {
  readonly sequence: string;
  /** The code of its first character. */
  readonly first: number;
  /** The length of the sequence's prefix that the text ends with. */
  matched = 0;
  /** For each matched length, the next shorter one that the text ends with too. */
  readonly #shorter: Uint16Array;

  constructor(sequence: string) {
    this.sequence = sequence;
    this.first = sequence.charCodeAt(0);
    this.#shorter = new Uint16Array(sequence.length + 1);
    for (let length = 2, matched = 0; length <= sequence.length; length++) {
      const code = sequence.charCodeAt(length - 1);
      while (matched > 0 && sequence.charCodeAt(matched) !== code)
        matched = this.#shorter[matched]!;
      if (sequence.charCodeAt(matched) === code) matched += 1;
      this.#shorter[length] = matched;
    }
  }

  /** Returns true when the character completes the sequence. */
  step(code: number): boolean {
    while (this.matched > 0 && this.sequence.charCodeAt(this.matched) !== code)
      this.matched = this.#shorter[this.matched]!;
    if (this.sequence.charCodeAt(this.matched) === code) this.matched += 1;
    return this.matched === this.sequence.length;
  }
}

/** Cuts the events of one stream, pushed one after another. */
export class StreamCut {
  /** The stop reason, once a sequence was found. */
  stop: Stop | null = null;
  /** The characters shown of the text; less than 0 behind the end of one that was cut. */
  #shown = 0;
  readonly #search: StopSearch;
  readonly #drop: (event: StreamEvent) => void;

  /** Calls `drop` with output that was generated but is not shown. */
  constructor(sequences: readonly string[], drop: (event: StreamEvent) => void) {
    this.#search = new StopSearch(sequences);
    this.#drop = drop;
  }

  /**
   * After a sequence was found, only the upstream's `finish` passes, for its usage, and citations
   * of what is shown.
   */
  push(event: StreamEvent): readonly StreamEvent[] {
    if (this.stop) return this.#readOn(event, this.stop);
    if (event.type === 'text-start') this.#shown = 0;
    if (event.type === 'text-delta') return this.#searchText(event.text);
    if (event.type === 'text-end') return [...deltaOf(this.#search.end()), event];
    return [event];
  }

  #searchText(text: string): readonly StreamEvent[] {
    const { shown, found } = this.#search.push(text);
    this.#shown += shown.length;
    if (!found) return deltaOf(shown);
    this.stop = { reason: 'stop-sequence', sequence: found.sequence };
    this.#drop({ type: 'text-delta', text: found.rest });
    return [...deltaOf(shown), { type: 'text-end' }];
  }

  #readOn(event: StreamEvent, stop: Stop): readonly StreamEvent[] {
    if (event.type === 'finish') return [{ ...event, stop }];
    // A whole answer's citations stand behind their text.
    if (event.type === 'citation' && this.#isShown(event.citation)) return [event];
    if (event.type === 'text-end') this.#shown = -1;
    this.#drop(event);
    return [];
  }

  #isShown(citation: Citation): boolean {
    const span = citation.type === 'url' ? citation.span : null;
    return (span?.end ?? 0) <= this.#shown;
  }
}
