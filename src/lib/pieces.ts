/** The memory that each piece takes beside its content. A sender may send pieces of one byte. */
export const pieceOverheadBytes = 200;

/** The pieces that are joined into one. */
const loosePiecesMax = 256;

/** Collects bytes as they come, in about as much memory as their length. */
export class Pieces {
  bytes = 0;
  #pieces: Buffer[] = [];
  #loose = 0;

  add(piece: Buffer): void {
    this.bytes += piece.length;
    this.#pieces.push(piece);
    if (++this.#loose < loosePiecesMax) return;
    this.#pieces.push(Buffer.concat(this.#pieces.splice(-loosePiecesMax)));
    this.#loose = 0;
  }

  /** Returns them in their order, and forgets them. */
  take(): readonly Buffer[] {
    const taken = this.#pieces;
    this.#pieces = [];
    return taken;
  }
}
