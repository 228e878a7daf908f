// Bytes that stay in memory for long.

/**
 * Returns the bytes in memory of their own. A short Buffer is often a part of a block of up to
 * 64 KB, from Node's pool or from zlib, and keeps all of it in memory.
 */
export function ownBytes(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
