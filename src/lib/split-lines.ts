/** Yields the lines of a text, without their ends; null for a line that is too long. */
export async function* splitLines(
  pieces: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Buffer | null> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const each of pieces) {
    const piece = Buffer.from(each.buffer, each.byteOffset, each.length);
    let start = 0;
    for (let end; (end = piece.indexOf(10, start)) !== -1; start = end + 1) {
      const line = bytes + end - start;
      yield line > bytesMax ? null : Buffer.concat([...waiting, piece.subarray(start, end)]);
      [waiting, bytes] = [[], 0];
    }
    bytes += piece.length - start;
    // The rest of a line that is too long is read past.
    if (bytes > bytesMax) waiting = [];
    else waiting.push(piece.subarray(start));
  }
  if (bytes > 0) yield bytes > bytesMax ? null : Buffer.concat(waiting);
}
