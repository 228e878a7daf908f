/** `isCut`: the line is too long, and only its beginning is there. */
export type SplitLine = { readonly text: Buffer; readonly isCut: boolean };

const beginningBytes = 1_024;

/** Yields the lines of a text, without their ends. */
export async function* splitLines(
  pieces: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<SplitLine> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const each of pieces) {
    const piece = Buffer.from(each.buffer, each.byteOffset, each.length);
    let start = 0;
    for (let end; (end = piece.indexOf(10, start)) !== -1; start = end + 1) {
      const line = [...waiting, piece.subarray(start, end)];
      yield lineOf(line, bytes + end - start > bytesMax);
      [waiting, bytes] = [[], 0];
    }
    bytes += piece.length - start;
    // The rest of a line that is too long is read past.
    if (bytes <= bytesMax || waiting.length === 0) waiting.push(piece.subarray(start));
    if (bytes > bytesMax) waiting = [lineOf(waiting.slice(0, 1), true).text];
  }
  if (bytes > 0) yield lineOf(waiting, bytes > bytesMax);
}

function lineOf(pieces: readonly Buffer[], isCut: boolean): SplitLine {
  const text = Buffer.concat(isCut ? pieces.slice(0, 1) : pieces);
  return { text: isCut ? Buffer.from(text.subarray(0, beginningBytes)) : text, isCut };
}
