// The start of a body that arrives in pieces. It never holds more than its limit.

export class CutBody {
  /** The length of all pieces. */
  bytes = 0;
  readonly #bytesMax: number;
  readonly #grow: (bytes: number) => boolean;
  #kept: Buffer = Buffer.alloc(0);
  #used = 0;

  /** `grow`: called before more memory is taken; false refuses it. */
  constructor(bytesMax: number, grow: (bytes: number) => boolean) {
    this.#bytesMax = bytesMax;
    this.#grow = grow;
  }

  /** The memory that it holds. */
  get heldBytes(): number {
    return this.#kept.length;
  }

  /** Returns false when there was no memory for the piece. */
  add(piece: string | Uint8Array): boolean {
    const length = typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
    this.bytes += length;
    const left = this.#bytesMax - this.#used;
    const taken = Math.min(left, length);
    if (taken === 0) return true;
    if (!this.#makeRoom(this.#used + taken)) return false;
    // A character that does not fit whole at the end is cut in `text`.
    if (typeof piece === 'string') this.#copy(Buffer.from(piece.slice(0, taken)), taken);
    else this.#copy(piece, taken);
    return true;
  }

  /** Returns what is kept. A body that was cut ends with a whole UTF-8 character. */
  take(): Buffer {
    const kept = this.#kept.subarray(0, this.#used);
    return this.bytes > this.#used ? kept.subarray(0, wholeCharacters(kept)) : kept;
  }

  #copy(piece: Uint8Array, taken: number): void {
    this.#kept.set(piece.subarray(0, taken), this.#used);
    this.#used += taken;
  }

  #makeRoom(bytes: number): boolean {
    if (bytes <= this.#kept.length) return true;
    const size = Math.min(this.#bytesMax, Math.max(bytes, this.#kept.length * 2));
    if (!this.#grow(size - this.#kept.length)) return false;
    const larger = Buffer.allocUnsafeSlow(size);
    larger.set(this.#kept.subarray(0, this.#used));
    this.#kept = larger;
    return true;
  }
}

/** Returns the length without an unfinished UTF-8 character at the end. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= 4 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (isContinuation) continue;
    return back < lengthOfCharacter(byte) ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function lengthOfCharacter(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}
