// Writes multipart/form-data (RFC 7578) as a list of buffers, so that large files are not copied.
import { randomBytes } from 'node:crypto';
import type { ImageBytes } from '../../lib/image.ts';

type Form = {
  readonly contentType: string;
  readonly contentLength: number;
  readonly pieces: readonly Buffer[];
};

/** Fields first, then the images under `imageField`, with made-up file names. */
export function writeForm(
  fields: Readonly<Record<string, string>>,
  { imageField, images }: { readonly imageField: string; readonly images: readonly ImageBytes[] },
): Form {
  const boundary = `tollgate-${randomBytes(18).toString('base64url')}`;
  const head = (disposition: string, type = '') =>
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n${type}\r\n`);
  const lineEnd = Buffer.from('\r\n');
  const pieces = [
    ...Object.entries(fields).flatMap(([name, value]) => [
      head(`name="${name}"`),
      Buffer.from(value),
      lineEnd,
    ]),
    ...images.flatMap(({ bytes, mediaType }, index) => {
      const fileName = `image-${index + 1}.${mediaType.slice('image/'.length)}`;
      return [
        head(`name="${imageField}"; filename="${fileName}"`, `content-type: ${mediaType}\r\n`),
        bytes,
        lineEnd,
      ];
    }),
    Buffer.from(`--${boundary}--\r\n`),
  ];
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    contentLength: pieces.reduce((sum, piece) => sum + piece.length, 0),
    pieces,
  };
}
