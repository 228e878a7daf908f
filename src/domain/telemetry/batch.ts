// The body of one OTLP request, which grows by the spans of one request after another.
import { larger } from './json-bytes.ts';

export type Wrapping = { readonly head: Uint8Array; readonly tail: Uint8Array };

const comma = 0x2c;
const firstBytes = 8 * 1024;
/** The body that nginx allows by default. */
const bytesMax = 1024 * 1024;
const itemsMax = 512;

export class Batch {
  tries = 0;
  spans = 0;
  /** The items alone. */
  itemBytes = 0;
  readonly #wrapping: Wrapping;
  #items = 0;
  #bytes: Buffer;
  #length: number;

  /** `memory`: of a batch that was sent. Fresh memory for each batch costs more than its spans. */
  constructor(wrapping: Wrapping, memory: Buffer | null) {
    const { head } = wrapping;
    this.#wrapping = wrapping;
    this.#bytes = memory ?? Buffer.allocUnsafeSlow(head.length + firstBytes);
    this.#bytes.set(head);
    this.#length = head.length;
  }

  get memory(): Buffer {
    return this.#bytes;
  }

  /** True when an item does not fit beside those that it has. */
  isFullFor(item: Uint8Array): boolean {
    const isTooLong = this.#length + this.#roomFor(item) > bytesMax;
    return this.#items === itemsMax || (this.#items > 0 && isTooLong);
  }

  /** `item`: JSON objects with commas between them. */
  add(item: Uint8Array, spans: number): void {
    const room = this.#roomFor(item);
    if (this.#length + room > this.#bytes.length)
      this.#bytes = larger(this.#bytes, this.#length, room);
    if (this.#items > 0) this.#bytes[this.#length++] = comma;
    this.#bytes.set(item, this.#length);
    this.#length += item.length;
    this.itemBytes += item.length;
    this.#items += 1;
    this.spans += spans;
  }

  body(): Uint8Array {
    this.#bytes.set(this.#wrapping.tail, this.#length);
    return this.#bytes.subarray(0, this.#length + this.#wrapping.tail.length);
  }

  #roomFor(item: Uint8Array): number {
    return item.length + 1 + this.#wrapping.tail.length;
  }
}
