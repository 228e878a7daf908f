// Replaces image URLs in a Messages request by base64: Anthropic's counting endpoint accepts
// nothing else.
import type { ImageBytes } from '../../lib/image.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { ClientRequest } from '../format.ts';

/** A request with a body in this format. */
type Messages = Pick<ClientRequest, 'body'>;

type UrlImage = {
  readonly url: string;
  /** The path of its block: `messages[0].content[1]`. */
  readonly path: string;
};

/** In order, including images inside tool results. */
export function listUrlImages({ body }: Messages): readonly UrlImage[] {
  const found: UrlImage[] = [];
  mapBlocks(body, (block, path) => {
    const url = urlOf(block, 'image');
    if (url !== null) found.push({ url, path });
    return block;
  });
  return found;
}

/**
 * Returns true when a document is given by URL. Documents are not inlined, because anything may be
 * at the URL.
 */
export function hasUrlDocument({ body }: Messages): boolean {
  let has = false;
  mapBlocks(body, (block) => {
    has ||= urlOf(block, 'document') !== null;
    return block;
  });
  return has;
}

/** `images`: keyed by URL. An image that is missing here stays unchanged. */
export function inlineImages<Request extends Messages>(
  request: Request,
  images: ReadonlyMap<string, ImageBytes>,
): Request {
  const body = mapBlocks(request.body, (block) => {
    const url = urlOf(block, 'image');
    const image = url === null ? undefined : images.get(url);
    if (!image) return block;
    const { mediaType, bytes } = image;
    return {
      ...block,
      source: { type: 'base64', media_type: mediaType, data: bytes.toString('base64') },
    };
  });
  return { ...request, body };
}

function urlOf({ type, source }: JsonObject, wanted: string): string | null {
  if (type !== wanted || !isObject(source) || source.type !== 'url') return null;
  return typeof source.url === 'string' ? source.url : null;
}

type Change = (block: JsonObject, path: string) => JsonObject;

function mapBlocks(body: JsonObject, change: Change): JsonObject {
  const { messages } = body;
  if (!Array.isArray(messages)) return body;
  return {
    ...body,
    messages: messages.map((message, index) => mapContent(message, change, `messages[${index}]`)),
  };
}

/** Maps a message or block whose `content` may be a list of blocks. */
function mapContent(holder: unknown, change: Change, path: string): unknown {
  if (!isObject(holder) || !Array.isArray(holder.content)) return holder;
  const content = holder.content.map((block: unknown, index) => {
    const at = `${path}.content[${index}]`;
    return isObject(block) ? mapContent(change(block, at), change, at) : block;
  });
  return { ...holder, content };
}
