// AWS's binary event stream: messages with headers and a payload, each with its own length and
// checksums. The same messages come out for any split of the bytes, and the buffer is bounded.
// https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream
import { crc32 } from 'node:zlib';

export type EventMessage = {
  /** Those that are texts, by name: `:event-type`. */
  readonly headers: ReadonlyMap<string, string>;
  readonly payload: Buffer;
};

/** The bytes are no such stream, or were damaged or cut on their way. */
export class DamagedEventStream extends Error {}

const messageBytesMax = 24 * 1024 * 1024;
/** Two lengths and their checksum. */
const preludeBytes = 12;
const checksumBytes = 4;
const smallestMessage = preludeBytes + checksumBytes;

export class EventStreamParser {
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** The bytes of the message that has begun; 0: not known yet. */
  #wanted = 0;

  /** Gives the messages that these bytes complete. Throws DamagedEventStream behind the last good one. */
  *push(bytes: Uint8Array): Generator<EventMessage, undefined> {
    this.#pieces.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    this.#bytes += bytes.byteLength;
    while (this.#bytes >= Math.max(this.#wanted, preludeBytes)) {
      const buffer = this.#joined();
      if (this.#wanted === 0) this.#wanted = readLength(buffer);
      if (buffer.length < this.#wanted) break;
      const message = readMessage(buffer.subarray(0, this.#wanted));
      this.#pieces = [buffer.subarray(this.#wanted)];
      this.#bytes = buffer.length - this.#wanted;
      this.#wanted = 0;
      yield message;
    }
  }

  /** Throws DamagedEventStream when the stream ends within a message. */
  end(): void {
    if (this.#bytes > 0) throw new DamagedEventStream('the stream ends within a message');
  }

  /** Joins the pieces only when a message may be complete: a message can come byte by byte. */
  #joined(): Buffer {
    const [first = Buffer.alloc(0), ...others] = this.#pieces;
    if (others.length === 0) return first;
    const buffer = Buffer.concat(this.#pieces);
    this.#pieces = [buffer];
    return buffer;
  }
}

function readLength(buffer: Buffer): number {
  if (crc32(buffer.subarray(0, 8)) !== buffer.readUInt32BE(8))
    throw new DamagedEventStream('the checksum of the lengths is wrong');
  const total = buffer.readUInt32BE(0);
  if (total < smallestMessage || total > messageBytesMax)
    throw new DamagedEventStream(`a message has ${total} bytes`);
  return total;
}

function readMessage(message: Buffer): EventMessage {
  const end = message.length - checksumBytes;
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end))
    throw new DamagedEventStream('the checksum of a message is wrong');
  const payloadStart = preludeBytes + message.readUInt32BE(4);
  if (payloadStart > end) throw new DamagedEventStream('the headers are longer than their message');
  return {
    headers: readHeaders(message.subarray(preludeBytes, payloadStart)),
    payload: message.subarray(payloadStart, end),
  };
}

/** The bytes of a value, by its type; those of 6 and 7 have a length of their own. */
const valueBytes: Readonly<Record<number, number>> = {
  0: 0,
  1: 0,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  8: 8,
  9: 16,
};
const text = 7;
const bytes = 6;

function readHeaders(block: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  try {
    for (let at = 0; at < block.length;) {
      const nameEnd = at + 1 + block.readUInt8(at);
      const type = block.readUInt8(nameEnd);
      const hasLength = type === text || type === bytes;
      const start = nameEnd + (hasLength ? 3 : 1);
      const length = hasLength ? block.readUInt16BE(nameEnd + 1) : valueBytes[type];
      if (length === undefined || start + length > block.length)
        throw new DamagedEventStream('a header cannot be read');
      if (type === text)
        headers.set(
          block.toString('utf8', at + 1, nameEnd),
          block.toString('utf8', start, start + length),
        );
      at = start + length;
    }
  } catch (error) {
    if (error instanceof RangeError) throw new DamagedEventStream('a header cannot be read');
    throw error;
  }
  return headers;
}
