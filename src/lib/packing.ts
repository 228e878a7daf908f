// Compression of what is stored: raw deflate. Long bytes are compressed and read on the thread pool,
// so that they hold up no request.
import { constants, deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';
import { promisify } from 'node:util';

/** Nothing longer is packed or read: a kilobyte can unpack to a megabyte. */
export const plainBytesMax = 64 * 1024 * 1024;
/** Up to this size, synchronous work is cheaper than a round trip to the thread pool. */
const atOnceBytes = 16 * 1024;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

export async function pack(plain: Uint8Array): Promise<Buffer> {
  return plain.length <= atOnceBytes ? deflateRawSync(plain) : deflate(plain);
}

/** Rejects when the bytes unpack to more than `plainBytesMax`. */
export async function unpack(packed: Uint8Array): Promise<Buffer> {
  const options = { maxOutputLength: plainBytesMax };
  return packed.length <= atOnceBytes / 4
    ? inflateRawSync(packed, options)
    : inflate(packed, options);
}

/** A text with its packed bytes; `packed` is absent when it was too short to be packed on the way. */
export type PackedText = { readonly body: Buffer; readonly packed?: Buffer };

const partBytes = 128 * 1024;

/**
 * Packs a text, or bytes, while they grow, part by part, so that a long stream takes little memory. Deflate's
 * parts can be joined: each but the last ends with an empty block at a whole byte.
 */
export class TextPacker {
  readonly #bytesMax: number;
  #bytes = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #parts: Promise<Buffer>[] = [];

  /** A text of more bytes is forgotten. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(piece: string | Buffer): void {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    this.#bytes += bytes.length;
    if (this.#bytes > this.#bytesMax) {
      [this.#waiting, this.#parts] = [[], []];
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes < partBytes) return;
    this.#parts.push(deflate(this.#takeWaiting(), { finishFlush: constants.Z_SYNC_FLUSH }));
  }

  /** Returns all that was added; null when it is too long. */
  async end(): Promise<PackedText | null> {
    if (this.#bytes > this.#bytesMax) return null;
    const rest = this.#takeWaiting();
    if (this.#parts.length === 0) return { body: rest };
    const packed = Buffer.concat(await Promise.all([...this.#parts, deflate(rest)]));
    return { packed, body: await unpack(packed) };
  }

  #takeWaiting(): Buffer {
    const bytes = Buffer.concat(this.#waiting, this.#waitingBytes);
    [this.#waiting, this.#waitingBytes] = [[], 0];
    return bytes;
  }
}
