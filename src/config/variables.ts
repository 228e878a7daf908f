// `${NAME}` in a value is an environment variable. A bare brace opens a mapping in YAML, so the
// text is masked before parsing: each reference becomes a word of private-use characters of the
// same length, which keeps lines and columns correct.

const open = '\u{E000}\u{E001}';
const close = '\u{E002}';
const reference = /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)\}/gu;
const masked = new RegExp(`${open}([A-Za-z_][A-Za-z0-9_]*)${close}`, 'gu');

export function maskVariables(text: string): string {
  return text.replaceAll(reference, `${open}$1${close}`);
}

/** True when a text could be taken for a masked reference. */
export function holdsMask(text: string): boolean {
  return /[\u{E000}-\u{E002}]/u.test(text);
}

/** Restores the text as written, for messages. */
export function unmaskVariables(text: string): string {
  return text.replaceAll(masked, '${$1}');
}

type Expanded =
  | { readonly kind: 'plain'; readonly text: string }
  /** Contains environment variables, so messages must not quote it. */
  | { readonly kind: 'expanded'; readonly text: string; readonly variables: readonly string[] }
  | { readonly kind: 'unset'; readonly variable: string }
  /** `${` without a valid name. */
  | { readonly kind: 'malformed' };

/**
 * Replaces masked references by their values. An empty variable counts as unset. `$${` is a literal
 * `${`.
 */
export function expandVariables(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Expanded {
  const variables = [...text.matchAll(masked)].map(([, name]) => name!);
  const unset = variables.find((name) => !env[name]);
  if (unset !== undefined) return { kind: 'unset', variable: unset };
  if (/(?<!\$)\$\{/u.test(text)) return { kind: 'malformed' };
  // Unescapes each literal piece separately, so that a variable's value is never interpreted.
  const expanded = text
    .split(masked)
    .map((piece, index) => (index % 2 === 1 ? env[piece]! : piece.replaceAll('$${', '${')))
    .join('');
  return variables.length === 0
    ? { kind: 'plain', text: expanded }
    : { kind: 'expanded', text: expanded, variables };
}
