// Parses JSON without changing numbers in the arguments of calls. A number with more than 15 digits,
// such as an id, does not fit a double: `JSON.parse` would round it, and a tool would run on another
// id.

declare global {
  /** Node has these since 22; TypeScript does not declare them yet. */
  interface JSON {
    rawJSON: (text: string) => object;
    isRawJSON: (value: unknown) => value is { readonly rawJSON: string };
  }
}

/** A number begins behind one of these, so base64 never looks like one. */
const mayBeInexact = /(?:^|[:,[\s])-?(?:\d{16}|[\d.]+[eE]\+?\d{3})/;
/** Members that hold the arguments of a call as an object: Anthropic's and Gemini's. */
const argumentNames = new Set(['input', 'args']);

/**
 * Parses the arguments of a call. A number that a double cannot hold becomes an object that
 * `JSON.stringify` writes as it was. Throws SyntaxError.
 */
export function parseArguments(text: string): unknown {
  return mayBeInexact.test(text) ? JSON.parse(text, keepInexact) : JSON.parse(text);
}

/**
 * Parses a request, an answer or an event, whose `input` and `args` objects are parsed like
 * `parseArguments`. Throws SyntaxError.
 */
export function parseWithArguments(text: string): unknown {
  return mayBeInexact.test(text) ? roundOutsideArguments(parseArguments(text)) : JSON.parse(text);
}

function keepInexact(_name: string, value: unknown, context?: { readonly source?: string }) {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined) return value;
  const isRounded = /^-?\d{16,}$/.test(source) && String(value) !== source;
  return isRounded || !Number.isFinite(value) ? JSON.rawJSON(source) : value;
}

/** Other fields are numbers that the gateway reads. Changes the value. */
function roundOutsideArguments(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (JSON.isRawJSON(value)) return Number(value.rawJSON);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = roundOutsideArguments(item);
    return value;
  }
  const members = value as Record<string, unknown>;
  for (const [name, member] of Object.entries(members)) {
    const isArguments =
      argumentNames.has(name) && !Array.isArray(member) && !JSON.isRawJSON(member);
    if (!isArguments) members[name] = roundOutsideArguments(member);
  }
  return value;
}
