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
  for (const { 0: line, 1: content, index } of text.matchAll(directiveLines)) {
    const problem = readDirective(content!.trim(), { ...vocabulary, draft, seen });
    if (problem !== null)
      return { kind: 'malformed', message: `The directive \`${shorten(line.trim())}\` ${problem}` };
    rest += text.slice(from, index);
    from = index + line.length;
  }
  return { kind: 'read', directives: draft, text: (rest + text.slice(from)).trim() };
}

/** A line that starts with `sandbox:`, and its end. */
const directiveLines = /(?<![^\r\n])[^\S\r\n]*sandbox:([^\r\n]*)(?:\r\n?|\n|$)/g;

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
