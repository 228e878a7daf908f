// Makes a text that matches a regular expression without running it, because a client's expression
// can take hours. Takes the first alternative and the fewest repetitions, reads ^ and $ at the ends
// only, and refuses by name what it cannot work out. A pattern is read once, in linear time.
import { append } from '../../lib/append.ts';
import { NoInstance, spend, spendItems, type Scope } from './schema-flatten.ts';

/** A text, and how often it may be repeated. */
type Piece = { readonly text: string; readonly min: number; readonly max: number };

const textMax = 20_000;
/** Groups in each other. */
const depthMax = 100;

/**
 * Returns a match of `min` to `max` characters. Throws NoInstance when it cannot make one. Costs steps
 * for the pattern and for the text: a short pattern may make a long one.
 */
export function makeMatch(
  pattern: string,
  { min, max }: { readonly min: number; readonly max: number },
  scope: Scope,
): string {
  spend(scope, pattern.length);
  const text = write(lengthen(new Reader(pattern).read(), min));
  spendItems(scope, text.length);
  const length = lengthOf(text);
  if (length >= min && length <= max && text.isWellFormed()) return text;
  throw new NoInstance(
    `the sandbox finds no text of the right length for the pattern \`${pattern}\``,
  );
}

/** Repeats what may be repeated, from the left, until the text has `min` characters. */
function lengthen(pieces: readonly Piece[], min: number): readonly Piece[] {
  let missing = min - lengthOf(write(pieces));
  return pieces.map((piece) => {
    const { text, min: times, max } = piece;
    if (missing <= 0 || max <= times || text === '') return piece;
    const more = Math.min(Math.ceil(missing / lengthOf(text)), max - times);
    missing -= more * lengthOf(text);
    return { text, min: times + more, max };
  });
}

function write(pieces: readonly Piece[]): string {
  if (pieces.reduce((sum, { text, min }) => sum + text.length * min, 0) > textMax)
    throw new NoInstance('its pattern makes a text that is too long');
  return pieces.map(({ text, min }) => text.repeat(min)).join('');
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}

/** A quantifier, the start of a group, a class, an escape, or one character. */
const tokens =
  /[*+?]\??|\{\d{1,6}(?:,\d{0,6})?\}\??|\((?:\?(?::|<\w+>)?)?|\[(?:\\[^]|[^\]\\])*\]?|\\(?:u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[pP]\{[\w=]*\}|[^])?|[^]/gu;

/** Reads a pattern from left to right. */
class Reader {
  readonly #pattern: string;
  readonly #tokens: readonly string[];
  #index = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
    this.#tokens = pattern.match(tokens) ?? [];
  }

  read(): readonly Piece[] {
    const pieces = this.#readAlternatives(0);
    return this.#index < this.#tokens.length ? this.#refuse('an unmatched )') : pieces;
  }

  #readAlternatives(depth: number): readonly Piece[] {
    const first = this.#readSequence(depth);
    while (this.#takes('|')) this.#readSequence(depth);
    return first;
  }

  #readSequence(depth: number): readonly Piece[] {
    const pieces: Piece[] = [];
    if (depth === 0) this.#takes('^');
    while (!this.#isAtEnd()) {
      if (depth === 0 && this.#takes('$'))
        return this.#isAtEnd() ? pieces : this.#refuse('$ before its end');
      const atom = this.#readAtom(depth);
      const times = this.#readTimes();
      // The pieces of a group that stands once are kept apart, so that each may be repeated.
      if (times.min === 1 && times.max === 1) append(pieces, atom);
      else pieces.push({ text: write(atom), ...times });
    }
    return pieces;
  }

  #readAtom(depth: number): readonly Piece[] {
    const token = this.#tokens[this.#index++]!;
    if (token.startsWith('(')) return this.#readGroup(token, depth + 1);
    if (/^[*+?{^$]/.test(token)) this.#refuse(`${token} where it stands`);
    const isPlain = !/^[\\[]/.test(token);
    const text = isPlain ? token.replace('.', 'a') : (findCharacter(token) ?? this.#refuse(token));
    return [{ text, min: 1, max: 1 }];
  }

  #readGroup(start: string, depth: number): readonly Piece[] {
    if (start === '(?') this.#refuse('a lookaround');
    if (depth > depthMax) this.#refuse('so many groups in each other');
    const pieces = this.#readAlternatives(depth);
    return this.#takes(')') ? pieces : this.#refuse('a group without its end');
  }

  /** How often the atom before is repeated. */
  #readTimes(): Omit<Piece, 'text'> {
    const found = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??$/.exec(this.#tokens[this.#index] ?? '');
    if (!found) return { min: 1, max: 1 };
    this.#index++;
    const [, sign, least, comma, most] = found;
    if (sign !== undefined) return { min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity };
    return { min: Number(least), max: Number((comma ? most : least) || Infinity) };
  }

  #isAtEnd(): boolean {
    const next = this.#tokens[this.#index];
    return next === undefined || next === '|' || next === ')';
  }

  #takes(token: string): boolean {
    if (this.#tokens[this.#index] !== token) return false;
    this.#index++;
    return true;
  }

  #refuse(what: string): never {
    throw new NoInstance(
      `the sandbox does not work out ${what} in the pattern \`${this.#pattern}\``,
    );
  }
}

/** Candidates for a class, besides what is written in it. */
const usual = 'aA0_- .,:;/@#!?*+=<>|~^$%&()[]{}\'"`\\\n\t\r§é';

/** Returns a character that a class or an escape matches. Without repetitions, trying is quick. */
function findCharacter(token: string): string | undefined {
  if (/^\\[^\da-zA-Z]/.test(token)) return token.slice(1);
  const decoded = decode(token);
  if (token.startsWith('\\') && decoded !== token) return decoded;
  const candidates = Array.from(`${usual}${decoded}`);
  // Many schemas have classes such as `[\w-\.]`, which only a pattern without `u` may have.
  for (const flags of token.startsWith('[') ? ['u', ''] : ['u'])
    try {
      const expression = new RegExp(`^(?:${token})$`, flags);
      return candidates.find((character) => expression.test(character));
    } catch {
      // Not valid with these flags.
    }
  return undefined;
}

/** Writes characters for their numbers. */
function decode(token: string): string {
  return token.replaceAll(
    /\\(?:u\{([\da-fA-F]+)\}|u([\da-fA-F]{4})|x([\da-fA-F]{2}))/g,
    (escape, ...digits: string[]) => {
      const code = Number.parseInt(digits.slice(0, 3).join(''), 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : escape;
    },
  );
}
