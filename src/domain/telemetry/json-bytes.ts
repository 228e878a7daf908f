// JSON written straight into bytes. An exported request has some sixty names and values; as texts
// that are joined and encoded later, they cost several times as much.

/** Encodes a constant piece of JSON once. */
export function piece(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}

const firstBytes = 16 * 1024;
/** A larger buffer is given back when its request is done. */
const keptBytes = 256 * 1024;
/** Up to here a loop is faster than a copy. */
const shortBytes = 16;
const comma = 0x2c;
const zero = 0x30;
const quote = 0x22;
const backslash = 0x5c;

/** A buffer that grows, reused for one request after another. */
export class JsonBytes {
  #bytes: Buffer = Buffer.allocUnsafeSlow(firstBytes);
  #length = 0;

  clear(): void {
    if (this.#bytes.length > keptBytes) this.#bytes = Buffer.allocUnsafeSlow(firstBytes);
    this.#length = 0;
  }

  /** What was written since `clear`; valid until the next. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Takes back the last byte if it is a comma. */
  dropComma(): void {
    if (this.#bytes[this.#length - 1] === comma) this.#length -= 1;
  }

  byte(byte: number): void {
    this.#need(1);
    this.#bytes[this.#length++] = byte;
  }

  piece(bytes: Uint8Array): void {
    const { length } = bytes;
    this.#need(length);
    if (length < shortBytes)
      for (let at = 0; at < length; at++) this.#bytes[this.#length + at] = bytes[at]!;
    else this.#bytes.set(bytes, this.#length);
    this.#length += length;
  }

  /** Writes a string with its quotes, escaped where it must be. */
  text(value: string): void {
    const { length } = value;
    this.#need(length + 2);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = quote;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code < 0x20 || code > 0x7e || code === quote || code === backslash)
        return this.#escapedText(value);
      bytes[at++] = code;
    }
    bytes[at++] = quote;
    this.#length = at;
  }

  /** Writes a whole number that a double holds exactly. */
  whole(value: number): void {
    if (value < 0 || value >= 1e9) return this.#ascii(String(value));
    let count = 1;
    for (let limit = 10; value >= limit; limit *= 10) count += 1;
    this.digits(value, count);
  }

  /** Writes a whole number below 1e9 with leading zeros. */
  digits(value: number, count: number): void {
    this.#need(count);
    const end = this.#length + count;
    let rest = value | 0;
    for (let at = end - 1; at >= this.#length; at--) {
      const tenth = (rest / 10) | 0;
      this.#bytes[at] = zero + rest - tenth * 10;
      rest = tenth;
    }
    this.#length = end;
  }

  #escapedText(value: string): void {
    const text = JSON.stringify(value);
    // UTF-8 has at most three bytes for each unit of UTF-16.
    this.#need(text.length * 3);
    this.#length += this.#bytes.write(text, this.#length, 'utf8');
  }

  #ascii(text: string): void {
    this.#need(text.length);
    this.#length += this.#bytes.write(text, this.#length, 'latin1');
  }

  #need(bytes: number): void {
    if (this.#length + bytes > this.#bytes.length)
      this.#bytes = larger(this.#bytes, this.#length, bytes);
  }
}

/** Returns memory that begins with these bytes and has room for more. */
export function larger(bytes: Buffer, length: number, more: number): Buffer {
  const memory = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, length + more));
  bytes.copy(memory, 0, 0, length);
  return memory;
}
