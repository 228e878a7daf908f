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
    waiting.push(piece.subarray(start));
    // The rest of a line that is too long is read past.
    if (bytes > bytesMax) waiting = [lineOf(waiting, true).text];
  }
  if (bytes > 0) yield lineOf(waiting, bytes > bytesMax);
}

function lineOf(pieces: readonly Buffer[], isCut: boolean): SplitLine {
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  return { text: Buffer.concat(pieces, isCut ? Math.min(bytes, beginningBytes) : bytes), isCut };
}
