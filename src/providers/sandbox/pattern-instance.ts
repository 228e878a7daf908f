// Makes a text that matches a regular expression without running it, because a client's expression
// can take hours. Supports literals, classes, groups, alternatives and quantifiers, with ^ and $ at
// the ends; anything else is refused by name. A pattern is read once, in linear time.
import { NoInstance } from './schema-flatten.ts';

/** Returns a match of `min` to `max` characters. Throws NoInstance when it cannot make one. */
export function makeMatch(
  pattern: string,
  { min, max }: { readonly min: number; readonly max: number },
): string {
  if (min > lengthMinMax || pattern.length > patternMax)
    throw new NoInstance(`its pattern \`${pattern.slice(0, 40)}\` is too large`);
  const pieces = new Reader(pattern).read();
  const extra = findExtra(pieces, min);
  const length = lengthOf(pieces, extra);
  if (length < min || length > max)
    throw new NoInstance(
      `the sandbox finds no text of the right length for the pattern \`${pattern}\``,
    );
  if (length > textMax)
    throw new NoInstance(`its pattern \`${pattern.slice(0, 40)}\` makes a text that is too long`);
  return writeText(pieces, extra);
}

/** A literal text, or a group, and how often it is repeated. */
type Piece = { readonly of: string | readonly Piece[]; readonly min: number; readonly max: number };

/**
 * Returns how many more times than necessary each repetition is written, so that the text has at
 * least `min` characters: the smallest such number up to `min`, found by halving.
 */
function findExtra(pieces: readonly Piece[], min: number): number {
  let [low, high] = [0, min];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lengthOf(pieces, middle) < min) low = middle + 1;
    else high = middle;
  }
  return low;
}

function timesOf({ min, max }: Piece, extra: number): number {
  return Math.min(min + extra, max);
}

/** The number of characters; of long texts only that they are longer than `textMax`. */
function lengthOf(pieces: readonly Piece[], extra: number): number {
  let length = 0;
  for (const piece of pieces) {
    const one = typeof piece.of === 'string' ? 1 : lengthOf(piece.of, extra);
    length = Math.min(length + one * timesOf(piece, extra), textMax + 1);
  }
  return length;
}

function writeText(pieces: readonly Piece[], extra: number): string {
  return pieces
    .map((piece) => {
      const times = timesOf(piece, extra);
      // What is left out may be longer than a string can be.
      if (times === 0) return '';
      return (typeof piece.of === 'string' ? piece.of : writeText(piece.of, extra)).repeat(times);
    })
    .join('');
}

const textMax = 20_000;
const patternMax = 2_000;
const lengthMinMax = 500;
/** Groups in each other. */
const depthMax = 100;
const classes: Readonly<Record<string, string>> = {
  d: '0',
  w: 'a',
  s: ' ',
  D: 'a',
  W: ' ',
  S: 'a',
};
const escapes: Readonly<Record<string, string>> = {
  t: '\t',
  n: '\n',
  r: '\r',
  f: '\f',
  v: '\v',
  '0': '\0',
};
/** Candidates for a negated class. */
const candidates = Array.from('aA0_- .,:;/@#!?*+=<>|~^$%&()[]{}\'"`\\\n\t§é');

