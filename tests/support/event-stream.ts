// Writes AWS's binary event stream: the frames of Bedrock's streams.
import { crc32 } from 'node:zlib';

/** One message, with headers of type text. */
function encodeMessage(
  headers: Readonly<Record<string, string>>,
  payload: string | object,
): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const [key, text] = [Buffer.from(name), Buffer.from(value)];
      const length = Buffer.alloc(2);
      length.writeUInt16BE(text.length);
      return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([7]), length, text]);
    }),
  );
  const body = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
  const prelude = encodePrelude(16 + head.length + body.length, head.length);
  const message = Buffer.concat([prelude, head, body]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(message), 0);
  return Buffer.concat([message, checksum]);
}

/** The lengths of a message and of its headers, with their checksum. */
export function encodePrelude(totalBytes: number, headerBytes: number): Buffer {
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(totalBytes, 0);
  prelude.writeUInt32BE(headerBytes, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  return prelude;
}

/** An event of Converse, or `chunk` of invoke. */
export function encodeEvent(type: string, payload: object): Buffer {
  return encodeText(type, JSON.stringify(payload));
}

export function encodeText(type: string, payload: string): Buffer {
  return encodeMessage(
    { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
    payload,
  );
}

/** An event of a vendor, as `invoke` wraps it; text is sent as it is. */
export function encodeInvoked(event: object | string): Buffer {
  const text = typeof event === 'string' ? event : JSON.stringify(event);
  return encodeEvent('chunk', { bytes: Buffer.from(text).toString('base64'), p: 'abc' });
}

export function encodeException(type: string, message: string): Buffer {
  return encodeMessage(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    { message },
  );
}

export function encodeError(code: string, message: string): Buffer {
  return encodeMessage(
    { ':error-code': code, ':error-message': message, ':message-type': 'error' },
    '',
  );
}
