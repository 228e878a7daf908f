// The first bytes of a PNG, with the given size in its header.

export function pngHead(width: number, height: number): Buffer {
  const head = Buffer.alloc(64);
  head.write('\x89PNG\r\n\x1a\n', 'latin1');
  head.writeUInt32BE(13, 8);
  head.write('IHDR', 12, 'latin1');
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return head;
}
