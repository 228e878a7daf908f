// Queues the bytes of an upstream's stream between its socket and its reader. When enough bytes
// wait, the socket is paused: a slow reader slows the upstream down instead of filling the memory.

/** How the queue controls its source. */
type ChunkSource = {
  readonly resume: () => void;
  /** Stops the upstream: nothing more is wanted. */
  readonly stop: () => void;
};

const bytesMax = 64 * 1024;
const finished: IteratorResult<Uint8Array, undefined> = { done: true, value: undefined };

/**
 * For one reader that asks for one chunk at a time, as `for await` does. Bytes that arrived
 * together are returned together.
 */
export class ChunkQueue implements AsyncIterableIterator<Uint8Array, undefined> {
  readonly #source: ChunkSource;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isPaused = false;
  #reader: PromiseWithResolvers<IteratorResult<Uint8Array, undefined>> | null = null;
  #hasEnded = false;
  #error: Error | null = null;

  constructor(source: ChunkSource) {
    this.#source = source;
  }

  /** Returns false when the source should pause until `resume`. */
  push(chunk: Uint8Array): boolean {
    const reader = this.#reader;
    if (reader) {
      this.#reader = null;
      reader.resolve({ done: false, value: chunk });
      return true;
    }
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#isPaused = this.#bytes >= bytesMax;
    return !this.#isPaused;
  }

  /** Ends the queue. With an error, the reader still gets the bytes before it. */
  end(error: Error | null = null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#error = error;
    if (this.#reader) this.#settleEnd(this.#reader);
  }

  /** Ends at once and drops waiting bytes. */
  drop(error: Error): void {
    this.#discard();
    this.end(error);
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#chunks.length > 0) return Promise.resolve({ done: false, value: this.#takeAll() });
    const reader = Promise.withResolvers<IteratorResult<Uint8Array, undefined>>();
    if (this.#hasEnded) this.#settleEnd(reader);
    else this.#reader = reader;
    return reader.promise;
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    const wasRunning = !this.#hasEnded;
    this.#discard();
    this.#error = null;
    this.end();
    if (wasRunning) this.#source.stop();
    return Promise.resolve(finished);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeAll(): Uint8Array {
    const chunk =
      this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#bytes);
    this.#discard();
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#source.resume();
    }
    return chunk;
  }

  #discard(): void {
    this.#chunks = [];
    this.#bytes = 0;
  }

  /** The error is thrown once; later calls find the end. */
  #settleEnd(reader: PromiseWithResolvers<IteratorResult<Uint8Array, undefined>>): void {
    const error = this.#error;
    this.#error = null;
    this.#reader = null;
    if (error) reader.reject(error);
    else reader.resolve(finished);
  }
}
