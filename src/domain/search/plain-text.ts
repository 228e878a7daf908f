// Converts the HTML of a search result to one line of plain text. Small on purpose: search
// providers send sentences with a few `<strong>` tags, and the result is shown as text, never as
// markup.

/** Longer texts are cut before parsing, because pages are untrusted. */
const sourceCharactersMax = 8_000;

/**
 * Removes tags, comments, scripts and styles, decodes character references, and collapses white
 * space. Escaped markup becomes text: `the &lt;b&gt; tag` is `the <b> tag`. Text without markup is
 * unchanged.
 */
export function toPlainText(html: string, charactersMax: number): string {
  const text = decodeReferences(stripTags(html.slice(0, sourceCharactersMax)))
    .replaceAll(/\s+/gu, ' ')
    .trim();
  return shorten(text.toWellFormed(), charactersMax);
}

const hidden = /<!--[^]*?-->|<(script|style)\b[^<>]*>[^]*?<\/\1\s*>/gi;
/**
 * A tag as browsers parse it: `a < b` contains none. Quoted values may contain angle brackets; an
 * unterminated quote does not count.
 */
const tag = /<\/?([a-z][^\s/<>"']*)(?=[\s/>"'])(?:[^<>"']|"[^"]*"|'[^']*')*>|<[a-z!?/][^<>]*>/gi;
/** These become a space, so that the words around them do not join. */
const breaks = /^(?:br|hr|p|div|li|[uo]l|t[rdh]|table|h[1-6])$/i;

const passesMax = 8;

/** Repeats, because the text around a removed tag can form another tag: `<<b>b>`. */
function stripTags(html: string): string {
  let text = html.replaceAll(hidden, ' ');
  for (let pass = 0; pass < passesMax; pass++) {
    const stripped = text.replaceAll(tag, (_tag, name: string | undefined) =>
      breaks.test(name ?? '') ? ' ' : '',
    );
    if (stripped === text) return text;
    text = stripped;
  }
  // Only hostile text nests tags this deep.
  return text.replaceAll('<', '');
}

/** The names that providers write. Other characters come as they are, or by number. */
const characterNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    ndash: '–',
    mdash: '—',
    hellip: '…',
    lsquo: '‘',
    rsquo: '’',
    ldquo: '“',
    rdquo: '”',
  }),
);

/** Unknown names, and an `&` without a name, stay unchanged. */
function decodeReferences(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi,
    (reference, decimal, hex, name) => {
      if (typeof name === 'string') return characterNames.get(name) ?? reference;
      return characterOf(
        typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hex), 16),
      );
    },
  );
}

/** Invalid code points become U+FFFD. */
function characterOf(code: number): string {
  return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code).toWellFormed() : '\u{FFFD}';
}

/** Never cuts a surrogate pair. */
function shorten(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return `${text.slice(0, charactersMax - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}
