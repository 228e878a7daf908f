// Parses directives: lines that start with `sandbox:` and control the sandbox. Such a line is
// always a directive, so a misspelt one is explained instead of ignored.

/** `text`: the message without its directives. */
export type ReadLines<Directives> =
  | { readonly kind: 'read'; readonly directives: Directives; readonly text: string }
  | { readonly kind: 'malformed'; readonly message: string };

export type Draft<Directives> = { -readonly [Field in keyof Directives]: Directives[Field] };
/** Writes the value into the draft, or returns what is wrong. */
type Reader<Directives> = (value: string, draft: Draft<Directives>) => string | null;
/** By the directive's name. */
export type Readers<Directives> = Readonly<Record<string, Reader<Directives>>>;

type Vocabulary<Directives> = {
  /** The result without any directives. */
  readonly none: Directives;
  readonly readers: Readers<Directives>;
  /** The directive that may be repeated. */
  readonly repeatable?: string;
};

export function readDirectiveLines<Directives>(
  text: string,
  vocabulary: Vocabulary<Directives>,
): ReadLines<Directives> {
  const draft: Draft<Directives> = { ...vocabulary.none };
  const seen = new Set<string>();
  let rest = '';
  let from = 0;
  for (const { start, content, end } of findLines(text)) {
    const problem = readDirective(content, { ...vocabulary, draft, seen });
    if (problem !== null) {
      const line = text.slice(start, end).trim();
      return { kind: 'malformed', message: `The directive \`${shorten(line)}\` ${problem}` };
    }
    rest += text.slice(from, start);
    from = end;
  }
  return { kind: 'read', directives: draft, text: (rest + text.slice(from)).trim() };
}

const sign = 'sandbox:';

/**
 * Yields the lines that start with the sign. A message may have millions of lines, so only those
 * that hold it are looked at. `content`: what follows it. `end`: behind the line's end.
 */
function* findLines(text: string) {
  for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + sign.length)) {
    let start = at;
    while (start > 0 && isBlank(text, start - 1)) start--;
    if (start > 0 && !isLineEnd(text, start - 1)) continue;
    let end = at;
    while (end < text.length && !isLineEnd(text, end)) end++;
    const content = text.slice(at + sign.length, end).trim();
    if (text.startsWith('\r\n', end)) end++;
    yield { start, content, end: Math.min(end + 1, text.length) };
    at = end - sign.length;
  }
}

function isLineEnd(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code === 0x0a || code === 0x0d;
}

function isBlank(text: string, index: number): boolean {
  if (text.charCodeAt(index) === 0x20) return true;
  return !isLineEnd(text, index) && text[index]!.trim() === '';
}

type Reading<Directives> = Vocabulary<Directives> & {
  readonly draft: Draft<Directives>;
  readonly seen: Set<string>;
};

function readDirective<Directives>(
  content: string,
  { readers, repeatable, draft, seen }: Reading<Directives>,
): string | null {
  const [, name, value] = /^(\w+)\s*=\s*(.*)$/s.exec(content) ?? [];
  if (name === undefined || value === undefined) return 'must have the form `sandbox: name=value`.';
  const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
  if (!reader) return `is not known. The directives are ${Object.keys(readers).join(', ')}.`;
  if (name !== repeatable && seen.has(name)) {
    const others =
      repeatable === undefined ? '' : ` Only \`${repeatable}\` may be given more than once.`;
    return `is the second one for \`${name}\`.${others}`;
  }
  seen.add(name);
  return reader(value, draft);
}

/** Reads a whole number from `min` to `max` into a field. */
export function numberReader<Field extends string>(field: Field, min: number, max: number) {
  return (value: string, draft: { [name in Field]: number | null }): string | null => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : -1;
    if (number < min || number > max) return `needs a whole number from ${min} to ${max}.`;
    draft[field] = number;
    return null;
  };
}

function shorten(line: string): string {
  const characters = Array.from(line);
  return characters.length <= 80 ? line : `${characters.slice(0, 79).join('')}…`;
}
