// Reads JSON from strangers: nesting is checked before `JSON.parse`, which accepts ten million brackets and takes seconds for them.

export type ParsedJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

const jsonDepthMax = 64;
const quote = 0x22;
const backslash = 0x5c;

/** Parses UTF-8 JSON nested at most 64 deep. The message of a failure is fit for the client. */
export function parseJson(bytes: Uint8Array): ParsedJson {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length === 0) return { ok: false, message: 'the body is empty; send a JSON object' };
  if (isTooDeep(buffer)) return { ok: false, message: `the body is nested deeper than ${jsonDepthMax} levels` };
  try {
    return { ok: true, value: JSON.parse(buffer.toString('utf8')) };
  } catch (error) {
    // V8 quotes the text around the fault; only the place is passed on.
    const position = /at position (\d+)/.exec(String(error))?.[1];
    const where =
      position !== undefined
        ? ` (at character ${position})`
        : String(error).includes('end of JSON')
          ? ' (it ends too early)'
          : '';
    return { ok: false, message: `the body is not valid JSON${where}` };
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One pass over the bytes; strings, which hold most of them, are skipped with a native search. */
function isTooDeep(bytes: Buffer): boolean {
  if (bytes.length <= jsonDepthMax) return false;
  let depth = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === quote) {
      index = endOfString(bytes, index);
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > jsonDepthMax) return true;
    } else if (byte === 0x5d || byte === 0x7d) {
      depth--;
    }
  }
  return false;
}

/** The index of the quote that closes the string opened at `start`, or the end of the bytes. */
function endOfString(bytes: Buffer, start: number): number {
  let end = start;
  for (;;) {
    end = bytes.indexOf(quote, end + 1);
    if (end === -1) return bytes.length;
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes++;
    if (escapes % 2 === 0) return end;
  }
}