/** Reads a pattern from left to right. */
class Reader {
  readonly #pattern: string;
  readonly #characters: readonly string[];
  #index = 0;
  #depth = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
    this.#characters = Array.from(pattern);
  }

  read(): readonly Piece[] {
    const pieces = this.#readAlternatives(true);
    if (this.#index < this.#characters.length) throw this.#refuse('an unmatched )');
    return pieces;
  }

  /**
   * Takes the first alternative and skips the others. Anchors are valid only at the ends of the
   * whole pattern.
   */
  #readAlternatives(isWhole: boolean): readonly Piece[] {
    const first = this.#readSequence(isWhole);
    while (this.#takes('|')) this.#readSequence(isWhole);
    return first;
  }

  #readSequence(isWhole: boolean): readonly Piece[] {
    const pieces: Piece[] = [];
    if (isWhole) this.#takes('^');
    while (!this.#isAtEnd()) {
      if (isWhole && this.#takes('$')) {
        if (!this.#isAtEnd()) throw this.#refuse('$ before its end');
        break;
      }
      const of = this.#readAtom();
      pieces.push({ of, ...this.#readQuantifier() });
    }
    return pieces;
  }

  #readAtom(): Piece['of'] {
    const character = this.#take();
    switch (character) {
      case '(':
        return this.#readGroup();
      case '[':
        return this.#readClass();
      case '.':
        return 'a';
      case '\\':
        return this.#readEscape();
      case '^':
      case '$':
      case '*':
      case '+':
      case '?':
      case '{':
        throw this.#refuse(`${character} where it stands`);
      default:
        return character;
    }
  }

  #readGroup(): readonly Piece[] {
    if (++this.#depth > depthMax) throw this.#refuse('so many groups in each other');
    if (this.#takes('?')) this.#readGroupKind();
    const pieces = this.#readAlternatives(false);
    if (!this.#takes(')')) throw this.#refuse('a group without its end');
    this.#depth--;
    return pieces;
  }

  #readGroupKind(): void {
    if (this.#takes(':')) return;
    if (!this.#takes('<') || this.#peek() === '=' || this.#peek() === '!')
      throw this.#refuse('a lookaround');
    while (this.#take() !== '>');
  }

  #readEscape(): string {
    const character = this.#take();
    if (Object.hasOwn(classes, character)) return classes[character]!;
    if (Object.hasOwn(escapes, character)) return escapes[character]!;
    if (character === 'u' || character === 'x') return this.#readCodePoint(character);
    if (/[\w]/.test(character)) throw this.#refuse(`\\${character}`);
    return character;
  }

  #readCodePoint(kind: 'u' | 'x'): string {
    const found = (kind === 'x' ? /^([\da-f]{2})/i : /^(?:([\da-f]{4})|\{([\da-f]{1,6})\})/i).exec(
      this.#characters.slice(this.#index, this.#index + 8).join(''),
    );
    const code = Number.parseInt(found?.[1] ?? found?.[2] ?? '', 16);
    if (!found || !(code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff))
      throw this.#refuse(`\\${kind}`);
    this.#index += found[0].length;
    return String.fromCodePoint(code);
  }

  #readClass(): string {
    const isNegated = this.#takes('^');
    const members: ClassMember[] = [];
    while (!this.#takes(']')) members.push(this.#readMember());
    if (!isNegated && members[0]) return members[0].from;
    const free = isNegated
      ? candidates.find((character) => !members.some((member) => contains(member, character)))
      : undefined;
    if (free === undefined) throw this.#refuse('a class without a usable character');
    return free;
  }

  #readMember(): ClassMember {
    const from = this.#readClassCharacter();
    const isRange = !from.set && this.#peek() === '-' && this.#peek(1) !== ']';
    if (!isRange) return { from: from.text, to: from.text, set: from.set };
    this.#take();
    const to = this.#readClassCharacter();
    if (to.set || to.text < from.text) throw this.#refuse('a broken range');
    return { from: from.text, to: to.text, set: null };
  }

  #readClassCharacter(): { readonly text: string; readonly set: string | null } {
    const character = this.#take();
    if (character !== '\\') return { text: character, set: null };
    const next = this.#peek();
    if (next === 'b') throw this.#refuse('\\b in a class');
    return {
      text: this.#readEscape(),
      set: next !== undefined && Object.hasOwn(classes, next) ? next : null,
    };
  }

  #readQuantifier(): Omit<Piece, 'of'> {
    const times = this.#readTimes();
    if (times === null) return { min: 1, max: 1 };
    this.#takes('?');
    return times;
  }

  /** How often the atom before is repeated; null without a quantifier. */
  #readTimes(): Omit<Piece, 'of'> | null {
    if (this.#takes('*')) return { min: 0, max: Infinity };
    if (this.#takes('+')) return { min: 1, max: Infinity };
    if (this.#takes('?')) return { min: 0, max: 1 };
    if (this.#peek() !== '{') return null;
    const found = /^\{(\d{1,6})(,(\d{0,6}))?\}/.exec(
      this.#characters.slice(this.#index, this.#index + 16).join(''),
    );
    if (!found) throw this.#refuse('{ where it stands');
    this.#index += found[0].length;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] === '' ? Infinity : Number(found[3]);
    return { min, max };
  }

  #isAtEnd(): boolean {
    const next = this.#peek();
    return next === undefined || next === '|' || next === ')';
  }

  #peek(ahead = 0): string | undefined {
    return this.#characters[this.#index + ahead];
  }

  #take(): string {
    const character = this.#characters[this.#index++];
    if (character === undefined) throw this.#refuse('an end where more is expected');
    return character;
  }

  #takes(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#index++;
    return true;
  }

  #refuse(what: string): NoInstance {
    return new NoInstance(
      `the sandbox does not work out ${what} in the pattern \`${this.#pattern}\``,
    );
  }
}

/** `set`: the letter of a class escape, such as d of \d. */
type ClassMember = { readonly from: string; readonly to: string; readonly set: string | null };

const sets: Readonly<Record<string, RegExp>> = {
  d: /\d/,
  w: /\w/,
  s: /\s/,
  D: /\D/,
  W: /\W/,
  S: /\S/,
};

function contains({ from, to, set }: ClassMember, character: string): boolean {
  return set === null ? character >= from && character <= to : sets[set]!.test(character);
}
