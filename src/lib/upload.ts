// A file of a form, in a file on disk that has no name any more: it is gone when it is closed, or when
// the process ends.
import type { FileHandle } from 'node:fs/promises';

const pieceBytes = 64 * 1024;

export class Upload {
  readonly name: string;
  readonly bytes: number;
  /** How long the audio is by its header; null: unknown. */
  seconds: number | null = null;
  readonly #handle: FileHandle;
  readonly #start: number;

  /** It is `bytes` long from `start` on. */
  constructor(handle: FileHandle, part: { name: string; start: number; bytes: number }) {
    this.name = part.name;
    this.bytes = part.bytes;
    this.#handle = handle;
    this.#start = part.start;
  }

  /** Returns the bytes from `position` on, fewer at its end. */
  async read(position: number, length: number): Promise<Buffer> {
    const left = Math.max(Math.min(length, this.bytes - position), 0);
    const buffer = Buffer.allocUnsafe(left);
    const { bytesRead } = await this.#handle.read(buffer, 0, left, this.#start + position);
    return buffer.subarray(0, bytesRead);
  }

  /** Can be called again, for another route. */
  async *pieces(): AsyncGenerator<Buffer> {
    for (let position = 0; position < this.bytes; position += pieceBytes)
      yield await this.read(position, pieceBytes);
  }
}
