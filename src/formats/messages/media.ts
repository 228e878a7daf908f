// Converts the sources of images and documents between Messages and the canonical URL or base64.
import { invalidRequest, quoted } from '../../canonical/errors.ts';
import { base64Source, isTextType } from '../../canonical/media-type.ts';
import type {
  CacheControl,
  DocumentPart,
  ImagePart,
  MediaSource,
  TextPart,
} from '../../canonical/request.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { CacheMark, DocumentBlock, ImageBlock, SearchResultBlock } from './schema.ts';

export function readCacheControl(mark: CacheMark | null | undefined): {
  readonly cacheControl?: CacheControl;
} {
  if (!mark) return {};
  return { cacheControl: mark.ttl ? { type: 'ephemeral', ttl: mark.ttl } : { type: 'ephemeral' } };
}

export function writeCacheControl(mark: CacheControl | undefined): JsonObject {
  return mark ? { cache_control: mark } : {};
}

export function readImage(block: ImageBlock, path: string): ImagePart {
  const { source, cache_control: mark } = block;
  if (source.type === 'url')
    return { type: 'image', source: { kind: 'url', url: source.url }, ...readCacheControl(mark) };
  if (source.type !== 'base64') throw unknownSource(source, `${path}.source`);
  return {
    type: 'image',
    source: base64Source(source.media_type, source.data, 'image'),
    ...readCacheControl(mark),
  };
}

/** The model reads a document's `context`, so it becomes text before the document. */
export function readDocument(block: DocumentBlock, path: string): (TextPart | DocumentPart)[] {
  const document: DocumentPart = {
    type: 'document',
    source: readDocumentSource(block.source, `${path}.source`),
    ...(block.title ? { name: block.title } : {}),
    ...readCacheControl(block.cache_control),
  };
  return block.context ? [{ type: 'text', text: block.context }, document] : [document];
}

/** A document of text, with its address: other vendors have no results of a client's own search. */
export function readSearchResult(block: SearchResultBlock, path: string): DocumentPart {
  const { content, source, title, cache_control: mark } = block;
  return {
    type: 'document',
    source: plainText(`${source}\n\n${joinTexts(content, `${path}.content`)}`),
    name: title,
    ...readCacheControl(mark),
  };
}

function readDocumentSource(source: DocumentBlock['source'], path: string): MediaSource {
  switch (source.type) {
    case 'url':
      return { kind: 'url', url: source.url };
    case 'base64':
      return base64Source(source.media_type, source.data, 'document');
    case 'text':
      return plainText(source.data);
    case 'content':
      return plainText(
        typeof source.content === 'string'
          ? source.content
          : joinTexts(source.content, `${path}.content`),
      );
    default:
      throw unknownSource(source, path);
  }
}

function joinTexts(blocks: readonly unknown[], path: string): string {
  const texts = blocks.map((block, index) => {
    if (isObject(block) && block.type === 'text' && typeof block.text === 'string')
      return block.text;
    throw invalidRequest(
      `${path}[${index}]`,
      `${path}[${index}] must be a text block: this model takes no other content in a document`,
    );
  });
  return texts.join('\n\n');
}

function plainText(text: string): MediaSource {
  return {
    kind: 'base64',
    mediaType: 'text/plain',
    data: Buffer.from(text, 'utf8').toString('base64'),
  };
}

function unknownSource(source: unknown, path: string): Error {
  const type = isObject(source) ? String(source.type) : 'unknown';
  return invalidRequest(
    `${path}.type`,
    `${path}.type ${quoted(type)} is not available here; send the data as \`base64\` or a \`url\``,
  );
}

export function writeImage({ source, cacheControl }: ImagePart): JsonObject {
  return { type: 'image', source: writeSource(source), ...writeCacheControl(cacheControl) };
}

/** Throws ApiError on a document that Claude cannot read: it accepts PDF and text. */
export function writeDocument({ source, name, cacheControl }: DocumentPart): JsonObject {
  return {
    type: 'document',
    source: writeDocumentSource(source, name),
    ...(name === undefined ? {} : { title: name }),
    ...writeCacheControl(cacheControl),
  };
}

function writeDocumentSource(source: MediaSource, name: string | undefined): JsonObject {
  if (source.kind === 'url' || source.mediaType === 'application/pdf') return writeSource(source);
  if (isTextType(source.mediaType)) {
    return {
      type: 'text',
      media_type: 'text/plain',
      data: Buffer.from(source.data, 'base64').toString('utf8'),
    };
  }
  const document = name === undefined ? 'A document' : `The document ${JSON.stringify(name)}`;
  throw invalidRequest(
    null,
    `${document} of type ${quoted(source.mediaType)} cannot be read by this model; send PDF or text`,
  );
}

function writeSource(source: MediaSource): JsonObject {
  if (source.kind === 'url') return { type: 'url', url: source.url };
  return { type: 'base64', media_type: source.mediaType, data: source.data };
}
