// Writes multipart/form-data (RFC 7578) piece by piece, so that large files are not copied.
import { randomBytes } from 'node:crypto';

/** A long body, which is never in memory as a whole. `pieces` may be called again, for another try. */
export type SizedBody = {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
  readonly pieces: () => AsyncIterable<Buffer>;
};

export type FormField = readonly [name: string, text: string];

export type FormFile = {
  readonly field: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly pieces: () => Iterable<Buffer> | AsyncIterable<Buffer>;
};

/** Fields first, then the files. */
export function writeForm(fields: readonly FormField[], files: readonly FormFile[]): SizedBody {
  const boundary = `tollgate-${randomBytes(18).toString('base64url')}`;
  const head = (disposition: string, type = '') =>
    `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n${type}\r\n`;
  const texts = fields.map(([name, text]) => `${head(`name="${name}"`)}${text}\r\n`).join('');
  const headed = files.map(({ field, name, mediaType, ...file }, index) => {
    const ownHead = head(`name="${field}"; filename="${name}"`, `content-type: ${mediaType}\r\n`);
    return { ...file, head: Buffer.from((index === 0 ? texts : '\r\n') + ownHead) };
  });
  const end = Buffer.from(`${files.length === 0 ? texts : '\r\n'}--${boundary}--\r\n`);
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    bytes: headed.reduce((sum, file) => sum + file.head.length + file.bytes, end.length),
    async *pieces() {
      for (const file of headed) {
        yield file.head;
        yield* file.pieces();
      }
      yield end;
    },
  };
}
