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
/** Block tags become a space, so that the words around them do not join. */
const breaks = new Set([
  'br',
  'p',
  'div',
  'li',
  'ul',
  'ol',
  'tr',
  'td',
  'th',
  'table',
  'hr',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
]);

const passesMax = 8;

/** Repeats, because the text around a removed tag can form another tag: `<<b>b>`. */
function stripTags(html: string): string {
  let text = html.replaceAll(hidden, ' ');
  for (let pass = 0; pass < passesMax; pass++) {
    const stripped = text.replaceAll(tag, (_tag, name: string | undefined) =>
      breaks.has(name?.toLowerCase() ?? '') ? ' ' : '',
    );
    if (stripped === text) return text;
    text = stripped;
  }
  // Only hostile text nests tags this deep.
  return text.replaceAll('<', '');
}

/** Unknown names, and an `&` without a name, stay unchanged. */
function decodeReferences(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z][a-z0-9]{1,7}));/gi,
    (reference, decimal, hex, name) => {
      if (typeof name === 'string') return characterNames.get(name) ?? reference;
      return characterOf(
        typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hex), 16),
      );
    },
  );
}

/** Decodes as browsers do: 128 to 159 mean Windows-1252, and invalid code points become U+FFFD. */
function characterOf(code: number): string {
  if (code >= 0x80 && code <= 0x9f)
    return new TextDecoder('windows-1252').decode(Uint8Array.of(code));
  const isCharacter = code > 0 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff);
  return isCharacter ? String.fromCodePoint(code) : '\u{FFFD}';
}

/** HTML's names of U+00A0 to U+00FF, in order. */
const latinNames =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil ' +
  'sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute ' +
  'Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc ' +
  'atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide ' +
  'oslash ugrave uacute ucirc uuml yacute thorn yuml';

const characterNames: ReadonlyMap<string, string> = new Map([
  ...latinNames
    .split(' ')
    .map((name, index) => [name, String.fromCodePoint(0xa0 + index)] as const),
  ...Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    ndash: '–',
    mdash: '—',
    hellip: '…',
    bull: '•',
  }),
  ...Object.entries({
    lsquo: '‘',
    rsquo: '’',
    sbquo: '‚',
    ldquo: '“',
    rdquo: '”',
    bdquo: '„',
    lsaquo: '‹',
    rsaquo: '›',
  }),
  ...Object.entries({
    euro: '€',
    trade: '™',
    prime: '′',
    minus: '−',
    rarr: '→',
    larr: '←',
    OElig: 'Œ',
    oelig: 'œ',
  }),
]);

/** Never cuts a surrogate pair. */
function shorten(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  return `${text.slice(0, charactersMax - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}
