// Reads the content of a message in any format: no two formats use one name for different parts.
import { dataUrl, fieldsOf, listOf, textOf } from './fields.ts';
import type { Attachment, Json } from './types.ts';

type Content = { readonly text: string; readonly attachments: readonly Attachment[] };

export function readContent(content: unknown): Content {
  if (typeof content === 'string') return { text: content, attachments: [] };
  const parts = listOf(content).map((part) => readPart(fieldsOf(part)));
  return {
    text: parts.filter((part) => typeof part === 'string').join('\n\n'),
    attachments: parts.filter((part) => typeof part !== 'string'),
  };
}

function readPart({ type, text, refusal, title, image_url: image, ...part }: Json) {
  const words = text ?? refusal;
  if (typeof words === 'string') return words;
  const file = { ...part, ...fieldsOf(part['file']) };
  const source = fieldsOf(part['source']);
  const name = textOf(file.filename ?? title) || 'file';
  const data = textOf(source['data']);
  if (source['type'] === 'text') return { kind: 'text', name, text: data } as const;
  const url =
    data === ''
      ? (fieldsOf(image)['url'] ?? image ?? file.file_data ?? file.file_url ?? source['url'])
      : dataUrl({ mediaType: textOf(source['media_type']), data });
  const place = url ?? file.file_id ?? source['file_id'];
  if (typeof place !== 'string') return `[${textOf(type) || 'unknown part'}]`;
  return readFile(place, { name, media: textOf(type).includes('image') ? 'image' : 'pdf' });
}

type FileKind = { readonly name: string; readonly media: 'image' | 'pdf' };

function readFile(url: string, { name, media }: FileKind): Attachment {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  if (mediaType === undefined || data === undefined) return { kind: 'link', media, url };
  return { kind: mediaType.startsWith('image/') ? 'image' : 'pdf', name, mediaType, data };
}
