// `${NAME}` in a value stands for an environment variable. In YAML a bare brace opens a mapping, so the file's text is masked before
// it is parsed: each reference becomes a word of private-use characters of the same length, which keeps lines and columns right.

const open = '\u{E000}\u{E001}';
const close = '\u{E002}';
const reference = /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)\}/gu;
const masked = new RegExp(`${open}([A-Za-z_][A-Za-z0-9_]*)${close}`, 'gu');

export function maskVariables(text: string): string {
  return text.replaceAll(reference, `${open}$1${close}`);
}

/** The text as it was written, for messages. */
export function unmaskVariables(text: string): string {
  return text.replaceAll(masked, '${$1}');
}

export type Expanded =
  | { readonly kind: 'plain'; readonly text: string }
  /** Made from environment variables, so it must not be quoted in a message. */
  | { readonly kind: 'expanded'; readonly text: string; readonly variables: readonly string[] }
  | { readonly kind: 'unset'; readonly variable: string }
  /** `${` without a name that can be understood. */
  | { readonly kind: 'malformed' };

/** Replaces masked references by their values; a variable that is empty counts as unset. `$${` is a literal `${`. */
export function expandVariables(text: string, env: Readonly<Record<string, string | undefined>>): Expanded {
  const variables = [...text.matchAll(masked)].map(([, name]) => name!);
  const unset = variables.find((name) => !env[name]);
  if (unset !== undefined) return { kind: 'unset', variable: unset };
  if (/(?<!\$)\$\{/u.test(text)) return { kind: 'malformed' };
  // Literals are unescaped piece by piece, so that nothing inside a variable's value is ever interpreted.
  const expanded = text
    .split(masked)
    .map((piece, index) => (index % 2 === 1 ? env[piece]! : piece.replaceAll('$${', '${')))
    .join('');
  return variables.length === 0 ? { kind: 'plain', text: expanded } : { kind: 'expanded', text: expanded, variables };
}
